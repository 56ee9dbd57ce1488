package traffic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"shadow/limit"
	"shadow/parse"
)

// Reading is a line of goroutines, so that all cores have work:
//
//	fetch ──▶ blocks ──▶ fill (one intake per core) ──▶ rows ──▶ collect ──▶ batches ──▶ Next
//
// fetch takes the next block from the input that is furthest back in time. The intakes turn blocks into rows at the
// same time; collect takes the rows in the order in which their blocks were fetched. Jobs and batches go round in
// circles, so memory stays what it is, and whoever is fast waits for whoever is slow.

// DefaultLateness is how far a replay lets requests come out of order.
const DefaultLateness = 20 * limit.Minute

// What Options.Batch and Options.Waiting are unless they say otherwise.
const (
	defaultBatch   = 512 << 10
	defaultWaiting = 4 << 20
)

// Options says what to read and how.
type Options struct {
	Tables   *Tables
	Clients  ClientRule
	Actions  *Actions
	Exclude  *Exclude // nil: nothing
	Format   parse.Choice
	Guessed  map[string]bool // inputs that are passed over when their format is not known, since nobody named them
	Lateness limit.Time
	Hosts    bool // whether the Host column is needed

	Since, Until limit.Time // requests outside are left out, if there are such bounds
	HasSince     bool
	HasUntil     bool
	Warmup       limit.Time // how long before Since requests are judged to warm the limiters; limit.Never: from the first line on

	Workers int // goroutines that parse; 0: one per core
	Batch   int // rows at which a batch is handed out; 0: half a million
	Waiting int // rows that may wait for older ones, beyond which the oldest are let go early; 0: four million

	Clock func() time.Time // to time the stages with; nil: they are not timed
}

// span is the time that takes part.
func (o *Options) span() span {
	s := span{warm: dawn, since: dawn, until: dusk}
	if o.HasSince {
		s.since = o.Since
		if o.Warmup < o.Since-dawn {
			s.warm = o.Since - o.Warmup
		}
	}
	if o.HasUntil {
		s.until = o.Until
	}
	return s
}

// A Reader reads inputs and hands out their requests. It is a replay.Source.
type Reader struct {
	options Options
	feeds   []*feed
	pending pending
	stats   Stats
	times   StageTimes

	cancel  context.CancelFunc
	jobs    chan *job // to the intakes
	queue   chan *job // the same, in order, to collect
	free    chan *job
	batches chan *Batch
	spare   chan *Batch
	last    *Batch // what Next returned
	err     error  // why reading ended, once batches is closed
	running sync.WaitGroup
}

// A job is a block on its way.
type job struct {
	feed  *feed
	block parse.Block
	rows  rows
	took  time.Duration // to fetch it
	end   bool          // the feed has no more blocks
	err   error
	done  chan struct{} // holds one token when the rows are filled
}

// NewReader opens the inputs, which parse.Expand has named, chooses their formats and starts to read. The Reader must be closed.
func NewReader(ctx context.Context, names []string, stdin io.Reader, o Options) (*Reader, error) {
	feeds, passed, err := openFeeds(names, stdin, &o)
	if err != nil {
		return nil, err
	}
	o.Batch, o.Waiting = cmp.Or(o.Batch, defaultBatch), cmp.Or(o.Waiting, defaultWaiting)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{options: o, feeds: feeds, cancel: cancel, stats: Stats{FirstAt: dusk, LastAt: dawn, Passed: passed}}
	r.start(ctx)
	return r, nil
}

// start makes the circles and sets the goroutines going.
func (r *Reader) start(ctx context.Context) {
	workers := r.options.Workers
	jobs := 2*workers + 2
	r.jobs, r.queue, r.free = make(chan *job, jobs), make(chan *job, jobs), make(chan *job, jobs)
	r.batches, r.spare = make(chan *Batch), make(chan *Batch, 2)

	cols := r.columns()
	for range jobs {
		r.free <- &job{rows: rows{Batch: *newBatch(0, cols)}, done: make(chan struct{}, 1)}
	}
	for range cap(r.spare) {
		r.spare <- newBatch(r.options.Batch, cols)
	}
	span := r.options.span()
	r.pending = pending{
		Batch: *newBatch(r.options.Waiting+r.options.Batch, cols), lateness: r.options.Lateness, since: span.since, floor: dawn,
	}
	r.running.Add(workers + 2)
	for range workers {
		go r.fill(ctx, r.newIntake(span, cols))
	}
	go r.fetch(ctx)
	go r.collect(ctx)
}

// columns are the optional columns that this run needs and its inputs have.
func (r *Reader) columns() columns {
	cols := columns{source: len(r.feeds) > 1, host: r.options.Hosts}
	for _, f := range r.feeds {
		cols.upstream = cols.upstream || f.has(parse.FieldUpstreamTime)
	}
	return cols
}

func (r *Reader) newIntake(s span, cols columns) *intake {
	o := &r.options
	return &intake{
		tables: o.Tables, clients: o.Clients.NewExtractor(), actions: o.Actions.NewMatcher(), exclude: o.Exclude,
		span: s, columns: cols, clock: stopwatch{now: o.Clock}, parsers: map[*parse.Format]parse.Parser{},
	}
}

// fetch reads blocks, always from the input that is furthest back.
func (r *Reader) fetch(ctx context.Context) {
	defer r.running.Done()
	defer close(r.queue)
	defer close(r.jobs)
	clock := stopwatch{now: r.options.Clock}
	for f := furthestBack(r.feeds); f != nil; f = furthestBack(r.feeds) {
		j := receive(ctx, r.free)
		if j == nil {
			return
		}
		clock.start()
		j.feed, j.end, j.took, j.err = f, false, 0, f.next(&j.block)
		clock.lap(&j.took)
		if j.err == io.EOF {
			j.err, j.end, f.exhausted = nil, true, true
		}
		r.queue <- j // has room for every job
		r.jobs <- j
		if j.err != nil {
			return
		}
	}
}

// receive takes the next value from a channel, or the zero value when the context is done or the channel closed.
func receive[T any](ctx context.Context, from <-chan T) (v T) {
	select {
	case v = <-from:
	case <-ctx.Done():
	}
	return v
}

// fill parses blocks.
func (r *Reader) fill(ctx context.Context, in *intake) {
	defer r.running.Done()
	for j := range r.jobs {
		if ctx.Err() == nil && !j.end && j.err == nil {
			in.fill(&j.rows, &j.block, j.feed.format)
		}
		j.done <- struct{}{}
	}
}

// collect puts rows in order and hands batches out.
func (r *Reader) collect(ctx context.Context) {
	defer r.running.Done()
	defer close(r.batches)
	batch, waiting := r.options.Batch, r.options.Waiting
	next := batch
	for j := receive(ctx, r.queue); j != nil; j = receive(ctx, r.queue) {
		<-j.done
		if ctx.Err() != nil {
			break // the rows may be those of an earlier block
		}
		if j.err != nil {
			r.err = fmt.Errorf("%s: %w", j.feed.name, j.err)
			return
		}
		r.account(j)
		r.free <- j
		if r.pending.Len() < next {
			continue
		}
		if !r.emit(ctx, floor(r.feeds, r.options.Lateness)) {
			break
		}
		if n := r.pending.Len(); n > 0 && n > waiting-batch && !r.emit(ctx, r.pending.oldest()) {
			break
		}
		next = r.pending.Len() + batch
	}
	if ctx.Err() == nil {
		r.emit(ctx, dusk)
		r.stats.close(r.feeds)
	}
	r.err = ctx.Err()
}

// account adds a job's rows to those that wait, and its figures to the statistics.
func (r *Reader) account(j *job) {
	if j.end {
		r.stats.finish(j.feed)
		return
	}
	clock := stopwatch{now: r.options.Clock}
	clock.start()
	if r.pending.Source != nil {
		j.rows.Source = append(j.rows.Source, make([]uint16, j.rows.Len())...)
		for i := range j.rows.Source {
			j.rows.Source[i] = j.feed.rank
		}
	}
	sum := r.pending.add(&j.rows.Batch, &j.feed.watermark)
	j.feed.publish()
	clock.lap(&r.times.Order)
	r.stats.count(j, sum)
	r.times.Read += j.took
	r.times.add(j.rows.times)
}

// emit hands out what waits and lies before the floor, in batches of a bearable size: first what only warms the
// limiters. It returns false when the context is done.
func (r *Reader) emit(ctx context.Context, floor limit.Time) bool {
	p := &r.pending
	for p.Len() > 2*r.options.Batch {
		part := p.oldest()
		if part >= floor {
			break
		}
		if !r.hand(ctx, part) {
			return false
		}
	}
	return r.hand(ctx, floor)
}

// hand hands out what lies before the floor, as one batch that warms and one that counts.
func (r *Reader) hand(ctx context.Context, floor limit.Time) bool {
	warm := min(floor, r.pending.since)
	return r.handOne(ctx, warm, warm > dawn) && (floor == warm || r.handOne(ctx, floor, false))
}

func (r *Reader) handOne(ctx context.Context, floor limit.Time, warm bool) bool {
	if floor <= r.pending.floor || r.pending.Len() == 0 {
		return true
	}
	b := receive(ctx, r.spare)
	if b == nil {
		return false
	}
	clock := stopwatch{now: r.options.Clock}
	clock.start()
	b.reset()
	b.Warm = warm
	r.pending.release(floor, b)
	clock.lap(&r.times.Order)
	if b.Len() == 0 {
		r.spare <- b
		return true
	}
	select {
	case r.batches <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// Next returns the next batch of requests, or io.EOF. The batch is valid until the next call of Next.
func (r *Reader) Next() (*Batch, error) {
	if r.last != nil {
		r.spare <- r.last
		r.last = nil
	}
	b, more := <-r.batches
	if !more {
		if r.err != nil {
			return nil, r.err
		}
		return nil, io.EOF
	}
	r.last = b
	return b, nil
}

// Close ends reading and frees what it holds. It does not wait for a pipe.
func (r *Reader) Close() error {
	r.cancel()
	closeFeeds(r.feeds)
	r.running.Wait()
	return nil
}

// Stats tells what was read. It must be called after Next has returned io.EOF.
func (r *Reader) Stats() Stats { return r.stats }

// Times tells how long the stages took. It must be called after Next has returned io.EOF.
func (r *Reader) Times() StageTimes { return r.times }

// Progress tells how many bytes of the inputs have been read, as they lie on disk, out of how many; 0 if that is not
// known. It may be called at any time.
func (r *Reader) Progress() (read, size int64) {
	for _, f := range r.feeds {
		read += f.input.Consumed()
		if f.input.Size() < 0 {
			return read, 0
		}
		size += f.input.Size()
	}
	return read, size
}
