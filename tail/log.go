package tail

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/logfile"
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
// A log of many names (logfile.Series) is one whose current file is that with the latest of them.
type log struct {
	name    string              // as people call it
	key     string              // the same from the root on
	source  int                 // what the stream knows it by
	path    string              // of the file that has the name now
	series  *logfile.Series     // nil: the log has one name
	from    From                // where to begin with the file that has the name at first
	files   []generation        // oldest first
	closed  []logfile.SavedFile // those that were closed, latest last
	known   []logfile.Identity  // relatives that are not to be read
	missing []logfile.SavedFile // those of the checkpoint that have not been found again
	sought  time.Time           // since when they have been looked for
	missed  bool                // whether that was told
	beside  logfile.Siblings    // what lies beside it
	looked  time.Time           // when that was last looked at
	pending bool                // that is to be looked at once more
	formers []logfile.SavedFile // what the last of files was before it was truncated, while the rest of that is looked for
	empty   *logfile.Identity   // the file that had the name and nothing in it when the checkpoint was written
	stamps  []stamp             // of its folders when what lies beside it was looked at
	begun   bool                // whether there has been a file
	lost    bool                // whether the last of files has the name no more
	gone    bool                // whether no file has it, since one had
	clock   clock               // of whoever writes
	idle    bool                // nothing was left when it was read last
	asleep  bool                // it was not looked at in this step
	fed     time.Time           // when something of it was read last
	faults  []string            // what was wrong since all of it could be read
	lack    string              // why its file cannot be read, as it was told
	saved   *logfile.SavedLog   // where to go on, as long as that cannot be read
	passed  fs.FileInfo         // the file that has the name, if another log reads it
	watched bool                // whether its folders are watched
	pipe    bool                // it has one file, for ever
	over    bool                // no other file is its own any more
	linger  time.Duration

	truncated time.Time // when it was last told that it was
	uncopied  time.Time // and that there is no copy

	now  func() time.Time
	say  func(format string, args ...any)
	tail *Tail // that has other logs as well

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
	l.seek()
	if l.now().Sub(l.looked) >= forgetBeside {
		l.beside.Forget()
	}
	info, err := os.Stat(l.path)
	n := len(l.files)
	l.gone = errors.Is(err, fs.ErrNotExist) && (n > 0 || l.gone || !l.tail.isNamed(l)) // one that a pattern has found was there
	switch {
	case l.gone: // perhaps between two files
		l.lose()
		l.gatherPending()
		return nil
	case err != nil:
		return err
	case info.IsDir(): // there may be logs in it: see join
		return nil
	case info.Mode()&fs.ModeNamedPipe != 0:
		return l.openFIFO()
	case n > 0 && isFile(l.files[n-1], info):
		l.lost = false
		l.gatherPending()
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

// lose notes that the last file has lost the name. Some may go on writing to it for a while, be it quiet so far.
func (l *log) lose() {
	if n := len(l.files); !l.lost && n > 0 {
		if f, ok := l.files[n-1].(*file); ok {
			f.read = l.now()
		}
	}
	l.lost = true
}

// pass leaves a file to the log that reads it. What is written to it later, this one may read: it is known until then.
func (l *log) pass(info fs.FileInfo) error {
	l.begun = true
	l.lose()
	if l.passed != nil && os.SameFile(l.passed, info) && l.passed.Size() > 0 {
		return nil
	}
	f, err := openFile(l.path, logfile.Place{}, l.now)
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
	f, err := openFile(l.path, logfile.Place{}, l.now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.lose()
	wasKnown := l.begun && l.tail.isKnown(f.is) // before it is found beside the log, should it have been renamed since
	if l.begun || l.series != nil {
		if g := l.gather(f); l.empty != nil && l.empty.SameInode(f.id) && len(g.found) > 0 {
			l.tellTruncated()
		}
		l.empty = nil
	} else {
		l.know() // by now: what has been renamed since is none that has come since
	}
	if at, ok := l.claim(func(s logfile.SavedFile) bool { return f.is(s.Identity) }); ok {
		f.at = at
	} else if at, ok := l.tail.stopped(l, f); ok {
		f.at = at
	} else if wasKnown || !l.begun && l.from != FromStart {
		f.skipToEnd()
	}
	l.files = slices.DeleteFunc(l.files, func(g generation) bool { // a link that was swapped back
		if !isFile(g, f.info) {
			return false
		}
		old := g.(*file)
		f.at, f.id, f.lines = old.at, old.id, old.lines
		old.close()
		return true
	})
	f.stirred = l.stirred
	l.files = append(l.files, f)
	l.begun, l.lost, l.watched = true, false, false
	return nil
}

// next fills b with the next lines, and reports whether there were any. A file that cannot be read is tried again the next
// time; meanwhile the others go on.
func (l *log) next(b *logfile.Block) bool {
	failed := false
	for i := 0; i < len(l.files); i++ {
		more, err := l.files[i].next(b)
		switch err {
		case errTruncated:
			l.begin(i)
			i--
			continue
		case errCut:
			l.skipCut(l.files[i].(*file))
			i--
			continue
		case errUnsure:
			if l.ascertain(i) {
				i = -1
			}
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

// skipCut goes on behind what is left of a file that has lost its end: it has been read.
func (l *log) skipCut(f *file) {
	l.say("%s: has %d bytes, of which %d were read before: it was cut, and is read from its present end on", l.name, f.size, f.at.Offset)
	f.at = logfile.Place{Offset: f.size}
}

// begin reads a file from its beginning, which was truncated. If it was copied first, the rest of the copy is read before, and
// the whole of other copies, should that have happened more than once. A file that has lost the name is not begun again: what
// is done to it is no longer our log.
func (l *log) begin(i int) {
	old := l.files[i].(*file)
	if i < len(l.files)-1 {
		old.close()
		l.files = slices.Delete(l.files, i, i+1)
		return
	}
	l.gather(nil)
}

// ascertain finds out what has become of a file that had little in it, before it is read on. It reports whether it can be read.
func (l *log) ascertain(i int) bool {
	f := l.files[i].(*file)
	if f.blank {
		return l.fill(i, f)
	}
	if info, err := os.Stat(l.path); err != nil || !os.SameFile(f.info, info) {
		_ = f.refresh() // it has lost the name, so nobody truncates it
		return f.id.HeadBytes > 0
	}
	was, first := f.saved(), !l.pending
	if was.HeadBytes > 0 { // if another file goes on where this one ended, it was truncated
		l.formers = append(l.formers, was)
	}
	g := l.gather(nil)
	isIt := func(f logfile.SavedFile) bool { return f.Identity == was.Identity && f.Place == was.Place }
	l.formers = slices.DeleteFunc(l.formers, isIt)
	switch {
	case was.HeadBytes == 0 && len(g.found) > 0 && first:
		l.tellTruncated()
	case was.HeadBytes > 0 && slices.ContainsFunc(g.rests, isIt):
		f.renew()
		_ = f.refresh() // what cannot be read now is read later
		l.tellTruncated()
	}
	return f.id.HeadBytes > 0 || f.info.Size() == 0 // else it cannot be read now
}

// fill finds out what a file is that was found empty: a copy that was being made, or one of the log's. It reports whether that
// can be told.
func (l *log) fill(i int, f *file) bool {
	if _ = f.refresh(); len(f.lines) == 0 {
		return false // no line is in it
	}
	f.close()
	l.files = slices.Delete(l.files, i, i+1)
	l.gather(nil)
	return true
}

// tellTruncated counts that a log was truncated, and tells it at most once a minute. Whatever was written to it between copying
// and truncating is in no file.
func (l *log) tellTruncated() {
	l.tail.tally.Truncated++
	if now := l.now(); now.Sub(l.truncated) >= time.Minute {
		l.truncated = now
		l.say("%s: was truncated; what was written to it between copying and truncating is lost", l.name)
	}
}

// tellUncopied tells that there is no copy of a log that was truncated, at most once a minute.
func (l *log) tellUncopied(was logfile.SavedFile) {
	if now := l.now(); now.Sub(l.uncopied) >= time.Minute {
		l.uncopied, l.truncated = now, now
		l.say("%s: was truncated, and no copy of it is found; what was written to it behind byte %d is lost", l.name, was.Offset)
	}
}

// retire closes files that had the name once and have been quiet for long, and hands over what they end with.
func (l *log) retire(b *logfile.Block) bool {
	for i := 0; i < len(l.files); i++ {
		if !l.isSpent(i) {
			continue
		}
		g := l.files[i]
		more := g.rest(b)
		if n := g.unread(); !more && n > 0 && l.faults != nil {
			l.say("%s: %d bytes of an earlier file could not be read, and are lost", l.name, n)
			l.tail.lose()
		}
		l.shut(i)
		if more {
			l.latest = g
			return true
		}
		i--
	}
	return false
}

// isSpent reports whether nobody will write to a file any more, as far as one can tell.
func (l *log) isSpent(i int) bool {
	f, grows := l.files[i].(*file)
	last := i == len(l.files)-1
	quiet := l.now().Sub(l.files[i].since())
	switch {
	case last && !l.over && !l.lost:
		return false
	case !grows || len(l.files) > most:
		return true
	case last && !l.over && !f.isDeleted(): // renamed, and whoever writes to it has begun no other one
		return quiet >= 60*l.linger
	}
	return quiet >= l.linger
}

// abandon closes files of a log of which no line could be read, when there will be none.
func (l *log) abandon() {
	l.measure()
	for i := len(l.files) - 1; i >= 0; i-- {
		g := l.files[i]
		if hopeless := g.unread() == 0 || l.gone || len(l.files) > most; hopeless && l.isSpent(i) && l.now().Sub(g.since()) >= l.linger {
			l.shut(i)
		}
	}
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
