package follow

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shadow/internal/logfile"
)

// Which files beside a log are its own, and which of them have been read. A file is told by its inode and its beginning, so it
// is known again whatever it is called, as long as it is there.

// siblings returns the files that may belong to the log, the current one not among them, and whether the look at them
// is settled.
func (l *Log) siblings() (all []logfile.Sibling, settled bool) {
	if l.series == nil {
		return l.beside.Of(l.Name)
	}
	all, settled = l.beside.OfSeries(*l.series, l.path)
	return slices.DeleteFunc(all, func(r logfile.Sibling) bool { return !l.set.wants(logfile.Uncompressed(r.Path)) }), settled
}

// forgetBeside is for how long the beginnings of siblings are remembered.
const forgetBeside = 10 * time.Second

// A stamp says when the folder of a log was changed last, and when that was looked at.
type stamp struct{ changed, at time.Time }

// sameTick is the longest time that the clock for the times of files may stand still: what happens meanwhile leaves no
// trace.
const sameTick = 50 * time.Millisecond

// stampsOf returns the stamps of the folders in which siblings may lie.
func (l *Log) stampsOf() (stamps []stamp) {
	for _, dir := range logfile.FoldersOf(l.Name) {
		if info, err := os.Stat(dir); err == nil {
			stamps = append(stamps, stamp{info.ModTime(), time.Now()})
		}
	}
	return stamps
}

// stirred reports whether files may have come since the siblings were looked at.
func (l *Log) stirred() bool {
	return !slices.EqualFunc(l.stampsOf(), l.stamps, func(now, was stamp) bool {
		return now.changed.Equal(was.changed) && was.at.Sub(was.changed) >= sameTick
	})
}

// know notes the siblings that are there, and keeps what it knows of files that have other names now: what comes later is new.
// From the start of a series all of it is read, apart from what is compressed.
func (l *Log) know() {
	all := l.series != nil && l.from == FromStart && !l.begun
	before := l.known
	l.known = nil
	l.looked, l.stamps = l.set.Now(), l.stampsOf()
	siblings, settled := l.siblings()
	for _, r := range siblings {
		if r.Compressed || !all {
			l.note(r.ID)
		}
	}
	l.keepKnown(before, settled)
}

// keepKnown keeps what was known of files that are there still, whatever their names.
func (l *Log) keepKnown(before []logfile.Identity, settled bool) {
	if len(before) == 0 {
		return
	}
	there := map[logfile.Node]bool{}
	entries, _ := os.ReadDir(filepath.Dir(l.Name)) // what cannot be read is not there
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			node := logfile.NodeOf(info)
			there[node] = node.Inode != 0
		}
	}
	for _, id := range before {
		isIt := func(other logfile.Identity) bool { return id.SameInode(other.Node) }
		if (!settled || there[id.Node]) && !slices.ContainsFunc(l.known, isIt) {
			l.known = append(l.known, id)
		}
	}
}

// note makes a file known. One without content is never known: it has nothing to be told by, since its inode may be given
// to another one, and nothing of it can be read twice.
func (l *Log) note(id logfile.Identity) {
	if id.HeadBytes > 0 {
		l.known = append(l.known, id)
	}
}

// has reports whether a file is one of the log's.
func (l *Log) has(info os.FileInfo) bool {
	return slices.ContainsFunc(l.files, func(f File) bool { return f.is(info) })
}

// knows reports whether a sibling has been read, or is not to be. One that may have grown since it was closed is not
// known any more: it may have come back, and have been compressed before the next look.
func (l *Log) knows(r *logfile.Sibling) bool {
	return slices.ContainsFunc(l.known, r.Was) ||
		slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool { return r.Was(f.Identity) && isRead(r, f) })
}

// hasRead reports whether a file is one that the log has read and closed.
func (l *Log) hasRead(m matched) bool {
	node := logfile.NodeOf(m.info)
	if !slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool { return f.SameInode(node) }) {
		return false
	}
	r, ok := logfile.SiblingAt(m.path)
	return ok && slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool { return f.SameInode(node) && r.Is(f.Identity) })
}

// isCopy reports whether a sibling has the content that a file has now, or the beginning of it.
func isCopy(r *logfile.Sibling, g File) bool {
	s := g.saved()
	if s.HeadBytes == 0 || len(r.Head) == 0 {
		return false
	}
	if r.Was(s.Identity) || len(r.Head) < logfile.HeadBlock && s.HasLines(r.Head) {
		return true
	}
	f, ok := g.(*plain)
	if !ok || !r.Is(s.Identity) {
		return false
	}
	head := make([]byte, len(r.Head)) // it may have grown since it was looked at
	n, _ := f.handle.ReadAt(head, 0)  // what cannot be read now is not known
	return bytes.Equal(head[:n], r.Head)
}

// A file that was closed may come back: a link is swapped back, a folder is mounted again, a file gets a name that a pattern
// matches. So it is kept in mind where reading of it stopped, and reading goes on there:
//
//	log   closed files, the latest 64 ─┐ the log is given up
//	set   left: the latest 1,024     ◀─┘
const (
	keptClosed = 64
	keptLeft   = 1024
)

// keepInMind puts a file behind others, of which there are at most so many. One without content is never known: see note.
func keepInMind(files []logfile.SavedFile, f logfile.SavedFile, most int) []logfile.SavedFile {
	if f.HeadBytes == 0 {
		return files
	}
	files = slices.DeleteFunc(files, func(old logfile.SavedFile) bool { return old.Identity == f.Identity })
	f.Lines, f.Spent = nil, false
	files = append(files, f)
	return slices.Delete(files, 0, max(0, len(files)-most))
}

// stopped returns where reading of a file stopped that some log has closed, or this one reads: it begins as that did,
// and was that itself. A log knows its own files by their beginning alone, should they have been copied or compressed,
// or should their disk have got another number.
func (l *Log) stopped(begins, was func(logfile.Identity) bool) (at logfile.Place, ok bool) {
	furthest := func(files []logfile.SavedFile, is func(logfile.Identity) bool) {
		for _, s := range files {
			if (!ok || s.Offset > at.Offset) && is(s.Identity) {
				at, ok = s.Place, true
			}
		}
	}
	for _, g := range l.files { // of which enough is there to know them by it
		if own, ok := g.(*plain); ok && own.HeadBytes == logfile.HeadBlock {
			furthest([]logfile.SavedFile{own.saved()}, begins)
		}
	}
	furthest(l.closed, begins)
	for _, other := range l.set.logs {
		furthest(other.closed, was)
	}
	furthest(l.set.left, was)
	return at, ok
}

// isOver reports whether nothing can come of the log any more.
func (l *Log) isOver() bool {
	if len(l.files) > 0 || l.saved != nil || len(l.missing) > 0 {
		return false
	}
	if !l.gone || l.over {
		return l.gone
	}
	siblings, _ := l.siblings()
	return l.series == nil && !l.set.isNamed(l) && len(siblings) == 0
}
