package store

import (
	"context"
	"fmt"

	"shadow/limit"
	"shadow/replay"
	"shadow/store/duck"
)

// The loader brings events into the database in a goroutine of its own:
//
//	Write ──copy──▶ buffer ──full──▶ loader ──vectors──▶ DuckDB
//	       ◀──free── the same few buffers, over and over
//
// When DuckDB falls behind, no buffer is free and Write waits. DuckDB compresses and writes a row group to the file
// as soon as it is full, long before the commit, so memory stays flat however many events a run has.

const (
	bufferEvents = 16 * 1024 // a multiple of duck.ChunkRows, so that only the last chunk of a run is not full
	bufferCount  = 4         // 2 MB in all
)

type loader struct {
	chunk *duck.Chunk
	run   int32

	full, free chan []replay.Event
	filling    []replay.Event          // by Write
	stopped    chan struct{}           // closed when the goroutine has ended
	ctx        context.Context         // ends at the first error, its cause
	fail       context.CancelCauseFunc // with the first error

	refused              []int64 // sum of counts by policy
	maxClient, maxAction int32   // highest ids seen; −1: none
}

func startLoader(d *duck.Conn, run int32) (*loader, error) {
	c, err := d.NewChunk("events")
	if err != nil {
		return nil, err
	}
	l := &loader{
		chunk: c, run: run,
		full: make(chan []replay.Event, bufferCount), free: make(chan []replay.Event, bufferCount),
		stopped: make(chan struct{}), maxClient: -1, maxAction: -1,
	}
	l.ctx, l.fail = context.WithCancelCause(context.Background())
	for range bufferCount - 1 {
		l.free <- make([]replay.Event, 0, bufferEvents)
	}
	l.filling = make([]replay.Event, 0, bufferEvents)
	go l.work()
	return l, nil
}

// write copies the events whose policy is below keep.
func (l *loader) write(ctx context.Context, events []replay.Event, keep Events) error {
	for i := range events {
		if events[i].Policy >= int32(keep) {
			continue
		}
		if len(l.filling) == cap(l.filling) {
			if err := l.handOver(ctx); err != nil {
				return err
			}
		}
		l.filling = append(l.filling, events[i])
	}
	return nil
}

// handOver passes the filled buffer on and takes an empty one, waiting for it if need be.
func (l *loader) handOver(ctx context.Context) error {
	select {
	case b := <-l.free:
		l.full <- l.filling // has room for every buffer
		l.filling = b
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop loads what was written, ends the goroutine and returns the first error.
func (l *loader) stop() error {
	l.full <- l.filling
	close(l.full)
	<-l.stopped
	if err := context.Cause(l.ctx); err != nil {
		l.chunk.Discard() //nolint:errcheck // the first error says more
		return err
	}
	return l.chunk.Close()
}

// cancel ends the goroutine and throws away what is still under way.
func (l *loader) cancel() {
	l.fail(context.Canceled)
	close(l.full)
	<-l.stopped
	l.chunk.Discard() //nolint:errcheck // the transaction is about to be rolled back
}

func (l *loader) work() {
	defer close(l.stopped)
	for events := range l.full {
		if err := l.load(events); err != nil {
			l.fail(err)
		}
		l.free <- events[:0]
	}
}

// load moves one buffer into the database, a chunk at a time. After an error it does nothing.
func (l *loader) load(events []replay.Event) error {
	for len(events) > 0 && l.ctx.Err() == nil {
		n := min(len(events), duck.ChunkRows)
		for i := range events[:n] {
			if err := l.check(&events[i]); err != nil {
				return err
			}
		}
		l.fill(events[:n])
		if err := l.chunk.Send(n); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// fill writes events into the vectors, column by column. The order is that of table events.
func (l *loader) fill(events []replay.Event) {
	run, policy, at := duck.Column[int32](l.chunk, 0), duck.Column[int32](l.chunk, 1), duck.Column[limit.Time](l.chunk, 2)
	client, action := duck.Column[int32](l.chunk, 3), duck.Column[int32](l.chunk, 4)
	status, count, degraded := duck.Column[uint16](l.chunk, 5), duck.Column[uint32](l.chunk, 6), duck.Column[bool](l.chunk, 7)
	for i := range events {
		e := &events[i]
		run[i], policy[i], at[i] = l.run, e.Policy, e.At
		client[i], action[i] = e.Client, e.Action
		status[i], count[i], degraded[i] = e.Status, e.Count, e.Degraded
	}
}

// check refuses what no reader could make sense of, and keeps the sums that finish compares.
func (l *loader) check(e *replay.Event) error {
	if e.Policy < 0 || e.Client < 0 || e.Action < 0 {
		return fmt.Errorf("event of policy %d, client %d, action %d: an id is negative", e.Policy, e.Client, e.Action)
	}
	if err := duck.CheckTime(e.At); err != nil {
		return err
	}
	for int(e.Policy) >= len(l.refused) {
		l.refused = append(l.refused, 0)
	}
	l.refused[e.Policy] += int64(e.Count)
	l.maxClient, l.maxAction = max(l.maxClient, e.Client), max(l.maxAction, e.Action)
	return nil
}
