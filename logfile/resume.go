package logfile

import (
	"cmp"
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

// Which file is which: a file that was read before is looked for among those that are there, first where its inode or a whole
// block of its beginning leaves no doubt, then by a shorter beginning and its name.

// recognise finds for each file that was read before the one that it is now.
func (s *Resume) recognise() {
	aged := s.aged()
	for i := range s.Logs {
		saved := s.Logs[i].Saved.Files
		for _, sure := range []bool{true, false} {
			for k := range saved {
				s.matchOne(aged, i, k, sure)
			}
		}
	}
}

// aged are the files, oldest first.
func (s *Resume) aged() []*resumeFile {
	return slices.SortedStableFunc(slices.Values(s.files), func(x, y *resumeFile) int { return byAge(x.Sibling, y.Sibling) })
}

// findCopies finds the files that hold nothing but what others hold. A file that was read before is no copy of one that was
// not; but one that begins with all of it, and has more, takes its place.
func (s *Resume) findCopies(ctx context.Context) error {
	find, byPath := newFinder(), map[string]*resumeFile{}
	files := slices.Clone(s.files)
	slices.SortStableFunc(files, func(x, y *resumeFile) int {
		return cmp.Or(compareBool(x.saved == nil, y.saved == nil), compareBool(x.Compressed, y.Compressed), cmp.Compare(x.Path, y.Path))
	})
	for _, f := range files {
		find.add(&f.Sibling)
		byPath[f.Path] = f
	}
	if err := find.find(ctx); err != nil {
		return err
	}
	found := find.copies()
	s.Doubts = found.Doubts
	for _, c := range found.Found {
		f, of := byPath[c.Name], byPath[c.Of]
		switch {
		case f.saved != nil && of.saved != nil:
			continue // each goes on where it stopped
		case f.saved != nil:
			of.saved, of.index, of.log, f.saved = f.saved, f.index, f.log, nil
		}
		f.copy = true
		s.Found = append(s.Found, c)
	}
	return nil
}

// distribute gives the files that are read to the logs of their names.
func (s *Resume) distribute() {
	for _, f := range s.files {
		if f.log < 0 && !f.copy {
			f.log = s.logOf(nameOf(f.Path))
		}
	}
	for _, f := range s.aged() {
		if f.copy {
			continue
		}
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
func (s *Resume) matchOne(aged []*resumeFile, i, k int, sure bool) {
	l := &s.Logs[i]
	known := &l.Saved.Files[k]
	var best *resumeFile
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

// prefers reports whether of two files that begin as it did it is rather f, the younger one: the one with its inode, or of two copies
// the one that is not compressed, which is whole for sure.
func (k *SavedFile) prefers(f, other *resumeFile) bool {
	if x, y := k.SameInode(f.ID.Node), k.SameInode(other.ID.Node); x != y {
		return x
	}
	return !f.Compressed && other.Compressed && f.ID.Head == other.ID.Head
}

// logOf is the log with a name, which is new if none has it.
func (s *Resume) logOf(name string) int {
	i := slices.IndexFunc(s.Logs, func(l ResumeLog) bool { return l.Name == name })
	if i < 0 {
		i = len(s.Logs)
		s.Logs = append(s.Logs, ResumeLog{Name: name, Given: true})
	}
	return i
}

// sort puts the files of each log in order: those that were known in theirs, then the new ones by age, of which the one that
// has the log's name is the last.
func (s *Resume) sort() {
	for i := range s.Logs {
		l := &s.Logs[i]
		slices.SortStableFunc(l.files, func(x, y *resumeFile) int {
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
	if nameOf(path) == Absolute(path) {
		return 1
	}
	return 0
}
