package ingest

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"shadow/internal/mapped"
	"shadow/internal/traffic"
	"shadow/parse"
)

// Reading is a line of goroutines, so that all cores have work:
//
//	work (one per core): block ──▶ rows ──▶ collect ──▶ batches ──▶ Next
//
// Workers read in turn, each time the next block of the input that is furthest back in time, and turn their blocks into
// rows at the same time. collect takes the rows in the order in which their blocks were read. Jobs and batches go round
// in circles, so memory does not grow, and fast goroutines wait for slow ones.

// A Reader reads inputs and hands out their requests. It is a replay.Source.
type Reader struct {
	options Options
	feeds   []*feed
	logs    []*progress // of the logs, by rank; nil unless there is a Resume
	pending pending
	judged  added // the time of what has been handed out, if there is a Resume
	stats   Stats
	times   StageTimes
	stamps  traffic.Coarseness // of the inputs, if Options.Band

	cancel  context.CancelFunc
	queue   chan *job // in the order of blocks, to collect
	free    chan *job
	batches chan *traffic.Batch
	spare   chan *traffic.Batch
	last    *traffic.Batch // what Next returned
	next    *traffic.Batch // what it will return; nil: not known yet, or nothing
	err     error          // why reading ended, once batches is closed
	running sync.WaitGroup

	reading sync.Mutex // held by the worker that reads, which alone uses what follows
	turns   *turns
	current *feed // whose turn it is again; nil: turns say
	queued  bool  // whether all jobs are in the queue, which is closed
}

// A job is the rows of a block on their way.
type job struct {
	feed   *feed
	format *parse.Format // of the block
	rows   rows
	took   time.Duration // to read the block
	end    bool          // the feed has no more blocks
	err    error
	done   chan struct{} // holds one token when the rows are filled
}

// NewReader opens the inputs, which logfile.Expand has named, chooses their formats and starts to read. The Reader must be closed.
func NewReader(ctx context.Context, names []string, stdin io.Reader, o Options) (*Reader, error) {
	feeds, passed, err := openFeeds(names, stdin, &o)
	if err != nil {
		return nil, err
	}
	o.Batch, o.Waiting = cmp.Or(o.Batch, defaultBatch), cmp.Or(o.Waiting, defaultWaiting)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	var hosts []map[string]int // what the beginnings of the inputs say of the names of the site
	for _, f := range feeds {
		hosts = append(hosts, f.hosts)
	}
	o.ClueFinder = o.ClueFinder.Learned(hosts)
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{
		options: o, feeds: feeds, cancel: cancel, judged: added{first: traffic.MaxTime, last: traffic.MinTime},
		stats:  Stats{FirstAt: traffic.MaxTime, LastAt: traffic.MinTime, Passed: passed, JudgesNotHTTP: o.NotHTTP == JudgeNotHTTP, SiteHosts: o.ClueFinder.Hosts()},
		stamps: coarseness(feeds),
	}
	if o.Resume != nil && o.Band {
		r.stamps.Slack, r.stamps.Ends = max(r.stamps.Slack, o.Resume.Stamps.Slack), r.stamps.Ends || o.Resume.Stamps.Ends
	}
	if err := r.prepare(); err != nil {
		cancel()
		closeFeeds(feeds)
		return nil, err
	}
	r.start(ctx)
	return r, nil
}

// prepare makes room for what waits, and takes in what waited when another Reader stopped.
func (r *Reader) prepare() error {
	if r.options.Resume != nil {
		r.takeProgress()
	}
	r.pending = pending{
		Batch: *r.newBatch(), lateness: r.options.Lateness, since: r.options.span().since, watermark: traffic.MinTime,
		load: r.options.Scopes.NewLoad(),
	}
	if r.options.Resume == nil || r.options.Resume.Carried == nil {
		return nil
	}
	return r.restore()
}

// start makes the circles and sets the goroutines going.
func (r *Reader) start(ctx context.Context) {
	workers := r.options.Workers
	jobs := 2*workers + 2
	r.queue, r.free, r.turns = make(chan *job, jobs), make(chan *job, jobs), newTurns(r.feeds)
	r.batches, r.spare = make(chan *traffic.Batch), make(chan *traffic.Batch, 2)

	cols := r.columns()
	for range jobs {
		r.free <- &job{rows: rows{Batch: *traffic.NewBatch(0, cols)}, done: make(chan struct{}, 1)}
	}
	for range cap(r.spare) {
		r.spare <- r.newBatch()
	}
	span := r.options.span()
	r.running.Add(workers + 1)
	for range workers {
		go r.work(ctx, newIntake(&r.options, span, cols))
	}
	go r.collect(ctx)
}

// Names returns the names of the inputs, by Batch.Source. Without that column all requests are of the first.
func (r *Reader) Names() []string { return mapped.Of(r.feeds, func(f *feed) string { return f.name }) }

// newBatch returns an empty batch with room for what waits in most logs. It grows where more does.
func (r *Reader) newBatch() *traffic.Batch { return traffic.NewBatch(2*r.options.Batch, r.columns()) }

// Columns returns the optional columns of the batches.
func (r *Reader) Columns() traffic.Columns { return r.columns() }

// columns returns the optional columns that this run needs and its inputs have.
func (r *Reader) columns() traffic.Columns {
	has := func(field parse.Field) bool {
		return slices.ContainsFunc(r.feeds, func(f *feed) bool { return f.has(field) })
	}
	return r.options.Columns(max(len(r.feeds), len(r.logs)), has(parse.FieldUpstreamTime), has(parse.FieldForwarded))
}

func newIntake(o *Options, s span, cols traffic.Columns) *intake {
	in := &intake{
		tables: o.Tables, clients: o.Clients.NewExtractor(), ids: o.Tables.Clients.NewFinder(), agents: o.Tables.Agents.NewFinder(), actions: o.Actions.NewMatcher(), exclude: o.Exclude, notHTTP: o.NotHTTP,
		marker: o.Scopes.NewMarker(o.Tables, o.Clients), clues: o.ClueFinder.NewReader(), span: s, columns: cols, clock: Stopwatch{Now: o.Clock}, formats: map[*parse.Format]*parse.Lines{},
		addresses: o.Clients.IsAddress(), values: o.Values, trial: o.Trial, nginxPaths: o.NginxPaths,
	}
	if cols.Origins {
		in.origins = o.Clients.NewOrigins()
	}
	return in
}

// Next returns the next batch of requests, or io.EOF. The batch is valid until Next returns another one.
func (r *Reader) Next() (*traffic.Batch, error) {
	if r.last != nil {
		r.spare <- r.last
		r.last = nil
	}
	if !r.More() {
		return nil, cmp.Or(r.err, io.EOF)
	}
	r.last, r.next = r.next, nil
	return r.last, nil
}

// More waits for what Next will return, and reports whether that is a batch. What it has returned stays valid.
func (r *Reader) More() bool {
	if r.next == nil {
		r.next = <-r.batches
	}
	return r.next != nil
}

// Close ends reading and frees what it holds, the last batch as well. It does not wait for a pipe.
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
