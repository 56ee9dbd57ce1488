package parse

import (
	"cmp"
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
	Logs  []SequelLog // those that were known first, in their order
	Notes []string    // what people should know
	files []*sequelFile
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
	log   int
	saved *SavedFile // nil: it is new
	index int        // of saved, in the log
}

// A Part is what is to be read of a file.
type Part struct {
	Name   string
	Log    int   // index into Logs
	From   Place // where to begin
	Known  bool  // whether it was read before, and so lies before all of the log that was not
	Packed bool  // whether it is compressed: nothing will be added to it
}

// Continue finds out how to go on with logs. names are regular files; whatever else is named is an error.
func Continue(names []string, saved []SavedLog) (*Sequel, error) {
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
	s.match()
	s.sort()
	s.dropCopies()
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

// match finds for each file that was read before the one that it is now, and gives each other file to the log of its name.
func (s *Sequel) match() {
	aged := slices.Clone(s.files)
	slices.SortStableFunc(aged, func(x, y *sequelFile) int { return byAge(x.Relative, y.Relative) })
	for i := range s.Logs {
		saved := s.Logs[i].Saved.Files
		for _, sure := range []bool{true, false} {
			for k := range saved {
				s.matchOne(aged, i, k, sure)
			}
		}
	}
	for _, f := range s.files {
		if f.log < 0 {
			f.log = s.logOf(nameOf(f.Path))
		}
	}
	for _, f := range aged {
		l := &s.Logs[f.log]
		if l.Saved != nil && f.saved == nil && slices.ContainsFunc(l.Saved.Known, f.Was) {
			s.note("%s: lies before what was read of %s, and is left out", f.Path, l.Name)
			continue
		}
		l.files = append(l.files, f)
	}
}

// matchOne looks for file k of log i: the one with its inode, or else one that begins as it did. If it is not sure which that
// is, only files of the log's name come into question, of which the oldest is taken.
func (s *Sequel) matchOne(aged []*sequelFile, i, k int, sure bool) {
	l := &s.Logs[i]
	known := &l.Saved.Files[k]
	var best *sequelFile
	for _, f := range aged {
		if f.saved == known {
			return
		}
		if f.saved != nil || !f.Is(known.Identity) || f.log >= 0 && f.log != i {
			continue
		}
		if !f.surely(known.Identity) && (sure || nameOf(f.Path) != l.Name) {
			continue
		}
		if best == nil || known.prefers(f, best) {
			best = f
		}
	}
	if best != nil {
		best.saved, best.index, best.log = known, k, i
	}
}

// prefers tells whether of two files that begin as it did it is rather f, the younger one: the one with its inode, or of two copies
// the one that is not compressed, which is whole for sure.
func (k *SavedFile) prefers(f, other *sequelFile) bool {
	if x, y := k.SameInode(f.ID), k.SameInode(other.ID); x != y {
		return x
	}
	return !f.Packed && other.Packed && f.ID.Head == other.ID.Head
}

// logOf is the log with a name, which is new if none has it.
func (s *Sequel) logOf(name string) int {
	i := slices.IndexFunc(s.Logs, func(l SequelLog) bool { return l.Name == name })
	if i < 0 {
		i = len(s.Logs)
		s.Logs = append(s.Logs, SequelLog{Name: name, Given: true})
	}
	return i
}

// sort puts the files of each log in order: those that were known in theirs, then the new ones by age, of which the one that
// has the log's name is the last.
func (s *Sequel) sort() {
	for i := range s.Logs {
		l := &s.Logs[i]
		slices.SortStableFunc(l.files, func(x, y *sequelFile) int {
			switch {
			case x.saved != nil && y.saved != nil:
				return cmp.Compare(x.index, y.index)
			case x.saved != nil:
				return -1
			case y.saved != nil:
				return 1
			}
			return cmp.Compare(live(x.Path), live(y.Path))
		})
	}
}

// live is 1 for the name of a log that is written to, as far as names tell, and 0 for one of a rotated file.
func live(path string) int {
	if nameOf(path) == absolute(path) {
		return 1
	}
	return 0
}

// dropCopies leaves out files that begin as another of the same log does and are not known: the same lines once more, as
// where a file is compressed and not yet removed. Of two, the one that is not compressed is whole for sure.
func (s *Sequel) dropCopies() {
	for i := range s.Logs {
		l := &s.Logs[i]
		all := slices.Clone(l.files)
		l.files = slices.DeleteFunc(l.files, func(f *sequelFile) bool {
			return f.saved == nil && slices.ContainsFunc(all, func(other *sequelFile) bool { return other != f && f.copies(other) })
		})
	}
}

// copies tells whether f has the content of another file, which is to be preferred.
func (f *sequelFile) copies(other *sequelFile) bool {
	n := len(f.Head)
	if n == 0 || n != len(other.Head) || f.ID.Head != other.ID.Head {
		return false
	}
	if other.saved != nil || f.Packed != other.Packed {
		return other.saved != nil || f.Packed
	}
	return f.Path > other.Path
}

// fresh tells whether there may be something new in a file.
func (f *sequelFile) fresh() bool {
	if f.saved == nil {
		return true
	}
	return !f.saved.Packed && (f.Packed || f.Info.Size() > f.saved.Offset)
}

// Parts are the files in which something is to be read, log by log.
func (s *Sequel) Parts() (parts []Part) {
	for i := range s.Logs {
		for _, f := range s.Logs[i].files {
			if !f.fresh() {
				continue
			}
			p := Part{Name: f.Path, Log: i, Packed: f.Packed, Known: f.saved != nil}
			if f.saved != nil {
				p.From = f.saved.Place
			}
			parts = append(parts, p)
		}
	}
	return parts
}
