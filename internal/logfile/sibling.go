package logfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/logfile/object"
)

// What a log was before it was rotated lies beside it under another name, perhaps compressed:
//
//	access.log  access.log.1  access.log.2.gz  access.log-20261121.zst  access-20261121.log
//
// or, where the name is a symbolic link, beside what it leads to, under a name that differs in its digits only.

// A Sibling is a file that may be, or have been, the log.
type Sibling struct {
	Path       string
	Info       fs.FileInfo
	ID         Identity
	Head       []byte // its first bytes, after decompression
	Compressed bool
	Beside     bool // it is compressed, or begins to be, and what it is made of is there still
}

var (
	rotated  = lazy.Regexp(`^[-._](\d[-._0-9T:Z+]*|old|bak)$`)
	numbered = lazy.Regexp(`\.(\d{1,5})$`)
	dashed   = lazy.Regexp(`[-_]\d[-._0-9T:Z+]*(\.[a-z]+)?$`)
	digits   = lazy.Regexp(`[0-9]+`)

	// between matches what rotation puts between a name and its ending: a date, or a number behind a point. Another
	// number there tells one log from another: access-2.log, access-8080.log.
	between = lazy.Regexp(`^([-._]\d{4}-?\d\d-?\d\d[-._0-9T:Z+]*|\.\d{1,3})$`)
)

// compressedEndings are the endings that compression leaves.
var compressedEndings = []string{".gz", ".zst", ".bz2", ".xz"}

// IsCompressed tells by its name whether a file is compressed.
func IsCompressed(name string) bool {
	return slices.Contains(compressedEndings, filepath.Ext(object.Path(name)))
}

// Uncompressed returns the name of a file without what compression has put behind it.
func Uncompressed(name string) string {
	name = object.Path(name)
	for _, ending := range compressedEndings {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// IsRotated reports whether a file may be an earlier one of a log, by their names in one directory.
func IsRotated(log, name string) bool {
	name = Uncompressed(name)
	if rest, ok := strings.CutPrefix(name, log); ok && rotated().MatchString(rest) {
		return true
	}
	ending := filepath.Ext(log)
	stem := strings.TrimSuffix(log, ending)
	rest, ok := strings.CutPrefix(name, stem)
	return ok && ending != "" && strings.HasSuffix(rest, ending) && between().MatchString(strings.TrimSuffix(rest, ending))
}

// CurrentsOf returns the names of the logs that a file may be an earlier one of (see IsRotated), by its name in one
// directory.
func CurrentsOf(name string) (logs []string) {
	name = Uncompressed(name)
	ending := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	for i := 1; i < len(name); i++ {
		if rotated().MatchString(name[i:]) {
			logs = append(logs, name[:i])
		}
		if i < len(stem) && ending != "" && between().MatchString(stem[i:]) {
			logs = append(logs, stem[:i]+ending)
		}
	}
	return logs
}

// SiblingsOf returns the files that may belong to a log, the one that has its name not among them, oldest first.
func SiblingsOf(name string) []Sibling {
	all, _ := new(Siblings).Of(name)
	return all
}

// pathsBeside returns the names of the files that may belong to a log.
func pathsBeside(name string) (paths []string) {
	add := func(dir string, fits func(base string) bool) {
		entries, _ := os.ReadDir(dir) // what cannot be listed is not there
		for _, e := range entries {
			if fits(e.Name()) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	add(filepath.Dir(name), func(base string) bool { return IsRotated(filepath.Base(name), base) })
	if target, ok := targetOf(name); ok {
		named := filepath.Base(target)
		shape := func(base string) string { return digits().ReplaceAllString(base, "0") }
		add(filepath.Dir(target), func(base string) bool { return shape(named) == shape(base) || IsRotated(named, base) })
	}
	return paths
}

// FoldersOf returns the folders in which files may lie that belong to a log.
func FoldersOf(name string) []string {
	dirs := []string{filepath.Dir(name)}
	if target, ok := targetOf(name); ok {
		dirs = append(dirs, filepath.Dir(target))
	}
	return dirs
}

// sortByAge puts the oldest first.
func sortByAge(all []Sibling) {
	slices.SortStableFunc(all, byAge)
	if !slices.ContainsFunc(all, func(r Sibling) bool { return numberOf(r.Path) < 0 }) { // not all who compress keep the time
		slices.SortStableFunc(all, func(x, y Sibling) int { return numberOf(y.Path) - numberOf(x.Path) })
	}
}

// numberOf returns the number behind the name of a rotated file, of which the highest is the oldest; −1 without one.
func numberOf(path string) int {
	number := numbered().FindStringSubmatch(Uncompressed(path))
	if number == nil {
		return -1
	}
	n, err := strconv.Atoi(number[1])
	if err != nil {
		return -1
	}
	return n
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// mostLinks is the most links that may lead from one to the next.
const mostLinks = 40

// targetOf returns what a link leads to, also when that has just been renamed and is not there.
func targetOf(name string) (target string, ok bool) {
	target = name
	for range mostLinks {
		to, err := os.Readlink(target)
		if err != nil {
			return target, ok
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil && !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		target, ok = to, true
	}
	return "", false
}

// byAge orders files by when they were written last. Of those that were written at one time, as a copy without times has
// them, names tell: of dates and numbers behind a dash the lowest is the oldest, of numbers behind a point the highest.
func byAge(x, y Sibling) int {
	if c := x.Info.ModTime().Compare(y.Info.ModTime()); c != 0 {
		return c
	}
	older, newer := y.Path, x.Path
	if dashed().MatchString(Uncompressed(x.Path)) && dashed().MatchString(Uncompressed(y.Path)) {
		older, newer = Uncompressed(x.Path), Uncompressed(y.Path)
	}
	return cmp.Or(cmp.Compare(len(older), len(newer)), strings.Compare(older, newer))
}

// SiblingAt looks at the file that has the name.
func SiblingAt(name string) (Sibling, bool) {
	info, err := stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return Sibling{}, false
	}
	return newSibling(name, info)
}

// newSibling looks into the file that had the name a moment ago, and no other one.
func newSibling(path string, info fs.FileInfo) (r Sibling, ok bool) {
	r = Sibling{Path: path, Info: info}
	f, err := open(path)
	if err != nil {
		return r, false
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || !sameFile(now, info) {
		return r, false
	}
	return look(path, f, now)
}

// look looks at an open file.
func look(path string, f file, info fs.FileInfo) (r Sibling, ok bool) {
	r = Sibling{Path: path, Info: info}
	r.ID.Node = NodeOf(info)
	block := make([]byte, HeadBlock)
	n, _ := f.ReadAt(block, 0) // what cannot be read is not there
	codec := codecOf(block[:n])
	if codec.open == nil {
		return r, false
	}
	if r.Compressed = codec != plain; r.Compressed {
		n = 0
		if src, err := openContent(f, func() {}); err == nil {
			n, _ = readFull(src, block)
			src.close()
		}
	}
	r.Head = block[:n]
	r.ID.Head, r.ID.HeadBytes = sum(r.Head), len(r.Head)
	return r, true
}

// ErrMoved says that another file has the name of one by now.
var ErrMoved = errors.New("has another name by now")

// HasMoved reports whether an error means that a file has another name by now, or none.
func HasMoved(err error) bool { return errors.Is(err, ErrMoved) || errors.Is(err, fs.ErrNotExist) }

// Same reports whether both are the same file, whatever its name.
func (r Sibling) Same(other Sibling) bool { return sameFile(r.Info, other.Info) }

// Is reports whether r is the file with an identity, or holds its content. An empty file is told by its inode only.
func (r *Sibling) Is(id Identity) bool {
	if id.HeadBytes == 0 {
		return id.SameInode(r.ID.Node)
	}
	return id.Begins(r.Head)
}

// WasItself reports whether r is a file that was known, by its inode and its beginning.
func (r *Sibling) WasItself(id Identity) bool {
	return id.HeadBytes > 0 && id.SameInode(r.ID.Node) && id.Begins(r.Head)
}

// Was reports whether r is a file that was known, to which nothing was added since unless r is that file itself. Two logs may
// begin with the same line, so a short beginning alone does not tell.
func (r *Sibling) Was(id Identity) bool {
	return r.Is(id) && (id.SameInode(r.ID.Node) || id.HeadBytes == HeadBlock || id.HeadBytes == len(r.Head))
}

// Find returns the candidate that is a file: the one with its inode and content, or else one with its content that was not
// known beside it.
func Find(candidates []Sibling, id Identity, known []Identity) (found Sibling, ok bool) {
	wasKnown := func(r *Sibling) bool {
		return slices.ContainsFunc(known, func(k Identity) bool {
			return r.WasItself(k) || id.HeadBytes < HeadBlock && r.Was(k) // where a line or two tell, so does what was compressed since
		})
	}
	for i := range candidates {
		r := &candidates[i]
		if itself := id.SameInode(r.ID.Node); !r.Beside && r.Is(id) && (itself || !ok && !wasKnown(r)) {
			found, ok = *r, true
		}
	}
	return found, ok
}

// behindName matches what rotation puts behind a name: a number behind a point, a date behind anything.
var behindName = lazy.Regexp(`(\.\d[-._0-9T:Z+]*|[-_]\d{4}-?\d\d-?\d\d[-._0-9T:Z+]*|[-._](old|bak))$`)

// datedName is the name of a rotated file that has its date between stem and ending.
var datedName = lazy.Regexp(`^(.+)[-._](\d{4}-?\d\d-?\d\d[-._0-9T:Z+]*)(\.[A-Za-z]+)$`)

// nameOf returns the name of the log that a file is, or was before it was rotated, by its own name: with its place in
// the file system, without what rotation and compression have put behind it. A number between stem and ending tells
// hosts apart as often as rotations, and only a date is taken for one.
func nameOf(path string) string {
	dir, base := filepath.Split(Absolute(path))
	base = Uncompressed(base)
	if m := datedName().FindStringSubmatch(base); m != nil {
		return filepath.Join(dir, m[1]+m[3])
	}
	if end := behindName().FindStringIndex(base); end != nil && end[0] > 0 {
		base = base[:end[0]]
	}
	return filepath.Join(dir, base)
}

// Absolute returns a name from the root on.
func Absolute(path string) string {
	if IsObject(path) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
