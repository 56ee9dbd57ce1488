package tail

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/parse"
)

// Which files beside a log are its own, and which of them have been read. A file is told by its inode and its beginning, so it
// is known again whatever it is called, as long as it is there.

// takeBetween takes in the relatives that nobody knows, apart from f.
func (l *log) takeBetween(f *file) { l.takeSince(f, time.Time{}) }

// takeSince takes in those of them that were written since a moment.
func (l *log) takeSince(f *file, since time.Time) {
	for _, r := range l.relatives() {
		if os.SameFile(r.Info, f.info) || r.Info.ModTime().Before(since) || l.knows(&r) || l.tail.isTaken(l, r.Path, r.Info) || l.tail.isKnown(r.WasItself) {
			continue
		}
		g, err := l.open(r, parse.Place{})
		if err != nil {
			l.say("%s: %v", r.Path, err)
			continue
		}
		if f, ok := g.(*file); ok {
			f.at, _ = l.tail.stopped(l, f)
		}
		l.files = append(l.files, g)
	}
}

// relatives are the files that may belong to the log, the current one not among them.
func (l *log) relatives() []parse.Relative {
	if l.series == nil {
		return parse.RelativesOf(l.name)
	}
	return slices.DeleteFunc(l.series.Relatives(l.path), func(r parse.Relative) bool { return !l.tail.wants(parse.Unpacked(r.Path)) })
}

// knows tells whether a relative has been read, is being read, or is not to be. One that has grown since it was closed is not known
// any more, as far as that can be seen.
func (l *log) knows(r *parse.Relative) bool {
	return slices.ContainsFunc(l.known, r.Was) ||
		slices.ContainsFunc(l.closed, func(f parse.SavedFile) bool { return r.Was(f.Identity) && (r.Packed || r.Info.Size() <= f.Offset) }) ||
		slices.ContainsFunc(l.files, func(g generation) bool { return r.Was(g.saved().Identity) || isCopyOfBeginning(r, g) })
}

// isCopyOfBeginning tells whether a relative is a copy that somebody made of a file while that was short, and still has its content.
func isCopyOfBeginning(r *parse.Relative, g generation) bool {
	f, ok := g.(*file)
	if n := len(r.Head); ok && 0 < n && n < parse.HeadBlock {
		head := make([]byte, n)
		m, _ := f.handle.ReadAt(head, 0) // what cannot be read now is not known
		return m == n && bytes.Equal(head, r.Head)
	}
	return false
}

// know notes the relatives that are there, and keeps what it knows of files that have other names now: what comes later is new.
// From the start of a series all of it is read, apart from what is compressed.
func (l *log) know() {
	all := l.series != nil && l.from == FromStart && !l.begun
	before := l.known
	l.known = nil
	for _, r := range l.relatives() {
		if r.Packed || !all {
			l.note(r.ID)
		}
	}
	if len(before) == 0 {
		return
	}
	there := inodesIn(filepath.Dir(l.name))
	for _, id := range before {
		if there[inodeOf(id)] && !slices.ContainsFunc(l.known, id.SameInode) {
			l.known = append(l.known, id)
		}
	}
}

// note makes a file known. One without content is never known: it has nothing to be told by, since its inode may be given
// to another one, and nothing of it can be read twice.
func (l *log) note(id parse.Identity) {
	if id.HeadBytes > 0 {
		l.known = append(l.known, id)
	}
}

// isTaken tells whether another log reads a file, or is called like it if that is asked as well: nothing is to be read twice.
func (t *Tail) isTaken(by *log, path string, info fs.FileInfo) bool {
	return slices.ContainsFunc(t.logs, func(l *log) bool {
		return l != by && (l.has(info) || path != "" && absolute(l.path) == absolute(path) && !l.over)
	})
}

// isKnown tells whether some log has read a file, or is not to: what it has known was that one.
func (t *Tail) isKnown(was func(parse.Identity) bool) bool {
	return slices.ContainsFunc(t.logs, func(l *log) bool { return slices.ContainsFunc(l.known, was) })
}

// An inode is what a file is while it is there, whatever its name.
type inode struct{ device, number uint64 }

func inodeOf(id parse.Identity) inode { return inode{id.Device, id.Inode} }

// inodesIn are those of a directory.
func inodesIn(dir string) map[inode]bool {
	found := map[inode]bool{}
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			device, number := parse.InodeOf(info)
			found[inode{device, number}] = number != 0
		}
	}
	return found
}

// has tells whether a file is one of the log's.
func (l *log) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(l.files, func(g generation) bool {
		f, ok := g.(*file)
		return ok && os.SameFile(f.info, info)
	})
}
