package tail

import (
	"slices"
	"time"

	"shadow/logfile"
)

// A file that was closed may come back: a link is swapped back, a folder is mounted again, a file gets a name that a pattern
// matches. So it is kept in mind where reading of it stopped, and reading goes on there:
//
//	log      closed files, the latest 64 ─┐ the log is given up
//	tail     left: the latest 1,024     ◀─┘

// How many files are kept in mind.
const (
	keptClosed = 64   // of each log
	keptLeft   = 1024 // of logs that were given up
)

// shut closes a file of the log.
func (l *log) shut(i int) {
	g := l.files[i]
	g.close()
	l.files = slices.Delete(l.files, i, i+1)
	l.closed = keepInMind(l.closed, g.saved(), keptClosed)
}

// keepInMind puts a file behind others, of which there are at most so many. One without content is never known: it has nothing to
// be told by, since its inode may be given to another one, and nothing of it can be read twice.
func keepInMind(files []logfile.SavedFile, f logfile.SavedFile, most int) []logfile.SavedFile {
	if f.HeadBytes == 0 {
		return files
	}
	files = slices.DeleteFunc(files, func(old logfile.SavedFile) bool { return old.Identity == f.Identity })
	f.Lines, f.Spent = nil, false
	files = append(files, f)
	return slices.Delete(files, 0, max(0, len(files)-most))
}

// stopped is where reading of a file stopped that some log has closed, or by reads. A log knows its own files by their beginning as
// well, should they have been copied, or should their disk have got another number.
func (t *Tail) stopped(by *log, f *file) (at logfile.Place, ok bool) {
	furthest := func(files []logfile.SavedFile, is func(logfile.Identity) bool) {
		for _, s := range files {
			if (!ok || s.Offset > at.Offset) && is(s.Identity) {
				at, ok = s.Place, true
			}
		}
	}
	furthest(by.whole(), f.begins)
	furthest(by.closed, f.begins)
	for _, l := range t.logs {
		furthest(l.closed, f.is)
	}
	furthest(t.left, f.is)
	return at, ok
}

// whole are the files that the log reads, of which enough is there to know them by it.
func (l *log) whole() (whole []logfile.SavedFile) {
	for _, g := range l.files {
		if f, ok := g.(*file); ok && f.id.HeadBytes == logfile.HeadBlock {
			whole = append(whole, f.saved())
		}
	}
	return whole
}

// hasRead reports whether a file is one that the log has read and closed.
func (l *log) hasRead(m matched) bool {
	device, inode := logfile.InodeOf(m.info)
	is := logfile.Identity{Device: device, Inode: inode}
	if !slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool { return f.SameInode(is) }) {
		return false
	}
	r, ok := logfile.SiblingAt(m.path)
	return ok && slices.ContainsFunc(l.closed, func(f logfile.SavedFile) bool { return f.SameInode(is) && r.Is(f.Identity) })
}

// giveUp ends logs that nothing can come of any more: those that were found by a pattern and are not there any more, nor anything
// that is left of them, and those that nobody names. What was read of them is kept in mind. It is done as often as files linger.
func (t *Tail) giveUp(now time.Time) {
	if now.Sub(t.gaveUp) < t.options.Linger {
		return
	}
	t.gaveUp = now
	before := len(t.logs)
	t.logs = slices.DeleteFunc(t.logs, func(l *log) bool {
		if !t.isUp(l) || t.stream.Waits(l.source) {
			return false
		}
		for _, f := range l.closed {
			t.left = keepInMind(t.left, f, keptLeft)
		}
		t.stream.Renew(l.source)
		if t.byKey[l.key] == l {
			delete(t.byKey, l.key)
		}
		return true
	})
	if len(t.logs) < before { // what they have read may be a log of its own now
		for _, n := range t.named {
			n.passed = nil
		}
	}
}

// isUp reports whether nothing can come of a log any more.
func (t *Tail) isUp(l *log) bool {
	if len(l.files) > 0 || l.saved != nil || len(l.missing) > 0 {
		return false
	}
	if !l.gone || l.over {
		return l.gone
	}
	relatives, _ := l.relatives()
	return l.series == nil && !t.isNamed(l) && len(relatives) == 0
}

// isNamed reports whether a log has a name that was given, and was not found by a pattern.
func (t *Tail) isNamed(l *log) bool {
	return slices.ContainsFunc(t.named, func(n *name) bool { return n.key == l.key })
}
