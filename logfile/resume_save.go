package logfile

import (
	"fmt"
	"slices"
)

// What was read is kept for the next time, and what is not as it was before is told.

// A RangeRead is how far a Range has been read.
type RangeRead struct {
	Range int // index
	Log   int // as in the Range
	Rank  int // the place of its log among all from now on; logs that were known before keep theirs
	Place Place
	Whole bool // whether it was read to a clean end
}

const (
	keptGone = 64  // files of a log that are remembered though they are not there any more: they may come back
	keptLogs = 400 // times that a log is remembered for though it is not given
)

func (s *Resume) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// tell notes what people should know of the files that were known.
func (s *Resume) tell() {
	for i := range s.Logs {
		switch l := &s.Logs[i]; {
		case l.Saved == nil:
		case l.Given:
			s.tellOf(l)
		case l.Saved.Missed == 0:
			s.note("%s: was read before, and is not given now", l.Name)
		}
	}
}

func (s *Resume) tellOf(l *ResumeLog) {
	for k := range l.Saved.Files {
		known := &l.Saved.Files[k]
		f := l.fileOf(known)
		switch {
		case f == nil && k == len(l.Saved.Files)-1:
			s.note("%s: the file that was read up to byte %d is neither given nor beside it: what was written to it since, if anything, is lost",
				l.Name, known.Offset)
		case f != nil && f.cut():
			s.note("%s: has %d bytes, and %d were read before: it was cut, and is read from its present end on", f.Path, f.Info.Size(), known.Offset)
		}
	}
}

// fileOf is the file that a known one is now, or nil.
func (l *ResumeLog) fileOf(known *SavedFile) *resumeFile {
	for _, f := range l.files {
		if f.saved == known {
			return f
		}
	}
	return nil
}

// cut reports whether a file became shorter than it was.
func (f *resumeFile) cut() bool {
	return f.saved != nil && !f.Compressed && f.Info.Size() < f.saved.Offset
}

// Save is how far the logs have been read now, by rank. ranges are those of Ranges; what was read of them comes log by log, and in
// each from the oldest file to the newest. A log keeps its rank, even when nothing is known of it any more.
func (s *Resume) Save(ranges []Range, read []RangeRead) (saved []SavedLog) {
	for i := range s.Logs {
		if l := &s.Logs[i]; l.Saved != nil {
			saved = append(saved, l.save(ranges, nil))
		}
	}
	for len(read) > 0 {
		n := 1
		for n < len(read) && read[n].Rank == read[0].Rank {
			n++
		}
		log := s.Logs[read[0].Log].save(ranges, read[:n])
		if rank := read[0].Rank; rank < len(saved) {
			saved[rank] = log
		} else {
			saved = append(saved, log)
		}
		read = read[n:]
	}
	return saved
}

// save is how far one log has been read.
func (l *ResumeLog) save(ranges []Range, read []RangeRead) SavedLog {
	if !l.Given {
		return l.Saved.missed()
	}
	now := SavedLog{Name: l.Name, Files: l.gone()}
	for _, f := range l.files {
		if f.saved == nil {
			continue
		}
		at := slices.IndexFunc(read, func(r RangeRead) bool { return ranges[r.Range].Name == f.Path })
		if at < 0 {
			now.Files = append(now.Files, f.unread())
		} else {
			now.Files = append(now.Files, f.read(read[at]))
		}
	}
	for _, r := range read {
		if ranges[r.Range].Known {
			continue
		}
		at := slices.IndexFunc(l.files, func(f *resumeFile) bool { return f.Path == ranges[r.Range].Name })
		if file := l.files[at].read(r); file.HeadBytes > 0 { // one without content has nothing to be told by
			now.Files = append(now.Files, file)
		}
	}
	now.Known = l.leftOut(now.Files)
	return now
}

// missed is what is known of a log that was not given.
func (l *SavedLog) missed() SavedLog {
	m := *l
	if m.Missed++; m.Missed > keptLogs {
		m.Files, m.Known = nil, nil
	}
	return m
}

// gone are the files that were known and are not there any more, the latest of them.
func (l *ResumeLog) gone() (gone []SavedFile) {
	if l.Saved == nil {
		return nil
	}
	for k := range l.Saved.Files {
		if known := &l.Saved.Files[k]; l.fileOf(known) == nil {
			gone = append(gone, *known)
		}
	}
	return gone[max(0, len(gone)-keptGone):]
}

// leftOut are the files beside the log that are not to be read.
func (l *ResumeLog) leftOut(files []SavedFile) (known []Identity) {
	for _, r := range SiblingsOf(l.Name) {
		switch {
		case r.ID.HeadBytes == 0 || nameOf(r.Path) != l.Name:
		case slices.ContainsFunc(files, func(f SavedFile) bool { return r.Is(f.Identity) }):
		case l.Saved == nil || slices.ContainsFunc(l.Saved.Known, r.Was):
			known = append(known, r.ID)
		}
	}
	return known
}

// read is the file with how far it has been read.
func (f *resumeFile) read(r RangeRead) SavedFile {
	return SavedFile{Identity: f.identity(), Place: r.Place, Compressed: f.Compressed && r.Whole}
}

// unread is the file when nothing new was in it.
func (f *resumeFile) unread() SavedFile {
	now := *f.saved
	now.Identity = f.identity()
	if f.cut() {
		now.Place = Place{Offset: f.Info.Size()}
	}
	return now
}

// identity is what the file is known by from now on: while it is short, by all that it has.
func (f *resumeFile) identity() Identity {
	if f.ID.HeadBytes < HeadBlock && !f.Compressed {
		if r, ok := SiblingAt(f.Path); ok && r.Same(f.Sibling) {
			return r.ID
		}
	}
	return f.ID
}
