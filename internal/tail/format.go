package tail

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"shadow/internal/logfile/follow"
	"shadow/internal/traffic/ingest"
	"shadow/parse"
)

// What lines mean is told by their format. It is chosen from the beginning of a log, or from what is to be read next if the
// beginning tells nothing. A server may change it, with a rotation or in the middle of a file; so the first line of each block
// is tried, and when it cannot be read, nor most of those behind it, the lines at hand choose once more. Each file of a log
// keeps the format that it has.

// How many lines must be there for their format to be given up at first, and how many strange ones for it to be doubted later.
const (
	enough  = 20
	strange = 10
)

// sampleBytes are enough to choose a format by.
const sampleBytes = 64 << 10

// repeat is the time after which it is told again that a log still cannot be read.
const repeat = time.Hour

// A choice is how the lines of one file are read.
type choice struct {
	format  *parse.Format
	strange []byte // lines of the latest blocks, most of which it does not read
}

// formats says how the lines of a log are read.
type formats struct {
	format  *parse.Format // of the next file; nil: not known yet
	choices map[follow.File]*choice

	came       time.Time // when there were lines first, and no format to be told
	tried      time.Time // when that was last tried, after much waiting
	changed    time.Time // when it was last said that lines have another format
	complained time.Time // when it was last said that they cannot be read
}

// choose chooses a log's format, once there are lines to tell it by.
func (t *Tail) choose(l *log) error {
	now := t.options.Now()
	if now.Sub(l.tried) < time.Second {
		return nil // it could not be told a moment ago
	}
	lines, err := t.try(l)
	if err == nil {
		return nil
	}
	if l.came.IsZero() {
		l.came = now
	}
	all := lines >= enough || l.Ended()
	hope := func(other *log) bool { return other.format != nil || other != l && other.complained.IsZero() } // once something is in it
	knew := t.tally.Lines > t.tally.Unreadable                                                              // a tail that has read requests goes on
	switch {
	case !all && now.Sub(l.came) < time.Minute:
	case all && !knew && !slices.ContainsFunc(t.logs, hope):
		return fmt.Errorf("%s: %w", l.Name, err)
	default: // others can be read, or could: this one has to wait until it is mended
		l.tried = now
		t.complain(l, now, err.Error())
	}
	return nil
}

// try tries samples of a log. Of several that tell no format, it returns what is wrong with the first, and how many lines the
// largest has.
func (t *Tail) try(l *log) (lines int, first error) {
	for _, sample := range l.Samples() {
		format, warnings, err := t.stream.Format(sample)
		if err == nil {
			l.format = format
			t.warn(l, warnings)
			return 0, nil
		}
		if first == nil {
			first = err
		}
		lines = max(lines, bytes.Count(sample, lineFeed))
	}
	return lines, first
}

var lineFeed = []byte{'\n'}

// choice returns the choice for the file at hand. A new file is read as the one before it was.
func (l *log) choice() *choice {
	file := l.Latest()
	c := l.choices[file]
	if c == nil {
		if l.choices == nil {
			l.choices = map[follow.File]*choice{}
		}
		maps.DeleteFunc(l.choices, func(f follow.File, _ *choice) bool { return !l.Reads(f) })
		c = &choice{format: l.format}
		l.choices[file] = c
	}
	return c
}

// formatOf is the format of the block at hand.
func (t *Tail) formatOf(l *log) *parse.Format {
	c := l.choice()
	sample := t.block.Data[:min(len(t.block.Data), sampleBytes)]
	if end := bytes.LastIndexByte(sample, '\n') + 1; end > 0 {
		sample = sample[:end]
	}
	first, _, _ := bytes.Cut(sample, lineFeed)
	if t.stream.Misread(first, c.format) > 0 && 2*t.stream.Misread(sample, c.format) > bytes.Count(sample, lineFeed) {
		t.doubt(l, c, sample)
	}
	format := c.format
	c.format = format.After(t.block.Data)
	return format
}

// doubt looks whether another format fits better by now.
func (t *Tail) doubt(l *log, c *choice, sample []byte) {
	if len(c.strange) > sampleBytes {
		c.strange = c.strange[:0]
	}
	if c.strange = append(c.strange, sample...); bytes.Count(c.strange, lineFeed) < strange {
		return
	}
	now := t.options.Now()
	format, warnings, err := t.stream.Format(c.strange)
	switch {
	case err != nil:
		t.complain(l, now, err.Error())
	case format.Name == c.format.Name && format.Text == c.format.Text:
		t.complain(l, now, "most lines cannot be read as "+format.Name)
	default:
		c.format, c.strange, l.format = format, nil, format
		if now.Sub(l.changed) >= time.Minute {
			l.changed = now
			t.say("%s: the lines have another format now: %s", l.Name, format.Name)
			t.warn(l, warnings)
		}
	}
}

// complain tells now and then that a log cannot be read.
func (t *Tail) complain(l *log, now time.Time, text string) {
	if now.Sub(l.complained) >= repeat {
		l.complained = now
		t.say("%s: %s", l.Name, text)
	}
}

func (t *Tail) warn(l *log, warnings []string) {
	for _, w := range warnings {
		t.say("%s: %s", l.Name, w)
	}
}

// pass counts the block at hand, which is such a line.
func (t *Tail) pass(l *log) {
	text := string(t.block.Data[:min(len(t.block.Data), 200)])
	taken := ingest.BlockStats{Faults: []ingest.FaultAt{{Line: 1, Fault: parse.TooLong, Text: text}}}
	taken.Lines, taken.Unreadable, taken.Bytes = 1, 1, int64(len(t.block.Data))
	t.tally.take(&taken)
	t.note(l, &taken)
}

// unknown finds out how many bytes lie in logs of no known format.
func (t *Tail) unknown() (n int64) {
	for _, l := range t.logs {
		if l.format == nil {
			l.Measure()
			n += l.Unread()
		}
	}
	return n
}

// note keeps the first faults until the next summary. When most lines can be read, those before are no longer strange.
func (t *Tail) note(l *log, taken *ingest.BlockStats) {
	if c := l.choices[l.Latest()]; c != nil && 2*taken.Unreadable <= taken.Lines {
		c.strange = c.strange[:0]
	}
	for _, f := range taken.Faults[:min(len(taken.Faults), faultsTold-len(t.summary.faults))] {
		t.summary.faults = append(t.summary.faults, fault{l.Name, f})
	}
}
