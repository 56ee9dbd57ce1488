package tail

import (
	"fmt"
	"slices"
	"time"

	"shadow/parse"
	"shadow/traffic"
)

// The format of a log is chosen by its first lines, and watched from then on: lines that are no requests in it are counted, and
// where they are the most of them that is told, since nobody is judged by a log that cannot be read.

// enough is how many lines must be there for their format to be given up.
const enough = 20

// choose chooses a log's format, once there are lines to tell it by.
func (t *Tail) choose(l *log) error {
	sample := l.sample()
	if len(sample) == 0 {
		return nil
	}
	format, warnings, err := t.stream.Format(sample)
	if err != nil {
		switch err = fmt.Errorf("%s: %w", l.name, err); {
		case lines(sample) < enough && t.options.Now().Sub(t.begun) < time.Minute:
			return nil
		case !t.mayRead(l):
			return err
		case l.odd != err.Error(): // others can be read: this one has to wait until it is mended
			l.odd = err.Error()
			t.say("%v", err)
		}
		return nil
	}
	for _, w := range warnings {
		t.say("%s: %s", l.name, w)
	}
	l.format = format
	return nil
}

// mayRead tells whether some other log can be read, or might be as soon as there is something in it.
func (t *Tail) mayRead(but *log) bool {
	return slices.ContainsFunc(t.logs, func(l *log) bool { return l != but && l.odd == "" })
}

// A doubt is how many of the latest lines of a log were no requests.
type doubt struct {
	lines, unreadable int64
	fault             parse.Fault // of one of them
	told              bool        // that they were most of them
}

// watched is how many lines are looked at together.
const watched = 10

// watch looks whether a log's lines are such as its format says. Where most are not, another format may fit by now.
func (t *Tail) watch(l *log, taken *traffic.Taken) {
	d := &l.doubt
	d.lines += taken.Lines
	d.unreadable += taken.Unreadable
	for _, f := range taken.Faults {
		d.fault = f.Fault
	}
	if d.lines < watched {
		return
	}
	wrong := 2*d.unreadable > d.lines
	switch {
	case wrong && t.another(l):
	case wrong && !d.told:
		t.say("%s: %d of the last %d lines are no requests in the format %s: %s (column %d); shadow parse says more",
			l.name, d.unreadable, d.lines, l.format.Name, d.fault.Reason, d.fault.Column)
		d.told = true
	case !wrong && d.told:
		t.say("%s: most lines are requests again", l.name)
		d.told = false
	}
	d.lines, d.unreadable = 0, 0
}

// another takes another format for a log if one fits better by now.
func (t *Tail) another(l *log) bool {
	sample := l.sample()
	if len(sample) == 0 {
		return false
	}
	format, _, err := t.stream.Format(sample)
	if err != nil || format.Text == l.format.Text {
		return false
	}
	l.format = format
	return true
}

// lines counts line feeds.
func lines(data []byte) (n int) {
	for _, c := range data {
		if c == '\n' {
			n++
		}
	}
	return n
}
