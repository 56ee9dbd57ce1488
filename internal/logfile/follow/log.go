package follow

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"shadow/internal/logfile"
)

// A Log is one name that is followed. Behind it stands one file after the other:
//
//	access.log.1 (renamed; a server may write to it still)   access.log (new)
//	└── read to its end, until it has been quiet for long    └── read as it grows
//
// The name is looked at often. When another file has it, whatever has come and gone in between is looked for beside it:
// a sibling that was not there before. So nothing is lost when a log is rotated twice between two looks, or while no
// tail ran.
//
// A log of many names (logfile.Series) is one whose current file is that with the latest of them.
type Log struct {
	Name   string // as people call it
	Number int    // no other log has it at the time

	set    *Set
	key    string          // the name from the root on
	path   string          // of the file that has the name now
	series *logfile.Series // nil: the log has one name
	from   From            // where to begin with the file that has the name at first
	pipe   bool            // the last of files is a pipe, and has the name

	files  []File // oldest first
	latest File   // the one that was read last
	begun  bool   // whether there has been a file
	lost   bool   // whether the last of files has the name no more
	gone   bool   // whether no file has it, since one had
	over   bool   // no other file is its own any more

	known   []logfile.Identity  // siblings that are not to be read
	closed  []logfile.SavedFile // files that were closed, latest last
	formers []logfile.SavedFile // what the last of files was before it was truncated, while the rest of that is looked for
	passed  fs.FileInfo         // the file that has the name, if another log reads it
	fresh   *plain              // the first file of a log that joined later, as long as it may be a copy; see copied.go
	of      *plain              // the file that it has been a copy of so far; nil before that is known

	beside  logfile.Siblings // what lies beside it
	looked  time.Time        // when that was last looked at
	pending bool             // that is to be looked at once more
	stamps  []stamp          // of its folders when what lies beside it was looked at
	watched bool             // whether its folders are watched

	saved   *logfile.SavedLog   // where to go on, as long as that cannot be read
	missing []logfile.SavedFile // those of the checkpoint that have not been found again
	sought  time.Time           // since when they have been looked for
	missed  bool                // whether that was told
	empty   *logfile.Identity   // the file that had the name and nothing in it when the checkpoint was written

	faults    []string  // what was wrong since all of it could be read
	lack      string    // why its file cannot be read, as it was told
	truncated time.Time // when it was last told that it was
	uncopied  time.Time // and that there is no copy
}

// mostFiles is the most files of one log that may be open; beyond that the oldest is closed once it has been read.
const mostFiles = 16

// look finds out whether another file has the name.
func (l *Log) look() error {
	if l.over || l.pipe && !l.leavesPipe() {
		return nil
	}
	if err := l.recover(); err != nil {
		return err
	}
	l.seek()
	if l.set.Now().Sub(l.looked) >= forgetBeside {
		l.beside.Forget()
	}
	info, err := os.Stat(l.path)
	n := len(l.files)
	l.gone = errors.Is(err, fs.ErrNotExist) && (n > 0 || l.gone || !l.set.isNamed(l)) // one that a pattern has found was there
	switch {
	case l.gone: // perhaps between two files, and another one may have had the name since it was looked at
		l.pending = l.pending || !l.lost || l.set.isNamed(l) && l.stirred()
		l.lose()
		l.gatherPending()
		return nil
	case err != nil:
		return err
	case info.IsDir(): // there may be logs in it: see join
		return nil
	case info.Mode()&fs.ModeNamedPipe != 0:
		return l.openFIFO()
	case n > 0 && l.files[n-1].is(info):
		l.lost, l.pending = false, l.pending || l.mayBeReplaced()
		l.gatherPending()
		return nil
	case l.set.isTaken(l, "", info):
		return l.pass(info)
	}
	return l.turn()
}

// lose notes that the last file has lost the name. Some may go on writing to it for a while, be it quiet so far.
func (l *Log) lose() {
	if n := len(l.files); !l.lost && n > 0 {
		l.set.Turned()
		switch f := l.files[n-1].(type) {
		case *plain:
			f.read = l.set.Now()
		case *pipe:
			f.read = l.set.Now()
		}
	}
	l.lost = true
}

// pass leaves a file to the log that reads it. What is written to it later, this one may read: it is known until then.
func (l *Log) pass(info fs.FileInfo) error {
	l.begun = true
	l.lose()
	if l.passed != nil && os.SameFile(l.passed, info) && l.passed.Size() > 0 {
		return nil
	}
	f, err := openPlain(l.path, logfile.Place{}, l.set.Now)
	if err != nil {
		return err
	}
	defer f.close()
	l.passed = f.info
	l.note(f.Identity)
	return nil
}

// turn takes in the file that has the name now, behind those that had it before.
func (l *Log) turn() error {
	f, err := openPlain(l.path, logfile.Place{}, l.set.Now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.lose()
	wasKnown := l.begun && l.set.isKnown(f.was) // before it is found beside the log, should it have been renamed since
	if l.begun || l.series != nil {
		if g := l.gather(f); l.empty != nil && l.empty.SameInode(f.Node) && len(g.found) > 0 {
			l.tellTruncated()
		}
		l.empty = nil
	} else {
		l.know() // by now: what has been renamed since has not come since
	}
	if i := slices.IndexFunc(l.missing, func(m logfile.SavedFile) bool { return f.was(m.Identity) }); i >= 0 {
		f.Place = l.missing[i].Place
		l.missing = slices.Delete(l.missing, i, i+1)
	} else if old := l.replaced(f); old != nil {
		f.Place = old.Place
		old.leave()
	} else if at, ok := l.edited(f); ok {
		f.Place = at
		l.set.Say("%s: was replaced by a file that has some of its lines no more, and is read on behind them", l.Name)
	} else if at, ok := l.stopped(f.begins, f.was); ok {
		f.Place = at
	} else if wasKnown || !l.begun && l.from != FromStart {
		f.skipToEnd()
	}
	if l.begun && len(l.files)+len(l.closed)+len(l.missing) == 0 && f.Place == (logfile.Place{}) {
		l.fresh = f
	}
	l.files = slices.DeleteFunc(l.files, func(g File) bool { // a link that was swapped back
		if !g.is(f.info) {
			return false
		}
		old := g.(*plain)
		f.SavedFile = old.SavedFile
		old.close()
		return true
	})
	f.stirred = l.stirred
	l.files = append(l.files, f)
	l.begun, l.lost, l.watched = true, false, false
	return nil
}

// Next fills b with the next lines, and reports whether there were any. A file that cannot be read is tried again the next
// time; meanwhile the others go on.
func (l *Log) Next(b *logfile.Block) bool {
	l.skipCopied()
	failed := false
	for i := 0; i < len(l.files); i++ {
		more, err := l.files[i].next(b)
		switch err {
		case errTruncated: // it is read from its beginning, behind the rests of copies that were made before
			if i == len(l.files)-1 {
				l.gather(nil)
			} else { // it has lost the name: what is done to it is no longer our log
				l.files[i].close()
				l.files = slices.Delete(l.files, i, i+1)
			}
			i--
			continue
		case errCut:
			l.skipCut(l.files[i].(*plain))
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

// Latest returns the file of which Next returned lines last.
func (l *Log) Latest() File { return l.latest }

// Reads reports whether a file is one of the log's still.
func (l *Log) Reads(f File) bool { return slices.Contains(l.files, f) }

// cannotRead says that a file cannot be read, once until all can.
func (l *Log) cannotRead(err error) {
	if text := err.Error(); !slices.Contains(l.faults, text) {
		l.faults = append(l.faults, text)
		l.set.Say("%s: %s; it is tried again", l.Name, text)
	}
}

// skipCut goes on behind what is left of a file that has lost its end: it has been read.
func (l *Log) skipCut(f *plain) {
	l.set.Say("%s: has %d bytes, and %d were read before: it was cut, and is read from its present end on", l.Name, f.size, f.Offset)
	f.Place = logfile.Place{Offset: f.size}.Marked(f.handle)
}

// ascertain finds out what has become of a file that had little in it, before it is read on. It reports whether it can be read.
func (l *Log) ascertain(i int) bool {
	f := l.files[i].(*plain)
	if f.blank { // a copy that was being made, or one of the log's
		if _ = f.refresh(); f.isShort() {
			return false
		}
		f.close()
		l.files = slices.Delete(l.files, i, i+1)
		l.gather(nil)
		return true
	}
	if info, err := os.Stat(l.path); err != nil || !f.is(info) {
		_ = f.refresh() // it has lost the name, so it is not truncated
		return f.HeadBytes > 0
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
	return f.HeadBytes > 0 || f.info.Size() == 0 // else it cannot be read now
}

// tellTruncated counts that a log was truncated, and tells it at most once a minute. Whatever was written to it between copying
// and truncating is in no file.
func (l *Log) tellTruncated() {
	l.set.Truncated()
	if now := l.set.Now(); now.Sub(l.truncated) >= time.Minute {
		l.truncated = now
		l.set.Say("%s: was truncated; what was written to it between copying and truncating is lost", l.Name)
	}
}

// retire closes files that had the name once and have been quiet for long, and hands over what they end with.
func (l *Log) retire(b *logfile.Block) bool {
	for i := 0; i < len(l.files); i++ {
		if !l.isSpent(i) {
			continue
		}
		g := l.files[i]
		more := g.rest(b)
		n := g.unread()
		if !more && n > 0 {
			l.set.Say("%s: %d bytes of an earlier file could not be read, and are lost", l.Name, n)
			l.set.Lost()
		}
		if !more || n == 0 { // else it can be read again, and is
			l.shut(i)
		}
		if more {
			l.latest = g
			return true
		}
		i--
	}
	return false
}

// isSpent reports whether a file will not be written to any more, as far as one can tell.
func (l *Log) isSpent(i int) bool {
	f, isPlain := l.files[i].(*plain)
	_, isPipe := l.files[i].(*pipe)
	last := i == len(l.files)-1
	quiet := l.set.Now().Sub(l.files[i].since())
	switch {
	case last && !l.over && !l.lost:
		return false
	case !isPlain && !isPipe || len(l.files) > mostFiles:
		return true
	case last && !l.over && isPlain && !f.isDeleted(): // renamed, and its writer has begun no other one
		return quiet >= 60*l.set.Linger
	}
	return quiet >= l.set.Linger
}

// shut closes a file of the log.
func (l *Log) shut(i int) {
	g := l.files[i]
	g.close()
	l.files = slices.Delete(l.files, i, i+1)
	l.closed = keepInMind(l.closed, g.saved(), keptClosed)
}

// Abandon closes files of a log of which no line could be read, when there will be none.
func (l *Log) Abandon() {
	l.Measure()
	for i := len(l.files) - 1; i >= 0; i-- {
		g := l.files[i]
		if hopeless := g.unread() == 0 || l.gone || len(l.files) > mostFiles; hopeless && l.isSpent(i) && l.set.Now().Sub(g.since()) >= l.set.Linger {
			l.shut(i)
		}
	}
}

// Unread returns how many bytes lie ahead, as far as is known.
func (l *Log) Unread() (n int64) {
	for _, g := range l.files {
		n += g.unread()
	}
	return n
}

// Measure finds out how much lies ahead, where nothing is read.
func (l *Log) Measure() {
	for _, g := range l.files {
		g.measure()
	}
}

// Samples returns lines to choose a format by: beginnings of files, the longest first, then what is to be read next.
func (l *Log) Samples() (all [][]byte) {
	var next [][]byte
	for _, g := range l.files {
		all = append(all, g.head())
		if f, ok := g.(*plain); ok {
			next = append(next, f.peek())
		}
	}
	slices.SortStableFunc(all, func(x, y []byte) int { return len(y) - len(x) })
	all = append(all, next...)
	for i := range all {
		all[i] = bytes.TrimLeft(all[i], "\x00") // copytruncate leaves zeros where a writer does not append
	}
	return slices.DeleteFunc(all, func(sample []byte) bool { return len(sample) == 0 })
}

// Overlong reports whether the next line is too long to be read, whatever its format is.
func (l *Log) Overlong() bool {
	i := slices.IndexFunc(l.files, func(g File) bool { return g.unread() > 0 })
	if i < 0 {
		return false
	}
	f, ok := l.files[i].(*plain)
	return ok && len(f.peek()) == 0 && f.unread() > logfile.MaxLine
}
