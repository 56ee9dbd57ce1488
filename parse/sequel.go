package parse

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

// A Sequel is how to go on.
type Sequel struct {
	Logs   []SequelLog // those that were known first, in their order
	Notes  []string    // what people should know
	Copies             // files that are not read, since others hold their lines
	files  []*sequelFile
}

// A SequelLog is one log.
type SequelLog struct {
	Name  string
	Saved *SavedLog // nil: it was not known
	Given bool      // whether something of it was named
	files []*sequelFile
}

// A sequelFile is a file that belongs to a log.
type sequelFile struct {
	Relative
	given bool
	copy  bool // of a file that is read
	log   int
	saved *SavedFile // nil: it is new
	index int        // of saved, in the log
}

// A Part is what is to be read of a file.
type Part struct {
	Name   string
	Log    int      // index into Logs
	From   Place    // where to begin
	ID     Identity // of the file
	Known  bool     // whether it was read before, and so lies before all of the log that was not
	Packed bool     // whether it is compressed: nothing will be added to it
}

// Continue finds out how to go on with logs. names are regular files; whatever else is named is an error.
func Continue(ctx context.Context, names []string, saved []SavedLog) (*Sequel, error) {
	s := new(Sequel)
	for i := range saved {
		s.Logs = append(s.Logs, SequelLog{Name: saved[i].Name, Saved: &saved[i]})
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
func (s *Sequel) give(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return explain(name, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("parse: %s: is no file, so there is no place in it to go on from", name)
	}
	r, ok := newRelative(name, info)
	if !ok {
		r = Relative{Path: name, Info: info} // whoever reads it will say what is wrong
	}
	s.files = append(s.files, &sequelFile{Relative: r, given: true, log: -1})
	return nil
}

// lookBeside takes in what lies beside a log that is given: files that were being read, or have come since.
func (s *Sequel) lookBeside() {
	for i := range s.Logs {
		l := &s.Logs[i]
		if !s.isGiven(l) {
			continue
		}
		l.Given = true
		for _, r := range RelativesOf(l.Name) {
			f := &sequelFile{Relative: r, log: i}
			if !s.has(&r) && !slices.ContainsFunc(l.Saved.Known, r.Was) && (nameOf(r.Path) == l.Name || f.isOf(l)) {
				s.files = append(s.files, f)
			}
		}
	}
}

// isGiven tells whether a file of the log is named, under whatever name.
func (s *Sequel) isGiven(l *SequelLog) bool {
	return slices.ContainsFunc(s.files, func(f *sequelFile) bool {
		return f.given && (nameOf(f.Path) == l.Name || !isLink(l.Name) && f.isOf(l))
	})
}

// isOf tells whether a file was read as one of a log, or is what the log's name leads to by a link.
func (f *sequelFile) isOf(l *SequelLog) bool {
	return isLink(l.Name) || slices.ContainsFunc(l.Saved.Files, func(k SavedFile) bool { return f.surely(k.Identity) })
}

// has tells whether a file is among those that are named.
func (s *Sequel) has(r *Relative) bool {
	return slices.ContainsFunc(s.files, func(f *sequelFile) bool { return f.Same(*r) })
}

// surely tells whether a file is the known one, wherever it lies: a short beginning alone proves nothing.
func (f *sequelFile) surely(id Identity) bool {
	return f.Is(id) && (id.SameInode(f.ID) || id.HeadBytes == HeadBlock)
}

// fresh tells whether there may be something new in a file.
func (f *sequelFile) fresh() bool {
	if f.saved == nil {
		return true
	}
	if f.Packed {
		return !f.saved.Packed
	}
	return f.Info.Size() > f.saved.Offset
}

// Parts are the files in which something is to be read, log by log.
func (s *Sequel) Parts() (parts []Part) {
	for i := range s.Logs {
		for _, f := range s.Logs[i].files {
			if !f.fresh() {
				continue
			}
			p := Part{Name: f.Path, Log: i, ID: f.ID, Packed: f.Packed, Known: f.saved != nil}
			if f.saved != nil {
				p.From = f.saved.Place
			}
			parts = append(parts, p)
		}
	}
	return parts
}
