package logfile

import (
	"cmp"
	"context"
	"slices"
)

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
