package tail

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"shadow/parse"
)

// follow begins to follow a log of one name, unless it does. It is not looked at yet.
func (t *Tail) follow(name string, from From) (l *log, isNew bool) {
	if l := t.logNamed(name); l != nil {
		return l, false
	}
	l = t.newLog(name, from)
	l.path = name
	if info, err := os.Stat(name); name == "-" {
		l.pipe, l.files = true, []generation{openPipe(t.options.Stdin, t.wake, l.now)}
	} else if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		l.openFIFO()
	} else {
		l.know()
		l.begun = err != nil || t.running // what comes later is read from its start
	}
	t.add(l)
	return l, true
}

// followSeries begins to follow a log of many names, from the file that has the latest of them, "" if that is not known yet.
func (t *Tail) followSeries(s parse.Series, path string, from From) *log {
	l := t.newLog(s.Name(), from)
	l.series, l.path = &s, path
	l.know()
	l.begun = t.running
	t.add(l)
	return l
}

func (t *Tail) newLog(name string, from From) *log {
	return &log{name: name, from: from, linger: t.options.Linger, now: t.options.Now, say: t.say, tail: t, clock: newClock(t.options.Read.Lateness)}
}

func (t *Tail) add(l *log) {
	t.logs = append(t.logs, l)
	t.stream.Sources(len(t.logs))
}

// logNamed is the log of one name, nil if it is not followed.
func (t *Tail) logNamed(name string) *log {
	for _, l := range t.logs {
		if l.name == name && l.series == nil {
			return l
		}
	}
	return nil
}

// logOf is the log of a series, nil if it is not followed.
func (t *Tail) logOf(s parse.Series) *log {
	for _, l := range t.logs {
		if l.series != nil && *l.series == s {
			return l
		}
	}
	return nil
}

// demote ends logs that turn out to be rotations of another one: it is there now, and was not when they were found. What is
// left of them is read to its end.
func (t *Tail) demote() {
	for _, l := range t.logs {
		if l.over || l.pipe || l.series == nil && slices.Contains(t.options.Names, l.name) {
			continue
		}
		i := slices.IndexFunc(t.logs, func(current *log) bool {
			return current != l && !current.over && current.series == nil && filepath.Dir(current.name) == filepath.Dir(l.name) &&
				parse.IsRotated(filepath.Base(current.name), filepath.Base(l.oneName()))
		})
		if i >= 0 {
			l.over = true
			t.say("%s: is followed no longer, as what is left of %s when that is rotated", l.name, t.logs[i].name)
		}
	}
}

// oneName is one of the names that the log may have.
func (l *log) oneName() string {
	if l.series == nil {
		return l.name
	}
	return l.series.Dir + l.series.Before + "20260101" + l.series.Behind
}

// resume goes on with the logs of a checkpoint.
func (t *Tail) resume(logs []parse.SavedLog) {
	t.running = true
	for _, s := range logs {
		var l *log
		if s.Series {
			l = t.followSeries(parse.SeriesNamed(s.Name), "", FromStart)
		} else {
			l, _ = t.follow(s.Name, FromStart)
		}
		if !l.pipe {
			l.resume(s)
		}
	}
	t.demote()
}

// openFIFO opens a named pipe to read and to write, so that it does not end when one of its writers does.
func (l *log) openFIFO() {
	handle, err := os.OpenFile(l.name, os.O_RDWR, 0)
	l.pipe = true
	if err != nil {
		l.say("%s: %v; it is not followed", l.name, cause(err))
		return
	}
	l.files = []generation{openPipe(handle, l.tail.wake, l.now)}
}

// ended tells whether nothing can come any more: all logs are pipes that have ended.
func (t *Tail) ended() bool {
	for _, l := range t.logs {
		if p, ok := l.pipeOf(); !ok || !p.ended() {
			return false
		}
	}
	return len(t.logs) > 0
}

func (l *log) pipeOf() (*pipe, bool) {
	if !l.pipe || len(l.files) == 0 {
		return nil, false
	}
	p, ok := l.files[0].(*pipe)
	return p, ok
}
