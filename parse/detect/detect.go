package detect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"shadow/internal/lazy"
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
var detectable = []string{"combined", "vhost-combined", "apache-combined", "apache-iso", "nginx-iso", "bare", "haproxy", "alb", "elb", "s3", "envoy", "istio", "apisix", "npm-proxy", "npm-standard", "gin", "bunny", "gitea", "squid", "uwsgi"}

// webServers is the number of these that are formats of web servers.
const webServers = 6

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

	sound  int // how many of the lines read have a client that can be one
	learnt int // how many fields the sound lines have
	agents int // how many of them have a referer or an agent
	// how many have in the place of the referer a query, an agent, or a referer; and how many a query in their target
	queries, alone, referers, queried int
	fault                             parse.Fault // of the first line that cannot be read or is not sound
}

// A Detector finds the formats of logs that are read together. Several goroutines may use it at a time. Logs of the
// same format share one Format.
type Detector struct {
	choice Choice

	mu       sync.Mutex
	compiled map[string]compiled // by what was compiled
	last     string              // the candidate that the log before was found with
	fields   error               // of a mapping that is none
	wrapped  *Detector           // see timeless
}

// compiled holds the result of compiling a format.
type compiled struct {
	format *parse.Format
	err    error
}

// NewDetector returns one that finds formats as c says.
func NewDetector(c Choice) *Detector {
	d := &Detector{choice: c, compiled: map[string]compiled{}}
	if c.Fields != "" {
		if d.choice.Options.Fields, d.fields = parse.ParseFieldMapping(c.Fields); d.fields != nil {
			d.fields = fmt.Errorf("--field: %w", d.fields)
		}
	}
	return d
}

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
	if err := refuse(sample); err != nil {
		return Detection{}, err
	}
	if header := w3cHeader(sample); header != "" && !parse.Mostly(lines, jsonLike) {
		format, err := d.once(header, func() (*parse.Format, error) { return parse.CompileW3C(header, d.choice.Options) })
		if err != nil {
			return Detection{}, err
		}
		found := judge(format, lines, nil)
		if 100*found.Read >= minRead*found.Lines {
			return found, nil
		}
		if found.Read == 0 {
			return found, fmt.Errorf("no line has the columns of %q: %s (column %d); state them with --format '#Fields: …'", showLine([]byte(header)), found.fault.Reason, found.fault.Column)
		}
	}
	if found, ok := d.columns(sample, lines); ok {
		return found, nil
	}
	if len(lines) > 0 {
		if w := parse.ColumnWrapping(string(lines[0])); w != nil {
			if found, err := d.within(w, lines[1:], mostWrappings); err == nil && found.Read > 0 {
				return found, nil
			}
		}
	}
	return d.unwrap(lines, mostWrappings)
}

// columns finds the format of lines behind a header that names their columns.
func (d *Detector) columns(sample []byte, lines [][]byte) (found Detection, ok bool) {
	if len(lines) == 0 {
		return found, false
	}
	header := string(lines[0])
	if at := bytes.Index(sample, []byte(parse.ZeekHeader)); at >= 0 && (at == 0 || sample[at-1] == '\n') {
		line, _, _ := bytes.Cut(sample[at:], []byte{'\n'})
		header = string(bytes.TrimRight(line, "\r"))
	} else {
		lines = lines[1:]
	}
	names := parse.ColumnNames(header)
	if len(names) < leastColumns || parse.SeparatorOf(header) == " " || slices.ContainsFunc(names, func(name string) bool {
		return !columnName().MatchString(name)
	}) {
		return found, false
	}
	format, err := d.once(header, func() (*parse.Format, error) { return parse.CompileColumns(header, d.choice.Options) })
	if err != nil || !format.Has(parse.FieldClient) && !format.Has(parse.FieldPath) {
		return found, false
	}
	found = judge(format, lines, nil)
	return found, found.sound > 0 && 100*found.sound >= minRead*found.Lines
}

// leastColumns is the fewest columns that make a header.
const leastColumns = 3

// columnName matches the names that a header may have for columns.
var columnName = lazy.Regexp(`^[A-Za-z_@][^"\[\]{}=?:]{0,50}$`)

// w3cHeader is the first line of a sample that names the columns of W3C's format, "" if there is none.
func w3cHeader(sample []byte) string {
	for line := range bytes.Lines(sample) {
		if bytes.HasPrefix(line, []byte(parse.W3CHeader)) {
			return string(bytes.TrimRight(line, "\r\n"))
		}
	}
	return ""
}

// mostWrappings is the most wrappings that a line may have: docker compose writes lines of syslog, which write others.
const mostWrappings = 3

// unwrap finds the format of lines that may be wrapped in others. A wrapping of text is looked for first, since names
// of containers and times can pass for names of hosts; one of JSON last, since an object can hold a line and its fields.
func (d *Detector) unwrap(lines [][]byte, most int) (Detection, error) {
	text := parse.TextWrapping(lines)
	if most == 0 {
		text = nil
	}
	var within error
	if text != nil {
		found, err := d.within(text, lines, most)
		if err == nil && text.Name == parse.Timestamped && strings.HasPrefix(found.Format.Name, guessedName) {
			if own, err := d.find(lines); err == nil && own.sound >= found.sound && !strings.HasPrefix(own.Format.Name, guessedName) {
				return own, nil // a format whose lines begin with a time
			}
		}
		if err == nil {
			return found, nil
		}
		within = err
	}
	found, err := d.find(lines)
	if err == nil || most == 0 {
		return found, err
	}
	if object := parse.JSONWrapping(lines); object != nil {
		return d.within(object, lines, most)
	}
	if text != nil && text.Name != parse.Timestamped {
		err = within
	}
	return found, err
}

// within is unwrap for the lines in a wrapping.
func (d *Detector) within(w *parse.Wrapping, lines [][]byte, most int) (Detection, error) {
	bare := slices.DeleteFunc(w.Lines(lines), func(line []byte) bool { return len(line) == 0 })
	found, err := d.timeless().unwrap(bare, most-1)
	if err != nil {
		return found, err
	}
	if !found.Format.Has(parse.FieldTime) {
		warnings := found.Warnings
		if found = judge(found.Format.In(w), lines, nil); 100*found.sound < minRead*len(lines) {
			return found, fmt.Errorf("the lines have no time, and there is none %s around them", w.Name)
		}
		found.Warnings = warnings
		return found, nil
	}
	found.Lines = len(lines)
	if w.Name == "behind syslog" && isHAProxy(found.Format) {
		return found, nil
	}
	found.Format, err = d.once(w.Name+"\n"+found.Format.Name+"\n"+found.Format.Text, func() (*parse.Format, error) {
		return found.Format.In(w), nil
	})
	return found, err
}

// timeless is a detector of formats whose lines may lack a time.
func (d *Detector) timeless() *Detector {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wrapped == nil {
		d.wrapped = NewDetector(d.choice)
		d.wrapped.choice.Options.Timeless = true
	}
	return d.wrapped
}

// find finds the format of the lines of a sample.
func (d *Detector) find(lines [][]byte) (Detection, error) {
	if len(lines) == 0 {
		format, err := d.named("combined")
		return Detection{Format: format, Warnings: []string{"no line shows the format: combined is assumed"}}, err
	}
	formats, first, said, err := d.candidates(lines)
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
		best.Warnings = append(best.Warnings, said[best.Format]...)
		found, err := d.withTail(best, lines)
		if err != nil {
			return found, err
		}
		return d.orGuess(found, lines), nil
	}
	g := d.guess(lines)
	if g.Lines >= readGuess && g.Format.Has(parse.FieldStatus) {
		return g.taken(), nil
	}
	unknown := &UnknownFormatError{First: showLine(lines[0]), Lines: len(lines), guess: g.text, read: g.sound, bare: !slices.ContainsFunc(lines, address().Match)}
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

// Unread is the warning of a format that may miss user agents.
const Unread = "text in quotes is not read, and may be that of referers and user agents: state the whole format with --format"

// orGuess takes a guess in the place of a format that leaves text in quotes unread, if it finds user agents there; and
// another format beside one that leaves lines unread, if it reads these.
func (d *Detector) orGuess(found Detection, lines [][]byte) Detection {
	found = d.ofLighttpd(d.withoutUpstream(d.withCaptured(found, lines), lines), lines)
	if rest := found.unread(lines); len(rest) >= leastOther && 100*len(rest) >= otherShare*len(lines) {
		if other, err := d.find(rest); err == nil && 100*other.sound >= guessShare*other.Lines {
			both := judge(parse.Either(found.Format, other.Format), lines, nil)
			both.Warnings = append(found.Warnings, other.Warnings...)
			return both
		}
	}
	unread := found.leavesQuotes(lines)
	if !unread && !found.swapped() || !strings.ContainsAny(found.Format.Text, "$%") {
		return found
	}
	if g := d.guess(lines); g.agents > 0 && g.sound >= found.sound && !g.swapped() &&
		(!strings.HasPrefix(found.Format.Text, "%h") || strings.HasPrefix(g.Format.Text, "$remote_addr")) { // another may be the server's
		return g.taken()
	}
	if unread {
		found.Warnings = append(found.Warnings, Unread)
	}
	return found
}

// swapped reports whether a warning says that agents are something else.
func (d *Detection) swapped() bool {
	return slices.ContainsFunc(d.Warnings, func(text string) bool { return strings.Contains(text, areURLs) })
}

// A second format is looked for where so many lines, and so many of a hundred, are not of the first.
const leastOther, otherShare = 2, 5

// unread returns the lines that a format does not read.
func (d *Detection) unread(lines [][]byte) (rest [][]byte) {
	if d.Read == d.Lines {
		return nil
	}
	p, r, work := d.Format.NewParser(), new(parse.Record), []byte(nil)
	for _, line := range lines {
		work = append(work[:0], line...)
		if fault := p.Parse(work, r); !fault.OK() && fault != parse.Comment {
			rest = append(rest, line)
		}
	}
	return rest
}

// leavesQuotes reports whether most lines have text in quotes that a format does not read, and what it takes for agents
// are none.
func (d *Detection) leavesQuotes(lines [][]byte) bool {
	if d.agents > 0 && !d.swapped() {
		return false
	}
	read := strings.Count(d.Format.Text, `"`) - 2*strings.Count(d.Format.Text, `"$field`) - 2*strings.Count(d.Format.Text, `"$upstream_field`)
	return parse.Mostly(lines, func(line []byte) bool { return bytes.Count(line, []byte{'"'})-bytes.Count(line, []byte(`\"`)) > read })
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
// far as the sample has them; else those of text. first is the one that the log before was found with, said what to
// tell of one that is chosen.
func (d *Detector) candidates(lines [][]byte) (all []*parse.Format, first int, said map[*parse.Format][]string, err error) {
	said = map[*parse.Format][]string{}
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
			return nil, 0, nil, err
		}
		all = append(all, format)
	}
	if isJSON {
		known := d.choice.Options.Fields.WithKnown()
		found := known.Found(lines)
		if !found.Whole(true) || len(found["time"])+len(found["start"]) == 0 {
			if more := found.Or(known.Named(parse.NamesIn(lines))); more.Whole(false) {
				found = more
			}
		}
		found, notes := d.settle(found, lines, parse.CompileJSON)
		found = found.Timed(known)
		format, err := d.once("json "+found.String(), func() (*parse.Format, error) {
			return parse.CompileNamedJSON("json", found, d.choice.Options)
		})
		if err != nil {
			return nil, 0, nil, err
		}
		all, said[format] = append(all, format), notes
	}
	if pairs := parse.Pairs(lines); pairs != nil {
		found, notes := d.settle(pairs.Mapping(d.choice.Options.Fields.WithKnown(), lines), lines, pairs.Compile)
		format, err := d.once(pairs.Name+" "+found.String(), func() (*parse.Format, error) {
			return pairs.Compile(found, d.choice.Options)
		})
		if err != nil {
			return nil, 0, nil, err
		}
		all, said[format] = append(all, format), notes
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	first = slices.IndexFunc(all, func(f *parse.Format) bool { return f.Name == d.last })
	return all, max(first, 0), said, nil
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
