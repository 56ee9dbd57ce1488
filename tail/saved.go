package tail

import (
	"bytes"

	"shadow/parse"
)

// save is how far the log has been read. Of files without content, and of pipes, there is nothing to say.
func (l *log) save() parse.SavedLog {
	s := parse.SavedLog{Name: l.name, Known: l.known}
	for _, g := range l.files {
		if f := g.saved(); f.HeadBytes > 0 {
			s.Files = append(s.Files, f)
		}
	}
	return s
}

// resume opens what a checkpoint tells of. Files are found again by what they are, whatever they are called meanwhile. What
// has come since, look finds.
func (l *log) resume(s parse.SavedLog) {
	l.begun = true
	l.known = s.Known
	candidates := parse.RelativesOf(l.name)
	if current, ok := parse.RelativeAt(l.name); ok {
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
			l.say("%s: %v", candidates[i].Path, err)
			continue
		}
		l.files = append(l.files, g)
	}
}

// find is the candidate that is a file: the one with its inode and content, or else one with its content.
func find(candidates []parse.Relative, id parse.Identity) int {
	found := -1
	for i := range candidates {
		r := &candidates[i]
		if r.Is(id) && (found < 0 || id.SameInode(r.ID)) {
			found = i
		}
	}
	return found
}

// wholeLines is data up to its last line feed.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
