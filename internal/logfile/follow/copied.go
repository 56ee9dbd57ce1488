package follow

import (
	"bytes"

	"shadow/internal/logfile"
)

// A copy of a log may come into a directory that is followed. It has been read where it was copied from, and is not read again as
// far as that is so: it may still be growing, and that one be truncated before it was read to its end.
//
//	access.log         aaaa bbbb cccc dddd
//	                             ▲ read so far
//	access-backup.log  aaaa bbbb cccc          aaaa and bbbb are left out; cccc, too, once it has been read above
//
// As soon as the files differ, or the copy has more, it is a log of its own from there on.

// skipCopied leaves out what the first file of the log has in common with one that is read.
func (l *Log) skipCopied() {
	f := l.fresh
	if f == nil {
		return
	}
	if f.held = false; f.refresh() != nil || f.size == 0 { // it may be filled yet
		return
	}
	if l.of == nil {
		if l.of = l.set.copied(l); l.of == nil {
			l.skipClosed()
		}
	}
	if of := l.of; of == nil || !f.skipAlong(of) {
		l.fresh, l.of = nil, nil
	}
}

// skipAlong goes to where reading of another file stands, as far as both are the same. It reports whether that is so of all there is.
func (f *plain) skipAlong(of *plain) bool {
	of.measure()
	upTo := min(f.size, of.Offset)
	if _, same := commonLines(f, of, f.Offset, upTo); !same || f.Offset > upTo {
		return false
	}
	last := make([]byte, min(upTo-f.Offset, logfile.MaxLine+1))
	n, _ := f.handle.ReadAt(last, upTo-int64(len(last))) // what cannot be read now is left out later
	if end := int64(bytes.LastIndexByte(last[:n], '\n')) + 1; end > 0 {
		f.Place = logfile.Place{Offset: upTo - int64(len(last)) + end}.Marked(f.handle)
	}
	f.held = of.hasLine()
	return f.held || f.size <= of.size
}

// skipClosed goes to where reading of a file ended that some log has closed, if the first one of the log is a copy of that.
func (l *Log) skipClosed() {
	for _, other := range l.set.logs {
		for _, was := range other.closed {
			f := l.fresh
			if was.HeadBytes == logfile.HeadBlock && was.Offset > f.Offset && was.Offset <= f.size && f.begins(was.Identity) && was.Stands(f.handle) {
				f.Place = was.Place
				l.set.Say("%s: is a copy of a file of %s; what was read of that does not count again", l.Name, other.Name)
			}
		}
	}
}

// hasLine reports whether there is a line that was not read yet.
func (f *plain) hasLine() bool { return bytes.IndexByte(f.peek(), '\n') >= 0 }

// copied returns the file of another log that the first one of a log is a copy of, nil if there is none.
func (s *Set) copied(l *Log) *plain {
	head := make([]byte, l.fresh.HeadBytes)
	n, _ := l.fresh.handle.ReadAt(head, 0) // what cannot be read is no copy
	for _, other := range s.logs {
		for _, g := range other.files {
			of, ok := g.(*plain)
			if !ok || other == l || of.HeadBytes == 0 || !of.Begins(head[:n]) && !of.HasLines(head[:n]) {
				continue
			}
			switch lines, same := commonLines(l.fresh, of, 0, min(l.fresh.size, of.size)); {
			case !same || lines == 0:
			case logfile.ProveCopy(lines, l.fresh.size == of.size):
				s.Say("%s: is a copy of %s; only what is added to it counts", l.Name, other.Name)
				return of
			default:
				s.Say("%s: begins as %s does, and is too short to prove a copy; its lines count", l.Name, other.Name)
				return nil
			}
		}
	}
	return nil
}

// commonLines reports whether two files are the same from one place to another, and how many lines that are.
func commonLines(x, y *plain, from, to int64) (lines int, same bool) {
	const most = 128 << 10
	a, b := make([]byte, min(most, max(0, to-from))), make([]byte, min(most, max(0, to-from)))
	for ; from < to; from += most {
		n := min(most, to-from)
		i, _ := x.handle.ReadAt(a[:n], from)
		k, _ := y.handle.ReadAt(b[:n], from) // what cannot be read is not the same
		if int64(i) < n || int64(k) < n || !bytes.Equal(a[:n], b[:n]) {
			return 0, false
		}
		lines += bytes.Count(a[:n], []byte{'\n'})
	}
	return lines, true
}
