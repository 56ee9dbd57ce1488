package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"

	"shadow/internal/logfile"
	"shadow/internal/traffic"
	"shadow/limit"
)

// What the goroutines of a Reader do. The inputs belong to the worker whose turn it is to read, what waits and the
// statistics to collect, and a job to the one it was handed to last; only the time that an input has reached, and the
// tables, are used by several at once.

// work reads blocks in turn with other workers, and parses them. A worker keeps its one buffer, so that it parses what
// its core has just read, while that is still in the core's cache.
func (r *Reader) work(ctx context.Context, in *intake) {
	defer r.running.Done()
	var block logfile.Block
	for j := r.fetch(ctx, &block); j != nil; j = r.fetch(ctx, &block) {
		if ctx.Err() == nil && !j.end && j.err == nil {
			in.fill(&j.rows, &block, j.format)
		}
		j.done <- struct{}{}
	}
}

// fetch reads the next block, from the input that is furthest back, and queues a job for its rows. It returns nil when
// nothing more is to be read.
func (r *Reader) fetch(ctx context.Context, block *logfile.Block) *job {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.queued {
		return nil
	}
	f := r.current
	if f == nil {
		f = r.turn()
	}
	j := (*job)(nil)
	if f != nil {
		j = receive(ctx, r.free)
	}
	if j == nil {
		r.endQueue()
		return nil
	}
	clock := Stopwatch{Now: r.options.Clock}
	clock.Start()
	j.feed, j.format, j.end, j.took = f, f.next, false, 0
	j.err = f.read(block)
	clock.Lap(&j.took)
	clock.Stop()
	if j.err == io.EOF {
		j.err, j.end, f.exhausted = nil, true, true
	}
	if r.current = nil; !f.exhausted && f.input.AtEnd() {
		r.current = f // so that an input that is read is done with at once
	}
	r.queue <- j // has room for every job
	if j.err != nil {
		r.endQueue()
	}
	return j
}

// turn returns the input to read next; nil when all are at their end.
func (r *Reader) turn() *feed {
	if !r.options.AsRead {
		f := r.turns.next()
		r.turns.prefetch(f)
		return f
	}
	i := slices.IndexFunc(r.feeds, func(f *feed) bool { return !f.exhausted })
	if i < 0 {
		return nil
	}
	return r.feeds[i]
}

// endQueue ends reading, for all workers.
func (r *Reader) endQueue() {
	r.queued = true
	close(r.queue)
}

// receive takes the next value from a channel, or the zero value when the context is done or the channel closed.
func receive[T any](ctx context.Context, from <-chan T) (v T) {
	select {
	case v = <-from:
	case <-ctx.Done():
	}
	return v
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
		if r.err = j.feed.strangeClients(j.end); r.err != nil {
			return
		}
		r.free <- j
		if r.options.AsRead {
			if !r.handAll(ctx) {
				break
			}
			continue
		}
		if r.pending.Len() < next {
			continue
		}
		if !r.emit(ctx, watermarkOf(r.feeds, r.options.Lateness)) {
			break
		}
		if n := r.pending.Len(); n > 0 && n > waiting-batch && !r.emit(ctx, r.pending.oldest()) {
			break
		}
		next = r.pending.Len() + batch
	}
	if ctx.Err() == nil {
		r.finish(ctx)
	}
	r.err = ctx.Err()
}

// finish hands out what is left, or what another Reader is not to go on with.
func (r *Reader) finish(ctx context.Context) {
	if r.options.Resume == nil {
		r.emit(ctx, traffic.MaxTime)
	} else if r.emit(ctx, r.stop()) {
		r.stats.Held, r.stats.HeldFrom = r.held()
		r.stats.Whole -= r.wholeHeld()
		r.stats.FirstAt, r.stats.LastAt = r.judged.first, r.judged.last
	}
	r.stats.Marked = r.stats.Marked&^r.options.Scopes.Busy() | r.pending.held
	r.stats.Armed = r.pending.load.Armed()
	r.stats.close(r.feeds)
}

// account adds a job's rows to those that wait, and its figures to the statistics.
func (r *Reader) account(j *job) {
	if j.end {
		if j.feed.looked {
			j.feed.warnings = append(j.feed.warnings, r.options.Scopes.Unseen(j.feed.format, j.feed.fields)...)
			j.feed.warnings = append(j.feed.warnings, j.feed.unvalued(r.options.Values.Parts())...)
		}
		r.stats.finish(j.feed)
		return
	}
	clock := Stopwatch{Now: r.options.Clock}
	clock.Start()
	if r.pending.Source != nil {
		j.rows.Source = append(j.rows.Source, make([]uint32, j.rows.Len())...)
		for i := range j.rows.Source {
			j.rows.Source[i] = j.feed.rank
		}
	}
	for i := range j.rows.Line {
		j.rows.Line[i] += j.feed.stats.Lines + j.feed.comments
	}
	sum := r.pending.add(&j.rows.Batch, j.feed.progress)
	j.feed.publish()
	clock.Lap(&r.times.Order)
	clock.Stop()
	r.stats.count(j, sum)
	r.times.Read += j.took
	r.times.add(j.rows.times)
}

// emit hands out what waits and lies before the watermark, in batches of a bearable size: first what only warms the limiters. It
// returns false when the context is done.
func (r *Reader) emit(ctx context.Context, watermark limit.Time) bool {
	p := &r.pending
	watermark = min(watermark, r.ends())
	for p.Len() > 2*r.options.Batch {
		part := p.oldest()
		if part >= watermark {
			break
		}
		if !r.hand(ctx, part) {
			return false
		}
	}
	return r.hand(ctx, watermark)
}

// hand hands out what lies before the watermark, as one batch that warms and one that counts.
func (r *Reader) hand(ctx context.Context, watermark limit.Time) bool {
	warm := min(watermark, r.pending.since)
	return r.handOne(ctx, warm, warm > traffic.MinTime) && (watermark == warm || r.handOne(ctx, watermark, false))
}

// handAll hands out what waits, as it was read.
func (r *Reader) handAll(ctx context.Context) bool {
	if r.pending.Len() == 0 {
		return true
	}
	b := receive(ctx, r.spare)
	if b == nil {
		return false
	}
	b.Reset()
	r.pending.Batch, *b = *b, r.pending.Batch
	b.Stamps = r.stamps
	select {
	case r.batches <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Reader) handOne(ctx context.Context, watermark limit.Time, warm bool) bool {
	if watermark <= r.pending.watermark || r.pending.Len() == 0 {
		return true
	}
	b := receive(ctx, r.spare)
	if b == nil {
		return false
	}
	clock := Stopwatch{Now: r.options.Clock}
	clock.Start()
	if b.Reset(); cap(b.At) > 4*(r.pending.Len()+r.options.Batch) { // more waited once than does now
		*b = *r.newBatch()
	}
	r.pending.release(watermark, b, 2*r.options.Batch)
	b.Warm, b.Stamps = warm, r.stamps
	if r.options.Resume != nil && !warm {
		r.judged.cover(b)
	}
	clock.Lap(&r.times.Order)
	clock.Stop()
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
