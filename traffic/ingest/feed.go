package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"shadow/limit"
	"shadow/logfile"
	"shadow/parse"
	"shadow/traffic"
)

// A feed is one input on its way through a Reader.
type feed struct {
	name      string
	index     int           // among the names
	part      logfile.Range // what of it is to be read, if not all
	after     *feed         // the one before it of the same log; nil: none
	input     *logfile.Input
	format    *parse.Format // nil for an input without a line
	warnings  []string
	rank      uint32         // among the inputs, by first moment and name: the order on the command line does not matter
	opening   uint64         // see openingOf
	hosts     map[string]int // in the referers of files at its beginning; nil: not wanted
	whole     bool           // its stamps are whole seconds, and that is wanted to be known
	begins    limit.Time     // its first moment, whatever takes part: the same for each span
	first     limit.Time     // a moment from which on the input tells, MinTime if its beginning does not say
	reached   atomic.Int64   // how far in time the input has come, for the choice of what to read next
	exhausted bool           // fetch has seen the end

	progress *progress // what collect has let through of its log
	finished bool      // collect has seen the end
	looked   bool      // whether a request of it has taken part
	fields   uint64    // of those that tiers go by: which its requests had
	requests int64     // of it that took part
	strange  strangers
	stats    InputStats
	faults   []FaultAt // the first few
}

// openFeeds opens inputs and looks at the beginning of each: for its format, and for its place among the others. passed
// says of the inputs that were passed over why.
func openFeeds(names []string, stdin io.Reader, o *Options) (feeds []*feed, passed []error, err error) {
	for i, name := range names {
		var part logfile.Range // all of it
		if o.Resume != nil {
			part = o.Resume.Ranges[i]
		}
		f, err := openFeed(name, stdin, part, o)
		switch {
		case err == nil:
			f.index = i
			feeds = append(feeds, f)
		case o.Guessed[name] != "":
			passed = append(passed, err)
		default:
			closeFeeds(feeds)
			return nil, nil, err
		}
	}
	if len(feeds) == 0 && len(passed) > 0 && (o.Resume == nil || o.Resume.Logs == 0) {
		return nil, nil, nothingToRead(names, passed, o)
	}
	tellPipes(feeds)
	if err = tellApart(feeds, o); err == nil {
		err = arrange(feeds, o)
	}
	if err != nil {
		closeFeeds(feeds)
		return nil, nil, err
	}
	if len(feeds) > mostHeld {
		for _, f := range feeds {
			f.input.HoldNothing()
		}
	}
	return feeds, passed, nil
}

// mostHeld is how many inputs may hold a descriptor each while they are merged.
const mostHeld = 500

// arrange puts feeds in the order of their ranks.
func arrange(feeds []*feed, o *Options) error {
	if o.Resume != nil {
		return o.Resume.arrange(feeds)
	}
	slices.SortStableFunc(feeds, earlier)
	for i, f := range feeds {
		f.rank = uint32(i)
	}
	return nil
}

// earlier orders feeds by their first moments, then by name.
func earlier(f, g *feed) int {
	return cmp.Or(cmp.Compare(f.begins, g.begins), cmp.Compare(f.name, g.name))
}

// nothingToRead says that no file of the directories that were given can be read, and what is wrong with the first.
func nothingToRead(names []string, passed []error, o *Options) error {
	var dirs []string
	for _, name := range names {
		if dir := o.Guessed[name]; !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	place := strings.Join(dirs, ", ")
	if len(passed) == 1 {
		return fmt.Errorf("%s: the one file that could be a log by its name is none that can be read: %w", place, passed[0])
	}
	return fmt.Errorf("%s: none of the %d files that could be logs by their names can be read; the first is %w", place, len(passed), passed[0])
}

// tellPipes warns of pipes that begin as another input does. They can be read only once, so that nothing more is known.
func tellPipes(feeds []*feed) {
	first := map[uint64]*feed{}
	for _, f := range feeds {
		if f.input.Size() >= 0 && f.opening != 0 && first[f.opening] == nil {
			first[f.opening] = f
		}
	}
	for _, f := range feeds {
		if f.input.Size() >= 0 || f.opening == 0 {
			continue
		}
		if other := first[f.opening]; other != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("begins as %s does: if it is the same log, its lines count twice", other.name))
		} else {
			first[f.opening] = f
		}
	}
}

// openingLines is how many lines of an input are its opening, which no two hosts share by chance.
const openingLines = 10

// openingOf is a hash of the first lines of an input; 0 if it has fewer, or too long ones.
func openingOf(sample []byte) uint64 {
	end := 0
	for range openingLines {
		n := bytes.IndexByte(sample[end:], '\n') + 1
		if n == 0 {
			return 0
		}
		end += n
	}
	h := fnv.New64a()
	h.Write(sample[:end])
	return h.Sum64()
}

// tellApart warns of inputs that do not tell by what requests are to be told apart: all of theirs count as one. When no
// input tells it, that is an error.
func tellApart(feeds []*feed, o *Options) error {
	var none error
	told := false
	for _, f := range feeds {
		if f.format == nil {
			continue
		}
		what := o.lacks(f.format)
		if what == "" {
			told = true
			continue
		}
		f.warnings = append(f.warnings, fmt.Sprintf("%s is not logged: its requests count as those of one, \"-\"", what))
		none = cmp.Or(none, error(&MissingFieldError{Field: what, text: fmt.Sprintf(
			"%s: the format %s does not tell %s; if the log does, state the whole of its format: %s …",
			f.name, f.format.Name, what, f.format.Text)}))
	}
	if told {
		return nil
	}
	return none
}

func closeFeeds(feeds []*feed) {
	for _, f := range feeds {
		f.close()
	}
}

func openFeed(name string, stdin io.Reader, part logfile.Range, o *Options) (*feed, error) {
	input, err := logfile.OpenInput(name, stdin)
	if err != nil {
		return nil, err
	}
	f := &feed{name: name, part: part, input: input, progress: newProgress(), first: traffic.MinTime}
	f.stats = InputStats{FirstAt: traffic.MaxTime, LastAt: traffic.MinTime}
	sample, err := input.Peek()
	if o.Resume != nil && !part.Compressed {
		sample = sample[:bytes.LastIndexByte(sample, '\n')+1] // whole lines
	}
	f.opening = openingOf(sample)
	if err == nil && len(sample) > 0 {
		err = f.look(sample, o)
	}
	if err != nil {
		input.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.reached.Store(int64(f.first))
	return f, nil
}

// look chooses the format from the beginning of the input, and skips what lies before the time that takes part.
func (f *feed) look(sample []byte, o *Options) error {
	found, err := o.Format.For(sample)
	if err == nil && o.Guessed[f.name] != "" {
		err = found.Misfit()
	}
	if err != nil {
		return err
	}
	f.format, f.warnings = found.Format, append(found.Warnings, o.Scopes.Lacks(found.Format)...)
	f.hosts = o.Tracer.OwnHosts(records(sample, f.format))
	begins, first, takesPart := newProgress(), newProgress(), o.takesPart()
	f.whole = o.Band
	for r := range records(sample, f.format) {
		if begins.reached == traffic.MinTime {
			begins.pass(r.Start, 0)
		}
		if first.reached == traffic.MinTime && takesPart(r) {
			first.pass(r.Start, 0)
		}
		// Where some stamps have a fraction of a second, one without is no whole second but a fraction of zero.
		f.whole = f.whole && r.Stamp%limit.Second == 0
		if first.reached != traffic.MinTime && !f.whole {
			break
		}
	}
	f.begins, f.first = begins.reached, first.reached
	span := o.span()
	if span.warm == traffic.MinTime || f.part.From != (logfile.Place{}) {
		return nil
	}
	parser, record := f.format.NewParser(), new(parse.Record)
	return f.input.SkipTo(func(line []byte) (older, known bool) {
		fault := parser.Parse(line, record)
		return record.Start < span.warm-o.Lateness, fault.OK()
	})
}

// records yields the requests of a sample. It parses a copy, since a parser may change the lines.
func records(sample []byte, format *parse.Format) iter.Seq[*parse.Record] {
	return func(yield func(*parse.Record) bool) {
		var record parse.Record
		parser, rest := format.NewParser(), slices.Clone(sample)
		for len(rest) > 0 {
			var line []byte
			line, rest = logfile.CutLine(rest)
			if len(line) > 0 && len(line) <= logfile.MaxLine && parser.Parse(line, &record).OK() && !yield(&record) {
				return
			}
		}
	}
}

// wholeSecond is the slack of stamps in whole seconds.
const wholeSecond = limit.Second - limit.Microsecond

// coarseness is that of some inputs. Where some are stamped in whole seconds and others are not, it is that of those
// that are.
func coarseness(feeds []*feed) (c traffic.Coarseness) {
	for _, f := range feeds {
		if f.whole {
			c.Slack = wholeSecond
			c.Ends = c.Ends || !f.has(parse.FieldRequestTime)
		}
	}
	return c
}

// has reports whether the input's format has a field.
func (f *feed) has(field parse.Field) bool { return f.format != nil && f.format.Has(field) }

// next reads the next block.
func (f *feed) next(b *logfile.Block) error {
	if f.format == nil {
		return io.EOF
	}
	return f.input.Next(b)
}

// publish tells fetch how far the input has come.
func (f *feed) publish() { f.reached.Store(int64(max(f.first, f.progress.reached))) }

func (f *feed) close() { f.input.Close() }

// watermarkOf is the moment before which nothing can come any more.
func watermarkOf(feeds []*feed, lateness limit.Time) limit.Time {
	lowest := traffic.MaxTime
	for _, f := range feeds {
		if !f.finished && (f.after == nil || f.after.finished) {
			lowest = min(lowest, limit.Time(f.reached.Load()))
		}
	}
	return max(traffic.MinTime, lowest-lateness)
}
