package tail

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"shadow/logfile"
)

// follow begins to follow a log of one name, unless it does. It is not looked at yet.
func (t *Tail) follow(name string, from From) (l *log, isNew bool) {
	if l := t.logNamed(name); l != nil {
		return l, false
	}
	l = t.newLog(name, from)
	l.path = name
	if info, err := os.Stat(name); name == "-" {
		l.openStdin(t.options.Stdin)
	} else if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		l.know()
		l.begun = err != nil || t.running // what comes later is read from its start
	}
	t.add(l)
	return l, true
}

// followSeries begins to follow a log of many names, from the file that has the latest of them, "" if that is not known yet.
func (t *Tail) followSeries(s logfile.Series, path string, from From) *log {
	l := t.newLog(s.Name(), from)
	l.series, l.path = &s, path
	l.know()
	l.begun = t.running
	t.add(l)
	return l
}

func (t *Tail) newLog(name string, from From) *log {
	return &log{
		name: name, key: absolute(name), from: from, linger: t.options.Linger, now: t.options.Now, say: t.say, tail: t,
		clock: newClock(t.options.Read.Lateness),
	}
}

// add takes in a log, under the lowest number that is free.
func (t *Tail) add(l *log) {
	used := make([]bool, len(t.logs)+1)
	for _, other := range t.logs {
		if other.source < len(used) {
			used[other.source] = true
		}
	}
	t.addAs(l, slices.Index(used, false))
}

func (t *Tail) addAs(l *log, source int) {
	l.source = source
	t.logs = append(t.logs, l)
	if l.series == nil {
		t.byKey[l.key] = l
	}
	t.sources = max(t.sources, source+1)
	t.stream.Sources(t.sources)
}

// logNamed is the log of one name, nil if it is not followed.
func (t *Tail) logNamed(name string) *log { return t.byKey[absolute(name)] }

// logOf is the log of a series, nil if it is not followed.
func (t *Tail) logOf(s logfile.Series) *log {
	key := absolute(s.Name())
	for _, l := range t.logs {
		if l.key == key && l.series != nil {
			return l
		}
	}
	return nil
}

// demote ends logs that turn out to be rotations of another one: it is there now, and was not when they were found. What is
// left of them is read to its end.
func (t *Tail) demote() {
	for _, l := range t.logs {
		if l.over || l.pipe || l.series == nil && t.isNamed(l) {
			continue
		}
		i := slices.IndexFunc(t.logs, func(current *log) bool {
			return current != l && !current.over && current.series == nil && filepath.Dir(current.key) == filepath.Dir(l.key) &&
				logfile.IsRotated(filepath.Base(current.name), filepath.Base(l.oneName()))
		})
		if i < 0 {
			continue
		}
		if l.over = true; len(l.files) > 0 { // else it was told before a restart
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

// ended reports whether nothing can come any more: all logs are pipes that have ended.
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
	p, ok := l.files[len(l.files)-1].(*pipe)
	return p, ok
}
