package detect

import (
	"bytes"
	"cmp"

	"shadow/parse"
)

// Detection tries the formats below on the first lines of a log and takes the one that reads most of them; of those
// that read as many, the one that learns most from them. The scanner is strict about what stands in front of the
// time, so that a line "www.example.org 192.0.2.7 - - [" does not make the virtual host the client. What follows the
// agent is looked at afterwards (tail.go).

// detectable are the formats of the catalogue that are tried, the first of equals preferred. The others differ from
// these in what follows, or lacks, at the end.
var detectable = []string{"combined", "vhost-combined", "apache-combined", "apache-iso", "nginx-iso", "bare", "haproxy"}

// shorter says what a format is called without referers and agents.
var shorter = map[string]string{
	"combined": "common", "vhost-combined": "vhost-common", "apache-combined": "apache-common",
}

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

// Detect finds the format that reads a log of which sample is the beginning, ended after a whole line. The error for
// a log that no format reads says what the log looks like and what to do.
func Detect(sample []byte, o parse.Options) (Detection, error) {
	lines := sampleLines(sample)
	if err := refuse(sample, lines); err != nil {
		return Detection{}, err
	}
	bare := parse.WithoutHeaders(lines)
	if bare == nil {
		return detect(lines, o)
	}
	d, err := detect(bare, o)
	if err == nil && d.Format.Name != parse.Syslogged {
		d.Format = d.Format.BehindSyslog()
		d.Format.Name += " behind syslog"
	}
	return d, err
}

// detect finds the format of the lines of a sample.
func detect(lines [][]byte, o parse.Options) (Detection, error) {
	if len(lines) == 0 {
		format, err := Named("combined", o)
		return Detection{Format: format, Warnings: []string{"no line shows the format: combined is assumed"}}, err
	}
	var best Detection
	var tried []Detection
	for _, compile := range candidates(lines) {
		format, err := compile(o)
		if err != nil {
			return Detection{}, err
		}
		d := judge(format, lines)
		tried = append(tried, d)
		if best.Format == nil || d.better(best) { // the first of several that are as good is the best
			best = d
		}
	}
	if best.sound*100 >= minRead*best.Lines {
		return best.withTail(lines, o)
	}
	unknown := &UnknownFormatError{First: showLine(lines[0]), Lines: len(lines), tried: tried}
	for _, l := range lookalikes {
		if unknown.looks == "" && parse.Mostly(lines, l.line.Match) {
			unknown.looks = l.says
		}
	}
	return Detection{}, unknown
}

// better reports whether d is to be preferred. A line that is read but makes no sense counts against a format twice: it
// would put requests on the wrong client.
func (d Detection) better(other Detection) bool {
	score := func(d Detection) int { return d.sound - 2*(d.Read-d.sound) }
	return cmp.Or(cmp.Compare(score(d), score(other)), cmp.Compare(d.learnt, other.learnt)) > 0
}

// A candidate compiles a format that detection may take.
type candidate func(o parse.Options) (*parse.Format, error)

// candidates are the formats to try: of a log that looks like JSON the servers' own mappings, and all known names as
// far as the sample has them; else those of text.
func candidates(lines [][]byte) (all []candidate) {
	named := func(name string) candidate {
		return func(o parse.Options) (*parse.Format, error) { return Named(name, o) }
	}
	if !parse.Mostly(lines, jsonLike) {
		for _, name := range detectable {
			all = append(all, named(name))
		}
		return all
	}
	for _, k := range parse.KnownJSON {
		all = append(all, named(k.Name))
	}
	return append(all, func(o parse.Options) (*parse.Format, error) {
		return parse.CompileNamedJSON("json", parse.FieldMapping(nil).WithKnown().Found(lines), o)
	})
}

// sampleLines are the lines of a sample without their endings, and without empty lines and comments.
func sampleLines(sample []byte) (lines [][]byte) {
	for line := range bytes.Lines(sample) {
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}
