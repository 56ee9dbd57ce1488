package follow

import (
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
		if ok && f.begins(old.Identity) && (old.HeadBytes == logfile.HeadBlock || old.isDeleted()) && old.Stands(f.handle) && f.has(old) {
			return old
		}
	}
	return nil
}

// isEdited reports whether a new file ends as one that was read to its end, and is deleted: who edits a log removes lines from it.
func (l *Log) isEdited(f *plain) bool {
	end := logfile.Place{Offset: f.size}.Marked(f.handle)
	return slices.ContainsFunc(l.files, func(g File) bool {
		old, ok := g.(*plain)
		return ok && min(f.size, old.size) >= logfile.HeadBlock && old.Offset == old.size && old.Mark == end.Mark && old.isDeleted()
	})
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

// restIn returns the deleted file of which a sibling may hold the rest, nil if there is none: none of the log's files that begin
// as the sibling does has been read further. What compresses a file keeps its time.
func (g *gatherer) restIn(r *logfile.Sibling) *plain {
	var furthest File
	for _, one := range slices.Concat(g.files, g.found) {
		if s := one.saved(); s.HeadBytes > 0 && r.Is(s.Identity) && (furthest == nil || s.Offset > furthest.saved().Offset) {
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
	f.skipToEnd() // the beginning of a line
	return true
}
