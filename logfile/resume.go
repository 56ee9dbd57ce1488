package logfile

import (
	"context"
	"fmt"
	"os"
	"slices"
)

// How to go on with logs that were read before: of the files that are given, and of those that lie beside them, the ones
// that hold something new, each with the place where that begins.
//
//	read before          given, or found beside it       what is to be read
//	access.log  4,711 ─▶ access.log.1 (same inode) ────▶ from byte 4,711
//	                     access.log   (unknown)    ────▶ from its beginning
//
// A file is known again by its inode and its beginning, or, once it has been compressed or copied, by its beginning alone.

// A Resume is how to go on.
type Resume struct {
	Logs   []ResumeLog // those that were known first, in their order
	Notes  []string    // what people should know
	Copies             // files that are not read, since others hold their lines
	files  []*resumeFile
}

// A ResumeLog is one log.
type ResumeLog struct {
	Name  string
	Saved *SavedLog // nil: it was not known
	Given bool      // whether something of it was named
	files []*resumeFile
}

// A resumeFile is a file that belongs to a log.
type resumeFile struct {
	Sibling
	given bool
	copy  bool // of a file that is read
	log   int
	saved *SavedFile // nil: it is new
	index int        // of saved, in the log
}

// A Range is what is to be read of a file.
type Range struct {
	Name       string
	Log        int      // index into Logs
	From       Place    // where to begin
	ID         Identity // of the file
	Known      bool     // whether it was read before, and so lies before all of the log that was not
	Compressed bool     // whether it is compressed: nothing will be added to it
}

// Plan finds out how to go on with logs. names are regular files; whatever else is named is an error.
func Plan(ctx context.Context, names []string, saved []SavedLog) (*Resume, error) {
	s := new(Resume)
	for i := range saved {
		s.Logs = append(s.Logs, ResumeLog{Name: saved[i].Name, Saved: &saved[i]})
	}
	for _, name := range names {
		if err := s.give(name); err != nil {
			return nil, err
		}
	}
	s.lookBeside()
	s.recognise()
	if err := s.findCopies(ctx); err != nil {
		return nil, err
	}
	s.distribute()
	s.sort()
	s.tell()
	return s, nil
}

// give takes in a file that was named.
func (s *Resume) give(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return explain(name, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("logfile: %s: is no file, so there is no place in it to go on from", name)
	}
	r, ok := newSibling(name, info)
	if !ok {
		r = Sibling{Path: name, Info: info} // whoever reads it will say what is wrong
	}
	s.files = append(s.files, &resumeFile{Sibling: r, given: true, log: -1})
	return nil
}

// lookBeside takes in what lies beside a log that is given: files that were being read, or have come since.
func (s *Resume) lookBeside() {
	for i := range s.Logs {
		l := &s.Logs[i]
		if !s.isGiven(l) {
			continue
		}
		l.Given = true
		for _, r := range SiblingsOf(l.Name) {
			f := &resumeFile{Sibling: r, log: i}
			if !s.has(&r) && !slices.ContainsFunc(l.Saved.Known, r.Was) && (nameOf(r.Path) == l.Name || f.isOf(l)) {
				s.files = append(s.files, f)
			}
		}
	}
}

// isGiven reports whether a file of the log is named, under whatever name.
func (s *Resume) isGiven(l *ResumeLog) bool {
	return slices.ContainsFunc(s.files, func(f *resumeFile) bool {
		return f.given && (nameOf(f.Path) == l.Name || !isLink(l.Name) && f.isOf(l))
	})
}

// isOf reports whether a file was read as one of a log, or is what the log's name leads to by a link.
func (f *resumeFile) isOf(l *ResumeLog) bool {
	return isLink(l.Name) || slices.ContainsFunc(l.Saved.Files, func(k SavedFile) bool { return f.surely(k.Identity) })
}

// has reports whether a file is among those that are named.
func (s *Resume) has(r *Sibling) bool {
	return slices.ContainsFunc(s.files, func(f *resumeFile) bool { return f.Same(*r) })
}

// surely reports whether a file is the known one, wherever it lies: a short beginning alone proves nothing.
func (f *resumeFile) surely(id Identity) bool {
	return f.Is(id) && (id.SameInode(f.ID.Node) || id.HeadBytes == HeadBlock)
}

// fresh reports whether there may be something new in a file.
func (f *resumeFile) fresh() bool {
	if f.saved == nil {
		return true
	}
	if f.Compressed {
		return !f.saved.Compressed
	}
	return f.Info.Size() > f.saved.Offset
}

// Ranges are the files in which something is to be read, log by log.
func (s *Resume) Ranges() (ranges []Range) {
	for i := range s.Logs {
		for _, f := range s.Logs[i].files {
			if !f.fresh() {
				continue
			}
			p := Range{Name: f.Path, Log: i, ID: f.ID, Compressed: f.Compressed, Known: f.saved != nil}
			if f.saved != nil {
				p.From = f.saved.Place
			}
			ranges = append(ranges, p)
		}
	}
	return ranges
}
