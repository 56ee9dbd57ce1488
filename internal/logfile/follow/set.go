// Package follow reads logs that grow: names come in (files, pipes, patterns, directories, standard input), and blocks of
// whole lines go out, each line once, across rotation, truncation, compression and restarts.
package follow

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/mapped"
)

// Options says what to follow.
type Options struct {
	Names  []string // files, pipes, patterns, directories, or "-"
	Stdin  io.Reader
	From   From
	Linger time.Duration          // how long a file that lost its name has to be quiet to be closed
	Now    func() time.Time       // the clock
	Own    func(path string) bool // reports whether this program writes the file: a pattern does not stand for it

	Events
}

// Events gets what a Set tells the caller.
type Events interface {
	Say(format string, args ...any) // what people should know
	Truncated()                     // a log was truncated
	Lost()                          // the rest of a file was not read
	Joined(*Log)                    // the log is followed from now on
	Turned()                        // a file has lost the name of its log, or was found without it: it may be deleted soon
	Left(*Log)                      // nothing can come of the log any more; its number may be given to another one
	Waits(*Log) bool                // reports whether the log must keep its number for now
}

// A From says where reading begins.
type From string

// The places to begin at.
const (
	FromStart      From = "start"      // of the file
	FromEnd        From = "end"        // of the file as it is
	FromCheckpoint From = "checkpoint" // where the checkpoint says, at the end without one
)

// A Set is the logs that some names stand for. One goroutine may use it.
type Set struct {
	Options
	Wake chan struct{} // receives a value when there may be something to read

	named   []*name
	logs    []*Log
	byKey   map[string]*Log     // those of one name
	sources int                 // numbers that logs have had
	left    []logfile.SavedFile // files of logs that were given up, latest last

	watch    *watch      // nil: none
	renamed  atomic.Bool // whether names have changed in some folder
	expanded time.Time   // when patterns were last looked at
	running  bool        // whether they have been: a log that is found from then on has come since
	gaveUp   time.Time   // when logs were last looked at that may be given up
}

// New returns a Set that follows nothing yet.
func New(o Options) *Set {
	s := &Set{Options: o, Wake: make(chan struct{}, 1), byKey: map[string]*Log{}}
	s.named = mapped.Add(s.named, o.Names, func(text string) *name { return &name{text: text, key: keyOf(text)} })
	return s
}

// Look takes in logs that have come, and looks whether other files have the names of those that are followed.
func (s *Set) Look() {
	s.Expand()
	for _, l := range s.logs {
		s.look(l)
	}
	s.watch.add(s.logs)
}

// Logs returns the logs that are followed, in the order in which they joined.
func (s *Set) Logs() []*Log { return s.logs }

// Numbers returns how many numbers logs have had.
func (s *Set) Numbers() int { return s.sources }

// Renamed reports whether names have changed in some folder since it was last asked.
func (s *Set) Renamed() bool { return s.renamed.Swap(false) }

// follow begins to follow a log of one name, unless it does. It is not looked at yet.
func (s *Set) follow(name string, from From) (l *Log, isNew bool) {
	if l := s.logNamed(name); l != nil {
		return l, false
	}
	l = s.newLog(name, from)
	l.path = name
	if info, err := os.Stat(name); name == "-" {
		l.openStdin()
	} else if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		l.know()
		l.begun = err != nil || s.running // what comes later is read from its start
	}
	s.add(l)
	return l, true
}

func (s *Set) newLog(name string, from From) *Log {
	return &Log{Name: name, key: keyOf(name), from: from, set: s}
}

// add takes in a log, under the lowest number that is free.
func (s *Set) add(l *Log) {
	used := make([]bool, len(s.logs)+1)
	for _, other := range s.logs {
		if other.Number < len(used) {
			used[other.Number] = true
		}
	}
	s.addAs(l, slices.Index(used, false))
}

func (s *Set) addAs(l *Log, number int) {
	l.Number = number
	s.logs = append(s.logs, l)
	if l.series == nil {
		s.byKey[l.key] = l
	}
	s.sources = max(s.sources, number+1)
	s.Joined(l)
}

// logNamed returns the log of one name, nil if it is not followed.
func (s *Set) logNamed(name string) *Log { return s.byKey[keyOf(name)] }

// logOf returns the log of a series, nil if it is not followed.
func (s *Set) logOf(series logfile.Series) *Log {
	key := keyOf(series.Name())
	i := slices.IndexFunc(s.logs, func(l *Log) bool { return l.key == key && l.series != nil })
	if i < 0 {
		return nil
	}
	return s.logs[i]
}

// isNamed reports whether a log has a name that was given, and was not found by a pattern.
func (s *Set) isNamed(l *Log) bool {
	return slices.ContainsFunc(s.named, func(n *name) bool { return n.key == l.key })
}

// isTaken reports whether another log reads a file, or has its path: nothing is to be read twice.
func (s *Set) isTaken(by *Log, path string, info fs.FileInfo) bool {
	return slices.ContainsFunc(s.logs, func(l *Log) bool {
		return l != by && (l.has(info) || path != "" && keyOf(l.path) == keyOf(path) && !l.over)
	})
}

// isKnown reports whether some log has read a file, or is not to: what it has known was that one.
func (s *Set) isKnown(was func(logfile.Identity) bool) bool {
	return slices.ContainsFunc(s.logs, func(l *Log) bool { return slices.ContainsFunc(l.known, was) })
}

// demote ends logs that turn out to be rotations of another one: it is there now, and was not when they were found. What is
// left of them is read to its end.
func (s *Set) demote() {
	for _, l := range s.logs {
		if l.over || l.pipe || l.series == nil && s.isNamed(l) {
			continue
		}
		one := l.Name // of the names that the log may have
		if l.series != nil {
			one = l.series.Dir + l.series.Before + "20260101" + l.series.Behind
		}
		i := slices.IndexFunc(s.logs, func(current *Log) bool {
			return current != l && !current.over && current.series == nil && filepath.Dir(current.key) == filepath.Dir(l.key) &&
				logfile.IsRotated(filepath.Base(current.Name), filepath.Base(one))
		})
		if i < 0 {
			continue
		}
		if l.over = true; len(l.files) > 0 { // else it was told before a restart
			s.Say("%s: is followed no longer, as what is left of %s when that is rotated", l.Name, s.logs[i].Name)
		}
	}
}

// giveUp ends logs that nothing can come of any more: those that were found by a pattern and are not there any more,
// nor any sibling, and those that are not named any more. What was read of them is kept in mind. It is done as often as
// files linger.
func (s *Set) giveUp(now time.Time) {
	if now.Sub(s.gaveUp) < s.Linger {
		return
	}
	s.gaveUp = now
	before := len(s.logs)
	s.logs = slices.DeleteFunc(s.logs, func(l *Log) bool {
		if !l.isOver() || s.Waits(l) {
			return false
		}
		for _, f := range l.closed {
			s.left = keepInMind(s.left, f, keptLeft)
		}
		s.Left(l)
		if s.byKey[l.key] == l {
			delete(s.byKey, l.key)
		}
		return true
	})
	if len(s.logs) < before { // what they have read may be a log of its own now
		for _, n := range s.named {
			n.passed = nil
		}
	}
}

// skipCopies goes to the ends of logs that hold nothing but what others hold, before anything is read. A Set that begins at
// the start of several logs may find one of them twice: a backup beside the log, a copy in another folder. So each line
// counts once, and what is added to the copy counts too.
func (s *Set) skipCopies() {
	var names []string
	files := map[string]*plain{}
	for _, l := range s.logs {
		for _, g := range l.files {
			if f, ok := g.(*plain); ok && f.Place == (logfile.Place{}) && f.size > 0 {
				name := f.handle.Name()
				names = append(names, name)
				files[name] = f
			}
		}
	}
	copies, err := logfile.FindCopies(context.Background(), names)
	if err != nil {
		return // it has no other cause than the context
	}
	what := map[logfile.How]string{logfile.SameLines: "holds the same as", logfile.Beginning: "is the beginning of"}
	for _, c := range copies.Found {
		files[c.Name].skipToEnd()
		s.Say("%s: %s %s; it is followed from its end", c.Name, what[c.How], c.Of)
	}
	for _, c := range copies.Doubts {
		s.Say("%s: begins as %s does, and is too short to prove a copy; its lines count", c.Name, c.Of)
	}
}

// Followed returns how many logs may still grow.
func (s *Set) Followed() (count int) {
	for _, l := range s.logs {
		if !l.over {
			count++
		}
	}
	return count
}

// Absent returns how many names stand for nothing that can be read.
func (s *Set) Absent() (count int) {
	for _, l := range s.logs {
		if l.lack != "" && !l.over {
			count++
		}
	}
	for _, n := range s.named {
		if n.lack != "" {
			count++
		}
	}
	return count
}

// Ended reports whether nothing can come any more: all logs are pipes that have ended.
func (s *Set) Ended() bool {
	return len(s.logs) > 0 && !slices.ContainsFunc(s.logs, func(l *Log) bool { return !l.Ended() || l.Unread() > 0 })
}

// Finish gives up the files of the checkpoint that have not been found again.
func (s *Set) Finish() {
	for _, l := range s.logs {
		l.giveUpMissing()
	}
}

// Close closes all files.
func (s *Set) Close() {
	for _, l := range s.logs {
		for _, g := range l.files {
			g.close()
		}
	}
	s.watch.close()
}
