package tail

import (
	"bytes"
)

// A SavedLog is how far one log had been read.
type SavedLog struct {
	Name  string      `json:"name"`
	Files []SavedFile `json:"files"` // oldest first; the last one had the name
	Known []Identity  `json:"known"` // relatives that had been read, or were not to be
}

// A SavedFile is how far one file had been read.
type SavedFile struct {
	Identity
	Place
}

// save is how far the log has been read. Of files without content, and of pipes, there is nothing to say.
func (l *log) save() SavedLog {
	s := SavedLog{Name: l.name, Known: l.known}
	for _, g := range l.files {
		if f := g.saved(); f.HeadBytes > 0 {
			s.Files = append(s.Files, f)
		}
	}
	return s
}

// resume opens what a checkpoint tells of. Files are found again by what they are, whatever they are called meanwhile. What
// has come since, look finds.
func (l *log) resume(s SavedLog) {
	l.begun = true
	l.known = s.Known
	candidates := relativesOf(l.name)
	if current, ok := relativeAt(l.name); ok {
		candidates = append(candidates, current)
	}
	for _, saved := range s.Files {
		i := find(candidates, saved.Identity)
		if i < 0 {
			l.say("%s: a file that was being read is gone; what was written to it behind byte %d is lost", l.name, saved.Offset)
			continue
		}
		g, err := l.open(candidates[i], saved.Place)
		if err != nil {
			l.say("%s: %v", candidates[i].path, err)
			continue
		}
		l.files = append(l.files, g)
	}
}

// find is the candidate that is a file: the one with its inode and content, or else one with its content.
func find(candidates []relative, id Identity) int {
	found := -1
	for i := range candidates {
		r := &candidates[i]
		if r.is(id) && (found < 0 || id.sameInode(r.id)) {
			found = i
		}
	}
	return found
}

// wholeLines is data up to its last line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
