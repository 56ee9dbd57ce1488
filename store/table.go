package store

import (
	"context"
	"fmt"
	"math"
	"sync"

	"shadow/limit"
	"shadow/replay"
)

// A table fills one table row by row. Events take a shorter way (see loader); everything else is small.
type table struct {
	*chunk
	name string
	row  int
	err  error // the first that happened
}

func (d *duck) table(name string) *table {
	c, err := d.newChunk(name)
	return &table{chunk: c, name: name, err: err}
}

// add appends a row. The type of each value must be that of its column to the bit; strings are made printable; nil
// is NULL. Errors wait for done.
func (t *table) add(values ...any) {
	if t.err != nil {
		return
	}
	if len(values) != len(t.types) {
		t.err = fmt.Errorf("%d values for %d columns", len(values), len(t.types))
		return
	}
	for i, v := range values {
		t.set(i, v)
	}
	if t.row++; t.row == chunkRows {
		t.flush()
	}
}

func (t *table) set(i int, value any) {
	switch v := value.(type) {
	case nil:
		t.setNull(i, t.row)
	case string:
		t.setText(i, t.row, encodeText(v))
	case []byte:
		t.setBytes(i, t.row, v)
	case bool:
		column[bool](t.chunk, i)[t.row] = v
	case int32:
		column[int32](t.chunk, i)[t.row] = v
	case int64:
		column[int64](t.chunk, i)[t.row] = v
	case uint64:
		column[uint64](t.chunk, i)[t.row] = v
	case float64:
		column[float64](t.chunk, i)[t.row] = v
	case limit.Time:
		if err := checkTime(v); err != nil && t.err == nil {
			t.err = err
		}
		column[limit.Time](t.chunk, i)[t.row] = v
	default:
		panic(fmt.Sprintf("store: table %s, column %d: no DuckDB type for %T", t.name, i, value))
	}
}

func (t *table) flush() {
	if t.err == nil && t.row > 0 {
		t.err = t.send(t.row)
	}
	t.row = 0
}

// done brings the rows into the table and tells the first error of all.
func (t *table) done() error {
	t.flush()
	if t.chunk != nil {
		closing := t.close
		if t.err != nil {
			closing = t.discard
		}
		if err := closing(); t.err == nil {
			t.err = err
		}
	}
	if t.err != nil {
		return fmt.Errorf("table %s: %w", t.name, t.err)
	}
	return nil
}

// The loader brings events into the database in a goroutine of its own:
//
//	Write ──copy──▶ buffer ──full──▶ loader ──vectors──▶ DuckDB
//	       ◀──free── the same few buffers, over and over
//
// When DuckDB falls behind, no buffer is free and Write waits. DuckDB compresses and writes a row group to the file
// as soon as it is full, long before the commit, so memory stays flat however many events a run has.

const (
	bufferEvents = 16 * 1024 // a multiple of chunkRows, so that only the last chunk of a run is not full
	bufferCount  = 4         // 2 MB in all
)

type loader struct {
	chunk *chunk
	run   int32

	full, free chan []replay.Event
	filling    []replay.Event // by Write
	stopped    chan struct{}  // closed when the goroutine has ended
	failed     chan struct{}  // closed at the first error
	failOnce   sync.Once
	err        error // the first error; read after failed or stopped

	refused              []int64 // sum of counts by policy
	maxClient, maxAction int32   // highest ids seen; −1: none
}

func startLoader(d *duck, run int32) (*loader, error) {
	c, err := d.newChunk("events")
	if err != nil {
		return nil, err
	}
	l := &loader{
		chunk: c, run: run,
		full: make(chan []replay.Event, bufferCount), free: make(chan []replay.Event, bufferCount),
		stopped: make(chan struct{}), failed: make(chan struct{}),
		maxClient: -1, maxAction: -1,
	}
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
	case <-l.failed:
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop loads what was written, ends the goroutine and tells the first error.
func (l *loader) stop() error {
	l.full <- l.filling
	close(l.full)
	<-l.stopped
	if l.err != nil {
		l.chunk.discard() //nolint:errcheck // the first error tells more
		return l.err
	}
	return l.chunk.close()
}

// cancel ends the goroutine and throws away what is still under way.
func (l *loader) cancel() {
	l.fail(context.Canceled)
	close(l.full)
	<-l.stopped
	l.chunk.discard() //nolint:errcheck // the transaction is about to be rolled back
}

func (l *loader) fail(err error) {
	l.failOnce.Do(func() {
		l.err = err
		close(l.failed)
	})
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
	for len(events) > 0 {
		select {
		case <-l.failed:
			return nil
		default:
		}
		n := min(len(events), chunkRows)
		for i := range events[:n] {
			if err := l.check(&events[i]); err != nil {
				return err
			}
		}
		l.fill(events[:n])
		if err := l.chunk.send(n); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// fill writes events into the vectors, column by column. The order is that of table events.
func (l *loader) fill(events []replay.Event) {
	run, policy, at := column[int32](l.chunk, 0), column[int32](l.chunk, 1), column[limit.Time](l.chunk, 2)
	client, action := column[int32](l.chunk, 3), column[int32](l.chunk, 4)
	status, count, degraded := column[uint16](l.chunk, 5), column[uint32](l.chunk, 6), column[bool](l.chunk, 7)
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
	if err := checkTime(e.At); err != nil {
		return err
	}
	for int(e.Policy) >= len(l.refused) {
		l.refused = append(l.refused, 0)
	}
	l.refused[e.Policy] += int64(e.Count)
	l.maxClient, l.maxAction = max(l.maxClient, e.Client), max(l.maxAction, e.Action)
	return nil
}

// checkTime refuses what DuckDB's TIMESTAMP cannot hold: it reserves the largest values for ±infinity, and its
// calendar begins in 290308 BC.
func checkTime(t limit.Time) error {
	if t < -9223372022400000000 || t == math.MaxInt64 {
		return fmt.Errorf("time %d µs: outside of what the database can store", t)
	}
	return nil
}
