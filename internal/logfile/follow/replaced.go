package follow

import (
	"bytes"
	"slices"
	"time"

	"shadow/internal/logfile"
)

// A log may be mirrored from another host: each time a new file takes its name, which begins as the old one did, and that is deleted.
// When the log has been rotated there, what the old file lacked comes with a rotated one:
//
//	read            deleted    after a copy      after a rotation
//	access.log      aaaa       aaaa bbbb         cccc
//	access.log.1                                 aaaa bbbb
//	                           └─ read from bbbb on, as from where reading of the old file stopped

// replaced returns the file of the log that a new one goes on from, which begins with all that is in it. A whole block of the
// beginning proves that; less does if the old file is deleted.
func (l *Log) replaced(f *plain) *plain {
	for _, g := range slices.Backward(l.files) {
		old, ok := g.(*plain)
		if ok && !old.is(f.info) && f.begins(old.Identity) && (old.HeadBytes == logfile.HeadBlock || old.isDeleted()) && old.Stands(f.handle) && f.has(old) {
			return old
		}
	}
	return nil
}

// mostCut is the most that may be removed from a log in order that what was read of it is known again.
const mostCut = 1 << 20

// edited returns where a new file goes on behind one that was read to its end, and is deleted, if it lacks some of its lines only:
// what comes before the end is the same.
func (l *Log) edited(f *plain) (at logfile.Place, ok bool) {
	for _, g := range l.files {
		old, isPlain := g.(*plain)
		if !isPlain || old.Offset != old.size || old.Offset < logfile.HeadBlock || !old.isDeleted() {
			continue
		}
		end := make([]byte, logfile.HeadBlock)
		from := max(0, old.size-mostCut)
		now := make([]byte, max(0, min(f.size, old.size)-from))
		_, err := old.handle.ReadAt(end, old.size-logfile.HeadBlock)
		n, _ := f.handle.ReadAt(now, from) // what cannot be read is another log
		if i := bytes.LastIndex(now[:n], end); err == nil && i >= 0 {
			return logfile.Place{Offset: from + int64(i) + logfile.HeadBlock}.Marked(f.handle), true
		}
	}
	return at, false
}

// has reports whether the file has all that was not read yet of another one.
func (f *plain) has(old *plain) bool {
	_, same := commonLines(f, old, old.Offset, old.size)
	return same
}

// mayBeReplaced reports whether the rest of a deleted file may have come beside the log since that was looked at.
func (l *Log) mayBeReplaced() bool {
	isDeleted := func(g File) bool {
		f, ok := g.(*plain)
		return ok && f.isDeleted()
	}
	return len(l.files) > 1 && slices.ContainsFunc(l.files[:len(l.files)-1], isDeleted) && l.stirred()
}

// restIn returns the deleted file whose rest a sibling may hold, nil if there is none: none of the log's files that begin
// as the sibling does has been read further. What compresses a file keeps its time.
func (g *gatherer) restIn(r *logfile.Sibling) *plain {
	var furthest File
	for _, one := range slices.Concat(g.files, g.found) {
		if s := one.saved(); !isLeft(one) && s.HeadBytes > 0 && r.Is(s.Identity) && (furthest == nil || s.Offset > furthest.saved().Offset) {
			furthest = one
		}
	}
	f, ok := furthest.(*plain)
	switch {
	case !ok || !f.isDeleted():
	case r.Compressed && r.Info.ModTime().Sub(f.info.ModTime()) >= time.Second:
		return f
	case !r.Compressed && r.Info.Size() > f.size && f.StandsIn(r.Path):
		return f
	}
	return nil
}

// takeRest goes on in a sibling where a deleted file ends, as soon as that has been read.
func (g *gatherer) takeRest(r *logfile.Sibling, f *plain) bool {
	if f.hasLine() {
		g.again = true
		return false
	}
	if !g.take(r, f.Place) {
		return false
	}
	f.leave()
	return true
}

// leave goes to the end of a file whose rest is read elsewhere. A deleted one is not looked for another time; who has it open may
// write to it still.
func (f *plain) leave() {
	f.skipToEnd()
	f.left = f.isDeleted()
}

func isLeft(one File) bool {
	f, ok := one.(*plain)
	return ok && f.left
}
