package parse

import (
	"cmp"
	"slices"
)

// Which file is which: a file that was read before is looked for among those that are there, first where its inode or a whole
// block of its beginning leaves no doubt, then by a shorter beginning and its name.

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
