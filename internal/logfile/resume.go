package logfile

import (
	"cmp"
	"context"
	"fmt"
	"math"
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

// A Resume says how to go on.
type Resume struct {
	Logs   []ResumeLog // those that were known first, in their order
	Notes  []string    // what people should know
	Lost   []string    // of what is missing, likewise
	Copies             // files that are not read, since others hold their lines
	files  []*resumeFile
	aged   []*resumeFile // the same, oldest first
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
	copy  bool       // of a file that is read
	log   int        // −1: it is not known yet
	saved *SavedFile // nil: it is new
	index int        // of saved, in the log
}

// A Range says what is to be read of a file.
type Range struct {
	Name       string
	Log        int      // index into Logs
	From       Place    // where to begin
	ID         Identity // of the file
	Known      bool     // whether it was read before, and so lies before all of the log that was not
	Compressed bool     // whether it is compressed: nothing will be added to it
	file       *resumeFile
}

// A RangeRead says how far a Range has been read.
type RangeRead struct {
	Range int // index
	Log   int // as in the Range
	Rank  int // the place of its log among all from now on; logs that were known before keep theirs
	Place Place
	Whole bool // whether it was read to a clean end
}

// Plan finds out how to go on with logs. names are regular files; whatever else is named is an error.
func Plan(ctx context.Context, names []string, saved []SavedLog) (*Resume, error) {
	s := new(Resume)
	for i := range saved {
		s.Logs = append(s.Logs, ResumeLog{Name: saved[i].Name, Saved: &saved[i]})
	}
	for _, name := range names {
		info, err := statGrowing(name)
		if err != nil {
			return nil, explain(name, err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("logfile: %s: is no file, so there is no place in it to go on from", name)
		}
		r, ok := newSibling(name, info)
		if !ok {
			r = Sibling{Path: name, Info: info} // the reader of the file will say what is wrong
		}
		s.files = append(s.files, &resumeFile{Sibling: r, log: -1})
	}
	s.lookBeside()
	s.aged = slices.SortedStableFunc(slices.Values(s.files), func(x, y *resumeFile) int { return byAge(x.Sibling, y.Sibling) })
	s.recognise()
	if err := s.findCopies(ctx); err != nil {
		return nil, err
	}
	s.distribute()
	s.tell()
	return s, nil
}

// lookBeside takes in what lies beside a log of which a file is given, under whatever name: files that were being read, or have
// come since.
func (s *Resume) lookBeside() {
	for i := range s.Logs {
		l := &s.Logs[i]
		l.Given = slices.ContainsFunc(s.files, func(f *resumeFile) bool {
			return f.log < 0 && (nameOf(f.Path) == l.Name || !isLink(l.Name) && f.isOf(l))
		})
		if !l.Given {
			continue
		}
		for _, r := range SiblingsOf(l.Name) {
			f := &resumeFile{Sibling: r, log: i}
			isThere := slices.ContainsFunc(s.files, func(f *resumeFile) bool { return f.Same(r) })
			if !isThere && !slices.ContainsFunc(l.Saved.Known, r.Was) && (nameOf(r.Path) == l.Name || f.isOf(l)) {
				s.files = append(s.files, f)
			}
		}
	}
}

// isOf reports whether a file was read as one of a log, or is what the log's name leads to by a link.
func (f *resumeFile) isOf(l *ResumeLog) bool {
	return isLink(l.Name) || slices.ContainsFunc(l.Saved.Files, func(k SavedFile) bool { return f.surely(k.Identity) })
}

// surely reports whether a file is the known one, wherever it lies: a short beginning alone proves nothing.
func (f *resumeFile) surely(id Identity) bool {
	return f.Is(id) && (id.SameInode(f.ID.Node) || id.HeadBytes == HeadBlock)
}

// Ranges returns the files in which there may be something new, log by log.
func (s *Resume) Ranges() (ranges []Range) {
	for i := range s.Logs {
		for _, f := range s.Logs[i].files {
			p := Range{Name: f.Path, Log: i, ID: f.ID, Compressed: f.Compressed, file: f}
			if was := f.saved; was != nil {
				if f.Compressed && was.Compressed || !f.Compressed && f.Info.Size() <= was.Offset {
					continue
				}
				p.From, p.Known = was.Place, true
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
	for i := range s.Logs {
		saved := s.Logs[i].Saved.Files
		for _, sure := range []bool{true, false} {
			for k := range saved {
				s.matchOne(i, k, sure)
			}
		}
	}
}

// matchOne looks for file k of log i: the one with its inode, or else the oldest that begins as it did. If it is not sure which
// that is, only files of the log's name come into question.
func (s *Resume) matchOne(i, k int, sure bool) {
	l := &s.Logs[i]
	known := &l.Saved.Files[k]
	var best *resumeFile
	for _, f := range s.aged {
		if f.saved == known {
			return
		}
		if f.saved != nil || !known.isNow(&f.Sibling) || f.log >= 0 && f.log != i {
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
	found, err := find.find(ctx)
	if err != nil {
		return err
	}
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

// distribute gives the files that are read to the logs of their names: those that were known in their order, then the new ones by
// age, of which the one that has the log's name is the last.
func (s *Resume) distribute() {
	for _, f := range s.files {
		if f.copy || f.log >= 0 {
			continue
		}
		name := nameOf(f.Path)
		if f.log = slices.IndexFunc(s.Logs, func(l ResumeLog) bool { return l.Name == name }); f.log < 0 {
			f.log = len(s.Logs)
			s.Logs = append(s.Logs, ResumeLog{Name: name, Given: true})
		}
	}
	for _, f := range s.aged {
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
	place := func(f *resumeFile) int {
		switch {
		case f.saved != nil:
			return f.index
		case nameOf(f.Path) == Absolute(f.Path):
			return math.MaxInt
		}
		return math.MaxInt - 1
	}
	for i := range s.Logs {
		slices.SortStableFunc(s.Logs[i].files, func(x, y *resumeFile) int { return cmp.Compare(place(x), place(y)) })
	}
}

func (s *Resume) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// tell notes what people should know of the files that were known.
func (s *Resume) tell() {
	for i := range s.Logs {
		l := &s.Logs[i]
		if !l.Given && l.Saved.Missed == 0 {
			s.note("%s: was read before, and is not given now", l.Name)
		}
		if !l.Given || l.Saved == nil {
			continue
		}
		for k := range l.Saved.Files {
			known := &l.Saved.Files[k]
			switch f := l.fileOf(known); {
			case f == nil && k == len(l.Saved.Files)-1 && !known.Compressed:
				s.Lost = append(s.Lost, fmt.Sprintf("%s: the file that was read up to byte %d is neither given nor beside it: "+
					"what was written to it since, if anything, is lost", l.Name, known.Offset))
			case f != nil && f.cut():
				s.note("%s: has %d bytes, and %d were read before: it was cut, and is read from its present end on", f.Path, f.Info.Size(), known.Offset)
			}
		}
	}
}

// fileOf returns the file that a known one is now, or nil.
func (l *ResumeLog) fileOf(known *SavedFile) *resumeFile {
	i := slices.IndexFunc(l.files, func(f *resumeFile) bool { return f.saved == known })
	if i < 0 {
		return nil
	}
	return l.files[i]
}

// cut reports whether a file became shorter than it was.
func (f *resumeFile) cut() bool {
	return f.saved != nil && !f.Compressed && f.Info.Size() < f.saved.Offset
}

// What is kept for the next time.
const (
	keptGone = 64  // files of a log that are remembered though they are not there any more: they may come back
	keptLogs = 400 // times that a log is remembered for though it is not given
)

// Save returns how far the logs have been read now, by rank. ranges are those of Ranges; what was read of them comes
// log by log, and in each from the oldest file to the newest. A log keeps its rank, even when nothing is known of it
// any more.
func (s *Resume) Save(ranges []Range, read []RangeRead) (saved []SavedLog) {
	logs, of := map[int]int{}, map[int][]RangeRead{} // by rank
	for i := range s.Logs {
		if s.Logs[i].Saved != nil {
			logs[i] = i
		}
	}
	for _, r := range read {
		logs[r.Rank], of[r.Rank] = r.Log, append(of[r.Rank], r)
	}
	for rank := range len(logs) {
		saved = append(saved, s.Logs[logs[rank]].save(ranges, of[rank]))
	}
	return saved
}

// save returns how far one log has been read.
func (l *ResumeLog) save(ranges []Range, read []RangeRead) SavedLog {
	if !l.Given {
		now := *l.Saved
		if now.Missed++; now.Missed > keptLogs {
			now.Files, now.Known = nil, nil
		}
		return now
	}
	now := SavedLog{Name: l.Name, Files: l.gone()}
	reads := map[*resumeFile]*RangeRead{}
	for i, r := range read {
		reads[ranges[r.Range].file] = &read[i]
	}
	for _, f := range l.files {
		if f.saved != nil {
			now.Files = append(now.Files, f.save(reads[f]))
		}
	}
	for i, r := range read {
		file := ranges[r.Range].file.save(&read[i])
		if !ranges[r.Range].Known && file.HeadBytes > 0 { // one without content has nothing to be told by
			now.Files = append(now.Files, file)
		}
	}
	now.Known = l.leftOut(now.Files)
	return now
}

// gone returns the files that were known and are not there any more, the latest of them.
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

// leftOut returns the files beside the log that are not to be read.
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

// save returns how far the file has been read, as r says; nil: nothing new was in it.
func (f *resumeFile) save(r *RangeRead) (now SavedFile) {
	if r != nil {
		now = SavedFile{Place: f.mark(r.Place), Compressed: f.Compressed && r.Whole}
	} else if now = *f.saved; f.cut() {
		now.Place = f.mark(Place{Offset: f.Info.Size()})
	}
	now.Identity = f.ID
	if f.ID.HeadBytes < HeadBlock && !f.Compressed { // while it is short, it is known by all that it has
		if r, ok := SiblingAt(f.Path); ok && r.Same(f.Sibling) {
			now.Identity = r.ID
		}
	}
	return now
}
