package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/parse"
	"shadow/parse/detect"
)

// openFeeds opens inputs and looks at the beginning of each: for its format, and for its place among the others.
// passed says of the inputs that were passed over why.
func openFeeds(names []string, stdin io.Reader, o *Options) (feeds []*feed, passed []error, err error) {
	opening := opening{
		options: o, formats: detect.NewDetector(o.Format), names: names, end: len(names),
		inputs: make([]*logfile.Input, len(names)), feeds: make([]*feed, len(names)), errs: make([]error, len(names)),
	}
	opening.run(stdin)
	for i, err := range opening.errs[:opening.end] {
		if err == nil {
			feeds = append(feeds, opening.feeds[i])
		} else {
			passed = append(passed, err)
		}
	}
	if opening.end < len(names) {
		for _, input := range opening.inputs {
			if input != nil {
				input.Close()
			}
		}
		return nil, nil, opening.errs[opening.end]
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

// mostHeld is the most inputs that may hold a descriptor each while they are merged.
const mostHeld = 500

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

// An opening opens inputs, files side by side: thousands of them take a while.
type opening struct {
	options *Options
	formats *detect.Detector
	names   []string
	inputs  []*logfile.Input
	feeds   []*feed
	errs    []error // why there is no feed

	mu   sync.Mutex
	next int // the next input to open
	end  int // the first input that cannot be opened, and was not merely guessed at; those behind it may be missing
}

// run opens all inputs, or those up to one that ends it. Pipes and standard input, which may keep us waiting, come
// last and one after the other.
func (p *opening) run(stdin io.Reader) {
	var working sync.WaitGroup
	hands := cmp.Or(p.options.Workers, runtime.GOMAXPROCS(0))
	if slices.ContainsFunc(p.names, logfile.IsObject) {
		hands = max(hands, logfile.ObjectsAtOnce)
	}
	for range min(len(p.names), hands) {
		working.Go(func() {
			var room []byte // for what is looked at
			for i := p.take(); i >= 0; i = p.take() {
				input, err := logfile.OpenInput(p.names[i], stdin)
				if p.inputs[i] = input; err != nil {
					p.fail(i, err)
				} else if input.Size() >= 0 {
					room = p.look(i, room)
				}
			}
		})
	}
	working.Wait()
	for i, input := range p.inputs {
		if i < p.end && input != nil && input.Size() < 0 {
			p.look(i, nil)
		}
	}
}

// take returns the next input to open, -1 if there is none.
func (p *opening) take() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= p.end {
		return -1
	}
	p.next++
	return p.next - 1
}

// fail notes why an input cannot be opened.
func (p *opening) fail(i int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.errs[i] = err; p.options.Guessed[p.names[i]] == "" {
		p.end = min(p.end, i)
	}
}

// look makes a feed of an open input, by what it begins with. That is read into room, which comes back for the next
// one.
func (p *opening) look(i int, room []byte) []byte {
	o, input := p.options, p.inputs[i]
	f := &feed{name: p.names[i], index: i, input: input, progress: newProgress(), first: traffic.MinTime, begins: traffic.MaxTime, firstAt: traffic.MinTime}
	f.stats = InputStats{
		FirstAt: traffic.MaxTime, LastAt: traffic.MinTime, SeenFrom: traffic.MaxTime, SeenTo: traffic.MinTime,
	}
	if o.Resume != nil {
		f.part = o.Resume.Ranges[i]
	}
	room, err := input.PeekInto(room)
	sample := room
	if o.Resume != nil && !f.part.Compressed {
		sample = sample[:bytes.LastIndexByte(sample, '\n')+1] // whole lines
	}
	f.opening = openingOf(sample)
	if err == nil && len(sample) > 0 {
		err = f.look(sample, o, p.formats)
	}
	if err != nil {
		input.Close()
		p.fail(i, fmt.Errorf("%s: %w", f.name, err))
		return room
	}
	f.reached.Store(int64(f.first))
	p.feeds[i] = f
	return room
}

// boundFuture has stamps of a wrong clock move nothing, unless the input begins with such.
func (f *feed) boundFuture(o *Options) {
	if o.Future != 0 && f.begins <= o.Future {
		f.progress.future = o.Future
	}
}

// look chooses the format from the beginning of the input, and skips what lies before the time that takes part.
func (f *feed) look(sample []byte, o *Options, formats *detect.Detector) error {
	found, err := formats.For(sample)
	if err == nil && o.Guessed[f.name] != "" {
		err = found.Misfit()
	}
	if err != nil {
		return err
	}
	f.format, f.next, f.warnings = found.Format, found.Format, append(found.Warnings, o.Scopes.Lacks(found.Format)...)
	if o.Trial == nil {
		f.missing = missingParts(o.Values, sample, f.format)
	}
	f.warnings = append(f.warnings, o.neverAbsent(sample, f.format)...)
	f.hosts = o.ClueFinder.OwnHosts(records(sample, f.format))
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
	f.first = first.reached
	if begins.last != traffic.MinTime {
		f.begins = begins.last // of a single request
		if begins.reached != traffic.MinTime {
			f.begins = begins.reached
		}
	}
	f.boundFuture(o)
	if o.Spans != nil {
		if f.span = o.Spans[f.index]; f.format.MayChange() && !f.span.Empty() && f.span != (logfile.Span{To: f.input.Size()}) {
			return errors.New("its lines say themselves how they are to be read, so it can only be read from its beginning to its end")
		}
		return f.input.Within(f.span)
	}
	span := o.span()
	if span.warm == traffic.MinTime || o.Lines || f.part.From != (logfile.Place{}) || f.format.MayChange() {
		return nil
	}
	parser, record := f.format.NewParser(), new(parse.Record)
	return f.input.SkipTo(func(line []byte) (older, known bool) {
		fault := parser.Parse(line, record)
		if fault.OK() {
			f.stats.saw(record.Stamp)
		}
		return record.Start < span.warm-o.Lateness, fault.OK()
	})
}

// records yields the requests of a sample. It parses copies of the lines, since a parser may change them.
func records(sample []byte, format *parse.Format) iter.Seq[*parse.Record] {
	return func(yield func(*parse.Record) bool) {
		var record parse.Record
		var line []byte
		parser := format.NewParser()
		for original := range bytes.Lines(sample) {
			original, _ = logfile.CutLine(original)
			line = append(line[:0], original...)
			if len(line) > 0 && len(line) <= logfile.MaxLine && parser.Parse(line, &record).OK() && !yield(&record) {
				return
			}
		}
	}
}
