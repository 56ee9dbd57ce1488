package tail

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/parse"
)

// A log is one name that is followed. Behind it stands one file after the other:
//
//	access.log.1 (renamed; a server may write to it still)   access.log (new)
//	└── read to its end, until it has been quiet for long    └── read as it grows
//
// The name is looked at often. When another file has it, whatever has come and gone in between is looked for beside it: a
// relative that was not there before. So nothing is lost when a log is rotated twice between two looks, or while nobody
// looked.
//
// A log of many names (parse.Series) is one whose current file is that with the latest of them.
type log struct {
	name   string
	path   string           // of the file that has the name now
	series *parse.Series    // nil: the log has one name
	from   From             // where to begin with the file that has the name at first
	files  []generation     // oldest first
	known  []parse.Identity // relatives that have been read, or are not to be
	begun  bool             // whether there has been a file
	clock  clock            // of whoever writes
	idle   bool             // nothing was left when it was read last
	faults []string         // what was wrong since all of it could be read
	lack   string           // why its file cannot be read, as it was told
	saved  *parse.SavedLog  // where to go on, as long as that cannot be read
	passed fs.FileInfo      // the file that has the name, if another log reads it
	pipe   bool             // it has one file, for ever
	over   bool             // no other file is its own any more
	linger time.Duration
	now    func() time.Time
	say    func(format string, args ...any)
	tail   *Tail // that has other logs as well

	formats
}

// A From says where reading begins.
type From string

// The places to begin at.
const (
	FromStart      From = "start"      // of the file
	FromEnd        From = "end"        // of the file as it is
	FromCheckpoint From = "checkpoint" // where the checkpoint says, at the end without one
)

// most is how many files of one log may be open; beyond that the oldest is closed once it has been read.
const most = 16

// look finds out whether another file has the name.
func (l *log) look() error {
	if l.pipe || l.over {
		return nil
	}
	if err := l.recover(); err != nil {
		return err
	}
	info, err := os.Stat(l.path)
	switch n := len(l.files); {
	case n > 0 && errors.Is(err, fs.ErrNotExist): // between two files
		return nil
	case err != nil:
		return err
	case info.IsDir(): // there may be logs in it: see join
		return nil
	case info.Mode()&fs.ModeNamedPipe != 0:
		l.openFIFO()
		return nil
	case n > 0 && isFile(l.files[n-1], info):
		return nil
	case l.tail.isTaken(l, "", info):
		return l.pass(info)
	}
	return l.turn()
}

func isFile(g generation, info fs.FileInfo) bool {
	f, ok := g.(*file)
	return ok && os.SameFile(f.info, info)
}

// pass leaves a file to the log that reads it. What is written to it later, this one may read: it is known until then.
func (l *log) pass(info fs.FileInfo) error {
	l.begun = true
	if l.passed != nil && os.SameFile(l.passed, info) && l.passed.Size() > 0 {
		return nil
	}
	f, err := openFile(l.path, parse.Place{}, l.now)
	if err != nil {
		return err
	}
	defer f.close()
	l.passed = f.info
	l.note(f.id)
	return nil
}

// turn takes in the file that has the name now, behind those that had it before.
func (l *log) turn() error {
	f, err := openFile(l.path, parse.Place{}, l.now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if l.begun || l.series != nil {
		l.takeBetween(f)
	}
	if l.begun && l.tail.isKnown(f.is) || !l.begun && l.from != FromStart {
		f.skipToEnd()
	}
	l.files = slices.DeleteFunc(l.files, func(g generation) bool { // a link that was swapped back
		if !isFile(g, f.info) {
			return false
		}
		old := g.(*file)
		f.at, f.id = old.at, old.id
		old.close()
		return true
	})
	l.files = append(l.files, f)
	l.begun = true
	l.know()
	return nil
}

// next fills b with the next lines, and tells whether there were any. A file that cannot be read is tried again the next
// time; meanwhile the others go on.
func (l *log) next(b *parse.Block) bool {
	failed := false
	for i := 0; i < len(l.files); i++ {
		more, err := l.files[i].next(b)
		if err == errTruncated {
			l.begin(i)
			i--
			continue
		}
		if err != nil {
			l.cannotRead(err)
			failed = true
		}
		if more {
			l.latest = l.files[i]
			return true
		}
	}
	if !failed {
		l.faults = nil
	}
	return l.retire(b)
}

// cannotRead says that a file cannot be read, once until all can.
func (l *log) cannotRead(err error) {
	if text := err.Error(); !slices.Contains(l.faults, text) {
		l.faults = append(l.faults, text)
		l.say("%s: %s; it is tried again", l.name, text)
	}
}

// begin reads a file from its beginning, which was truncated. If it was copied first, the rest of the copy is read before.
// A file that has lost the name is not begun anew: what is done to it is no longer our log.
func (l *log) begin(i int) {
	old := l.files[i].(*file)
	if i < len(l.files)-1 {
		old.close()
		l.files = slices.Delete(l.files, i, i+1)
		return
	}
	if g, ok := l.copyOf(old.saved()); ok {
		l.files = slices.Insert(l.files, i, g)
	}
	old.at = parse.Place{}
	old.id = old.id.Emptied()
	l.know()
}

// copyOf opens a copy of a file where reading of the original stopped, if there is one that goes on there.
func (l *log) copyOf(s parse.SavedFile) (generation, bool) {
	for _, r := range l.relatives() {
		if s.HeadBytes == 0 || !r.Is(s.Identity) || s.SameInode(r.ID) || !r.Packed && r.Info.Size() <= s.Offset {
			continue
		}
		if g, err := l.open(r, s.Place); err == nil {
			return g, true
		}
	}
	return nil, false
}

// retire closes files that had the name once and have been quiet for long, and hands over what they end with.
func (l *log) retire(b *parse.Block) bool {
	for i := 0; i < len(l.files)-1 || l.over && i < len(l.files); i++ {
		g := l.files[i]
		if _, grows := g.(*file); grows && l.now().Sub(g.since()) < l.linger && len(l.files) <= most {
			continue
		}
		more := g.rest(b)
		if n := g.unread(); !more && n > 0 && l.faults != nil {
			l.say("%s: %d bytes of an earlier file could not be read, and are lost", l.name, n)
		}
		g.close()
		l.note(g.saved().Identity)
		l.files = slices.Delete(l.files, i, i+1)
		if more {
			l.latest = g
			return true
		}
		i--
	}
	return false
}

// unread is how many bytes lie ahead.
func (l *log) unread() (n int64) {
	for _, g := range l.files {
		n += g.unread()
	}
	return n
}

// measure finds out how much lies ahead, where nothing is read.
func (l *log) measure() {
	for _, g := range l.files {
		if f, ok := g.(*file); ok {
			if info, err := f.handle.Stat(); err == nil {
				f.size = info.Size()
			}
		}
	}
}

func (l *log) close() {
	for _, g := range l.files {
		g.close()
	}
}
