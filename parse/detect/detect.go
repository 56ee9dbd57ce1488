package detect

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"shadow/parse"
)

// Detection tries the formats below on the first lines of a log and takes the one that reads most of them; of those
// that read as many, the one that learns most from them. The scanner is strict about what stands in front of the
// time, so that a line "www.example.org 192.0.2.7 - - [" does not make the virtual host the client. What follows the
// agent is looked at afterwards (tail.go).
//
// Logs that are read together mostly have one format. So the format of the log before is tried first, and another one
// is dropped at the line from which on it cannot become better: mostly the first. What is found does not depend on
// that.

// detectable are the formats of the catalogue that are tried, the first of equals preferred. The others differ from
// these in what follows, or lacks, at the end.
var detectable = []string{"combined", "vhost-combined", "apache-combined", "apache-iso", "nginx-iso", "bare", "haproxy"}

// shorter says what a format is called without referers and agents.
var shorter = map[string]string{
	"combined": "common", "vhost-combined": "vhost-common", "apache-combined": "apache-common",
}

// asGood says of a format which earlier one learns as much from each line that it reads and that makes sense.
var asGood = map[string]string{"apache-combined": "combined"}

// minRead is the share of the sample, in percent, that a format must read to be taken. It is low, because a log with
// many broken lines is better read and reported as such than refused.
const minRead = 50

// A Detection is a format and how it fares with the first lines of a log.
type Detection struct {
	Format   *parse.Format
	Lines    int      // lines of the sample, without empty ones and comments
	Read     int      // how many of them the format reads
	Warnings []string // what a person should look at

	sound  int         // how many of the lines read have a client that can be one
	learnt int         // how many fields the sound lines have
	agents int         // how many of them have a referer or an agent
	fault  parse.Fault // of the first line that cannot be read or is not sound
}

// A Detector finds the formats of logs that are read together. Several goroutines may use it at a time. Logs of the
// same format share one Format.
type Detector struct {
	choice Choice

	mu       sync.Mutex
	compiled map[string]compiled // by what was compiled
	last     string              // the candidate that the log before was found with
}

// compiled is what compiling a format came to.
type compiled struct {
	format *parse.Format
	err    error
}

// NewDetector returns one that finds formats as c says.
func NewDetector(c Choice) *Detector { return &Detector{choice: c, compiled: map[string]compiled{}} }

// once compiles a format unless that was done before under the same key.
func (d *Detector) once(key string, compile func() (*parse.Format, error)) (*parse.Format, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, done := d.compiled[key]
	if !done {
		c.format, c.err = compile()
		d.compiled[key] = c
	}
	return c.format, c.err
}

// named is Named, once for each name.
func (d *Detector) named(name string) (*parse.Format, error) {
	return d.once(name, func() (*parse.Format, error) { return Named(name, d.choice.Options) })
}

// detect finds the format that reads a log of which sample is the beginning, ended after a whole line. The error for
// a log that no format reads says what the log looks like and what to do.
func (d *Detector) detect(sample []byte) (Detection, error) {
	lines := sampleLines(sample)
	if err := refuse(sample, lines); err != nil {
		return Detection{}, err
	}
	bare := parse.WithoutHeaders(lines)
	if bare == nil {
		return d.find(lines)
	}
	found, err := d.find(bare)
	if err == nil && found.Format.Name != parse.Syslogged {
		key := "behind syslog\n" + found.Format.Name + "\n" + found.Format.Text
		found.Format, err = d.once(key, func() (*parse.Format, error) {
			behind := found.Format.BehindSyslog()
			behind.Name += " behind syslog"
			return behind, nil
		})
	}
	return found, err
}

// find finds the format of the lines of a sample.
func (d *Detector) find(lines [][]byte) (Detection, error) {
	if len(lines) == 0 {
		format, err := d.named("combined")
		return Detection{Format: format, Warnings: []string{"no line shows the format: combined is assumed"}}, err
	}
	formats, first, err := d.candidates(lines)
	if err != nil {
		return Detection{}, err
	}
	best, place := judge(formats[first], lines, nil), first
	for i, format := range formats {
		proven := best.score() == best.Lines && best.Format.Name == asGood[format.Name] && !d.choice.Options.Gonx
		if i == first || proven {
			continue
		}
		worse := func(c *Detection, left int) bool { return c.score()+left < best.score() }
		if c := judge(format, lines, worse); c.Lines > 0 && c.better(best, i < place) {
			best, place = c, i
		}
	}
	if best.sound*100 >= minRead*best.Lines {
		d.mu.Lock()
		d.last = formats[place].Name
		d.mu.Unlock()
		return d.withTail(best, lines)
	}
	unknown := &UnknownFormatError{First: showLine(lines[0]), Lines: len(lines)}
	for _, format := range formats {
		unknown.tried = append(unknown.tried, judge(format, lines, nil))
	}
	for _, l := range lookalikes() {
		if unknown.looks == "" && parse.Mostly(lines, l.line.Match) {
			unknown.looks = l.says
		}
	}
	return Detection{}, unknown
}

// better reports whether d is to be preferred. Of several that are as good, the earlier one is.
func (d *Detection) better(other Detection, earlier bool) bool {
	order := cmp.Or(cmp.Compare(d.score(), other.score()), cmp.Compare(d.learnt, other.learnt))
	return order > 0 || order == 0 && earlier
}

// score says how well the lines fit. A line that is read but makes no sense counts against a format twice: it would
// put requests on the wrong client.
func (d *Detection) score() int { return d.sound - 2*(d.Read-d.sound) }

// candidates are the formats to try: of a log that looks like JSON the servers' own mappings, and all known names as
// far as the sample has them; else those of text. first is the one that the log before was found with.
func (d *Detector) candidates(lines [][]byte) (all []*parse.Format, first int, err error) {
	names := detectable
	isJSON := parse.Mostly(lines, jsonLike)
	if isJSON {
		names = nil
		for _, k := range parse.KnownJSON {
			names = append(names, k.Name)
		}
	}
	for _, name := range names {
		format, err := d.named(name)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, format)
	}
	if isJSON {
		found := parse.FieldMapping(nil).WithKnown().Found(lines)
		format, err := d.once("json "+found.String(), func() (*parse.Format, error) {
			return parse.CompileNamedJSON("json", found, d.choice.Options)
		})
		if err != nil {
			return nil, 0, err
		}
		all = append(all, format)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	first = slices.IndexFunc(all, func(f *parse.Format) bool { return f.Name == d.last })
	return all, max(first, 0), nil
}

// sampleLines are the lines of a sample without their endings, and without empty lines and comments.
func sampleLines(sample []byte) (lines [][]byte) {
	lines = make([][]byte, 0, bytes.Count(sample, []byte{'\n'})+1)
	for line := range bytes.Lines(sample) {
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}
