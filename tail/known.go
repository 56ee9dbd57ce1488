package tail

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/logfile"
)

// Which files beside a log are its own, and which of them have been read. A file is told by its inode and its beginning, so it
// is known again whatever it is called, as long as it is there.

// relatives are the files that may belong to the log, the current one not among them, and whether the look at them is settled.
func (l *log) relatives() (all []logfile.Sibling, settled bool) {
	if l.series == nil {
		return l.beside.Of(l.name)
	}
	all, settled = l.beside.OfSeries(*l.series, l.path)
	return slices.DeleteFunc(all, func(r logfile.Sibling) bool { return !l.tail.wants(logfile.Uncompressed(r.Path)) }), settled
}

// forgetBeside is for how long the beginnings of relatives are remembered.
const forgetBeside = 10 * time.Second

// A stamp is when the folder of a log was changed last, and when that was looked at.
type stamp struct{ changed, at time.Time }

// sameTick is how long the clock that stamps files may stand still: what happens meanwhile leaves no trace.
const sameTick = 50 * time.Millisecond

// stampsOf are those of the folders in which relatives may lie.
func (l *log) stampsOf() (stamps []stamp) {
	for _, dir := range logfile.FoldersOf(l.name) {
		if info, err := os.Stat(dir); err == nil {
			stamps = append(stamps, stamp{info.ModTime(), time.Now()})
		}
	}
	return stamps
}

// stirred reports whether files may have come since the relatives were looked at.
func (l *log) stirred() bool {
	now := l.stampsOf()
	if len(now) != len(l.stamps) {
		return true
	}
	for i, was := range l.stamps {
		if !now[i].changed.Equal(was.changed) || was.at.Sub(was.changed) < sameTick {
			return true
		}
	}
	return false
}

// knows reports whether a relative has been read, or is not to be. One that has grown since it was closed is not known any more, as
// far as that can be seen.
func (l *log) knows(r *logfile.Sibling) bool {
	return slices.ContainsFunc(l.known, r.Was) ||
		slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool {
			return r.Was(f.Identity) && (r.Compressed || r.Info.Size() <= f.Offset)
		})
}

// isCopy reports whether a relative has the content that a file has now, or the beginning of it.
func isCopy(r *logfile.Sibling, g generation) bool {
	s := g.saved()
	if s.HeadBytes == 0 || len(r.Head) == 0 {
		return false
	}
	if r.Was(s.Identity) || len(r.Head) < logfile.HeadBlock && s.HasLines(r.Head) {
		return true
	}
	f, ok := g.(*file)
	if !ok || !r.Is(s.Identity) {
		return false
	}
	head := make([]byte, len(r.Head)) // it may have grown since it was looked at
	n, _ := f.handle.ReadAt(head, 0)  // what cannot be read now is not known
	return bytes.Equal(head[:n], r.Head)
}

// know notes the relatives that are there, and keeps what it knows of files that have other names now: what comes later is new.
// From the start of a series all of it is read, apart from what is compressed.
func (l *log) know() {
	all := l.series != nil && l.from == FromStart && !l.begun
	before := l.known
	l.known = nil
	l.looked, l.stamps = l.now(), l.stampsOf()
	relatives, settled := l.relatives()
	for _, r := range relatives {
		if r.Compressed || !all {
			l.note(r.ID)
		}
	}
	l.keepKnown(before, settled)
}

// keepKnown keeps what was known of files that are there still, whatever their names.
func (l *log) keepKnown(before []logfile.Identity, settled bool) {
	if len(before) == 0 {
		return
	}
	there := inodesIn(filepath.Dir(l.name))
	for _, id := range before {
		if (!settled || there[inodeOf(id)]) && !slices.ContainsFunc(l.known, id.SameInode) {
			l.known = append(l.known, id)
		}
	}
}

// note makes a file known. One without content is never known: it has nothing to be told by, since its inode may be given
// to another one, and nothing of it can be read twice.
func (l *log) note(id logfile.Identity) {
	if id.HeadBytes > 0 {
		l.known = append(l.known, id)
	}
}

// isTaken reports whether another log reads a file, or is called like it if that is asked as well: nothing is to be read twice.
func (t *Tail) isTaken(by *log, path string, info fs.FileInfo) bool {
	return slices.ContainsFunc(t.logs, func(l *log) bool {
		return l != by && (l.has(info) || path != "" && absolute(l.path) == absolute(path) && !l.over)
	})
}

// isKnown reports whether some log has read a file, or is not to: what it has known was that one.
func (t *Tail) isKnown(was func(logfile.Identity) bool) bool {
	return slices.ContainsFunc(t.logs, func(l *log) bool { return slices.ContainsFunc(l.known, was) })
}

// An inode is what a file is while it is there, whatever its name.
type inode struct{ device, number uint64 }

func inodeOf(id logfile.Identity) inode { return inode{id.Device, id.Inode} }

// inodesIn are those of a directory.
func inodesIn(dir string) map[inode]bool {
	found := map[inode]bool{}
	entries, _ := os.ReadDir(dir) // what cannot be read is not there
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			device, number := logfile.InodeOf(info)
			found[inode{device, number}] = number != 0
		}
	}
	return found
}

// has reports whether a file is one of the log's.
func (l *log) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(l.files, func(g generation) bool {
		f, ok := g.(*file)
		return ok && os.SameFile(f.info, info)
	})
}
