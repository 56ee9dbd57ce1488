package tail

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"shadow/parse"
)

// What a log was before it was rotated lies beside it under another name, perhaps compressed:
//
//	access.log  access.log.1  access.log.2.gz  access.log-20261121.zst  access-20261121.log
//
// or, where the name is a symbolic link, beside what it leads to, under a name that differs in its digits only.

// A relative is a file that may be, or have been, the log.
type relative struct {
	path   string
	info   fs.FileInfo
	id     Identity
	head   []byte // its first bytes, after decompression
	packed bool
}

var (
	rotated = regexp.MustCompile(`^[-._](\d[-._0-9T:Z+]*|old|bak)$`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// packings are the endings that compression leaves.
var packings = []string{".gz", ".zst", ".bz2", ".xz"}

// isRotated tells whether a file may be an earlier one of a log, by their names in one directory.
func isRotated(log, name string) bool {
	for _, ending := range packings {
		name = strings.TrimSuffix(name, ending)
	}
	if rest, ok := strings.CutPrefix(name, log); ok && rotated.MatchString(rest) {
		return true
	}
	ending := filepath.Ext(log)
	stem := strings.TrimSuffix(log, ending)
	rest, ok := strings.CutPrefix(name, stem)
	return ok && ending != "" && strings.HasSuffix(rest, ending) && rotated.MatchString(strings.TrimSuffix(rest, ending))
}

// sameShape tells whether two names differ in their digits only.
func sameShape(x, y string) bool {
	return digits.ReplaceAllString(x, "0") == digits.ReplaceAllString(y, "0")
}

// relativesOf are the files that may belong to a log, the one that has its name not among them, oldest first.
func relativesOf(name string) (all []relative) {
	current, err := os.Stat(name)
	if err != nil {
		current = nil
	}
	add := func(dir string, fits func(base string) bool) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if !fits(e.Name()) {
				continue
			}
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			if err != nil || !info.Mode().IsRegular() || current != nil && os.SameFile(info, current) {
				continue
			}
			if r, ok := newRelative(filepath.Join(dir, e.Name()), info); ok && !slices.ContainsFunc(all, r.same) {
				all = append(all, r)
			}
		}
	}
	add(filepath.Dir(name), func(base string) bool { return isRotated(filepath.Base(name), base) })
	if target, err := filepath.EvalSymlinks(name); err == nil && isLink(name) {
		add(filepath.Dir(target), func(base string) bool {
			return sameShape(filepath.Base(target), base) || isRotated(filepath.Base(target), base)
		})
	}
	slices.SortStableFunc(all, older)
	return all
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// older orders files by when they were written last, and then by name, the higher number first.
func older(x, y relative) int {
	if c := x.info.ModTime().Compare(y.info.ModTime()); c != 0 {
		return c
	}
	if len(x.path) != len(y.path) {
		return len(y.path) - len(x.path)
	}
	return strings.Compare(y.path, x.path)
}

// relativeAt looks at the file that has the name.
func relativeAt(name string) (relative, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return relative{}, false
	}
	return newRelative(name, info)
}

// newRelative looks at a file.
func newRelative(path string, info fs.FileInfo) (r relative, ok bool) {
	r = relative{path: path, info: info}
	r.id.Device, r.id.Inode = inodeOf(info)
	input, err := parse.OpenInput(path, nil)
	if err != nil {
		return r, false
	}
	defer input.Close()
	var b parse.Block
	if r.packed = input.Compression() != ""; !r.packed {
		f, err := os.Open(path)
		if err != nil {
			return r, false
		}
		defer f.Close()
		r.head = make([]byte, headBlock)
		n, _ := f.ReadAt(r.head, 0) // what cannot be read is not there
		r.head = r.head[:n]
	} else if input.Next(&b) == nil {
		r.head = b.Data[:min(len(b.Data), headBlock)]
	}
	r.id.Head, r.id.HeadBytes = hash(r.head), len(r.head)
	return r, true
}

func (r relative) same(other relative) bool { return os.SameFile(r.info, other.info) }

// is tells whether r is the file with an identity, or holds its content. An empty file is told by its inode only.
func (r *relative) is(id Identity) bool {
	if id.HeadBytes == 0 {
		return id.sameInode(r.id)
	}
	return id.begins(r.head)
}

// was tells whether r is a file that was known, to which nothing was added since unless r is that file itself. Two logs may
// begin with the same line, so a short beginning alone does not tell.
func (r *relative) was(id Identity) bool {
	return r.is(id) && (id.sameInode(r.id) || id.HeadBytes == headBlock || id.HeadBytes == len(r.head))
}

// open opens it as a generation of a log.
func (l *log) open(r relative, at Place) (generation, error) {
	if r.packed {
		return openPacked(r, at, l.now)
	}
	return openFile(r.path, at, l.now)
}
