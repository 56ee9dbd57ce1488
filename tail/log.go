package tail

import (
	"errors"
	"fmt"
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
type log struct {
	name   string
	from   From             // where to begin with the file that has the name at first
	files  []generation     // oldest first
	known  []parse.Identity // relatives that have been read, or are not to be
	begun  bool             // whether there has been a file
	clock  clock            // of whoever writes
	idle   bool             // nothing was left when it was read last
	odd    string           // what was wrong when it was looked at last
	pipe   bool             // it has one file, for ever
	linger time.Duration
	now    func() time.Time
	say    func(format string, args ...any)

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
	if l.pipe {
		return nil
	}
	info, err := os.Stat(l.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not yet there, or between two files
	}
	if err != nil {
		return err
	}
	if n := len(l.files); n > 0 {
		if f, ok := l.files[n-1].(*file); ok && os.SameFile(f.info, info) {
			return nil
		}
	}
	return l.turn()
}

// turn takes in the file that has the name now, behind those that had it before.
func (l *log) turn() error {
	f, err := openFile(l.name, parse.Place{}, l.now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if l.begun {
		l.takeBetween(f)
	} else if l.from != FromStart {
		f.skipToEnd()
	}
	l.files = slices.DeleteFunc(l.files, func(g generation) bool { // a link that was swapped back
		old, ok := g.(*file)
		if !ok || !os.SameFile(old.info, f.info) {
			return false
		}
		f.at, f.id = old.at, old.id
		old.close()
		return true
	})
	l.files = append(l.files, f)
	l.begun = true
	l.know()
	return nil
}

// takeBetween takes in the relatives that nobody knows, apart from f.
func (l *log) takeBetween(f *file) {
	for _, r := range parse.RelativesOf(l.name) {
		if os.SameFile(r.Info, f.info) || l.knows(&r) {
			continue
		}
		g, err := l.open(r, parse.Place{})
		if err != nil {
			l.say("%s: %v", r.Path, err)
			continue
		}
		l.files = append(l.files, g)
	}
}

// knows tells whether a relative has been read, is being read, or is not to be.
func (l *log) knows(r *parse.Relative) bool {
	return slices.ContainsFunc(l.known, r.Was) || slices.ContainsFunc(l.files, func(g generation) bool { return r.Was(g.saved().Identity) })
}

// know notes the relatives that are there: what comes later is new.
func (l *log) know() {
	l.known = l.known[:0]
	for _, r := range parse.RelativesOf(l.name) {
		l.note(r.ID)
	}
}

// note makes a file known. One without content is never known: it has nothing to be told by, since its inode may be given
// to another one, and nothing of it can be read twice.
func (l *log) note(id parse.Identity) {
	if id.HeadBytes > 0 {
		l.known = append(l.known, id)
	}
}

// next fills b with the next lines, and tells whether there were any.
func (l *log) next(b *parse.Block) (bool, error) {
	for i := 0; i < len(l.files); i++ {
		more, err := l.files[i].next(b)
		if err == errTruncated {
			l.begin(i)
			i--
			continue
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", l.name, err)
		}
		if more {
			l.latest = l.files[i]
			return true, nil
		}
	}
	return l.retire(b), nil
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
	for _, r := range parse.RelativesOf(l.name) {
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
	for i := 0; i < len(l.files)-1; i++ {
		g := l.files[i]
		if _, grows := g.(*file); grows && l.now().Sub(g.since()) < l.linger && len(l.files) <= most {
			continue
		}
		more := g.rest(b)
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
