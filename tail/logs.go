package tail

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"shadow/parse"
)

// expandEvery is how often globs are looked at for files that are new.
const expandEvery = time.Second

// several tells whether names may stand for more than one log.
func several(names []string) bool { return len(names) > 1 || isGlob(names[0]) }

func isGlob(name string) bool { return strings.ContainsAny(name, "*?[") && !exists(name) }

// expand takes in the logs that names stand for and that are not followed yet. What comes later is read from its start.
func (t *Tail) expand() {
	now := t.options.Now()
	if !t.expanded.IsZero() && now.Sub(t.expanded) < expandEvery {
		return
	}
	from := t.options.From
	if !t.expanded.IsZero() {
		from = FromStart
	}
	t.expanded = now
	for _, name := range t.options.Names {
		if !isGlob(name) {
			if l, isNew := t.follow(name, from); isNew {
				t.look(l)
			}
			continue
		}
		found, _ := filepath.Glob(name) // a bad pattern was refused at the beginning
		for _, name := range found {
			if t.mayJoin(name) {
				l, _ := t.follow(name, from)
				t.look(l)
			}
		}
	}
}

// mayJoin tells whether a file that a glob matches is a log of its own: what log rotation has left of another is not.
func (t *Tail) mayJoin(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() || parse.IsPacked(name) || wasOwn(t.options.ownFiles(), name) {
		return false
	}
	for _, l := range t.logs {
		if l.name == name {
			return false
		}
		if filepath.Dir(l.name) == filepath.Dir(name) && parse.IsRotated(filepath.Base(l.name), filepath.Base(name)) || l.has(info) {
			return false
		}
	}
	return true
}

// has tells whether a file is one of the log's.
func (l *log) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(l.files, func(g generation) bool {
		f, ok := g.(*file)
		return ok && os.SameFile(f.info, info)
	})
}

// follow begins to follow a log, unless it does. It is not looked at yet.
func (t *Tail) follow(name string, from From) (l *log, isNew bool) {
	for _, l := range t.logs {
		if l.name == name {
			return l, false
		}
	}
	l = &log{name: name, from: from, linger: t.options.Linger, now: t.options.Now, say: t.say, clock: newClock(t.options.Read.Lateness)}
	if info, err := os.Stat(name); name == "-" {
		l.pipe, l.files = true, []generation{openPipe(t.options.Stdin, t.wake, l.now)}
	} else if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		l.openFIFO(t.wake)
	} else {
		l.know()
		l.begun = err != nil // what comes later is read from its start
	}
	t.logs = append(t.logs, l)
	t.stream.Sources(len(t.logs))
	return l, true
}

// openFIFO opens a named pipe to read and to write, so that it does not end when one of its writers does.
func (l *log) openFIFO(wake chan<- struct{}) {
	handle, err := os.OpenFile(l.name, os.O_RDWR, 0)
	if err != nil {
		l.say("%s: %v", l.name, err)
		return
	}
	l.pipe, l.files = true, []generation{openPipe(handle, wake, l.now)}
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
	if !l.pipe {
		return nil, false
	}
	p, ok := l.files[0].(*pipe)
	return p, ok
}
