package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"shadow/internal/store/duck"
	"shadow/limit"
	"shadow/replay"
)

// The loader brings events into files in a goroutine of its own:
//
//	Write ──copy──▶ buffer ──full──▶ loader ──vectors──▶ table in memory ──full──▶ refusals-1.parquet, -2 …
//	       ◀──free── the same few buffers, over and over
//
// When DuckDB falls behind, no buffer is free and Write waits, so memory stays flat however many events a run has.

const (
	bufferEvents = 16 * 1024 // a multiple of duck.ChunkRows, so that only the last chunk of a file is not full
	bufferCount  = 4         // 2 MB in all
	fileBuffers  = 60        // that go into one file: a million events, or 30 MB in memory
)

type loader struct {
	duck    *duck.Conn
	dir     string
	chunk   *duck.Chunk
	buffers int // that are in the table
	files   int // that are written

	full, free chan []replay.Event
	filling    []replay.Event          // by Write
	stopped    chan struct{}           // closed when the goroutine has ended
	ctx        context.Context         // ends at the first error, its cause
	fail       context.CancelCauseFunc // with the first error

	keep  Events
	sets  replay.Sets // of the policies whose events are kept
	setOf []int32     // by number of the writer's sets; −1: none of their policies is kept

	refused              []int64 // sum of counts by set
	maxClient, maxAction int32   // highest ids seen; −1: none
}

func startLoader(d *duck.Conn, dir string, keep Events) (*loader, error) {
	l := &loader{
		duck: d, dir: dir, keep: keep,
		full: make(chan []replay.Event, bufferCount), free: make(chan []replay.Event, bufferCount),
		stopped: make(chan struct{}), maxClient: -1, maxAction: -1,
	}
	var err error
	if l.chunk, err = d.NewChunk("refusals"); err != nil {
		return nil, err
	}
	l.ctx, l.fail = context.WithCancelCause(context.Background())
	for range bufferCount - 1 {
		l.free <- make([]replay.Event, 0, bufferEvents)
	}
	l.filling = make([]replay.Event, 0, bufferEvents)
	go l.work()
	return l, nil
}

// know gives sets that are new their numbers.
func (l *loader) know(sets *replay.Sets) {
	for _, of := range sets.All[len(l.setOf):] {
		kept := slices.DeleteFunc(slices.Clone(of), func(r replay.Refuser) bool { return r.Policy >= int32(l.keep) })
		id := int32(-1)
		if len(kept) > 0 {
			id = l.sets.ID(kept)
		}
		l.setOf = append(l.setOf, id)
	}
}

// write copies the events of policies that are kept.
func (l *loader) write(ctx context.Context, events []replay.Event, sets *replay.Sets) error {
	l.know(sets)
	for _, e := range events {
		if e.Set = l.setOf[e.Set]; e.Set < 0 {
			continue
		}
		if len(l.filling) == cap(l.filling) {
			if err := l.handOver(ctx); err != nil {
				return err
			}
		}
		l.filling = append(l.filling, e)
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
	l.chunk.Discard() //nolint:errcheck // nothing of it is wanted
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

// load moves one buffer into the table, a chunk at a time. After an error it does nothing.
func (l *loader) load(events []replay.Event) error {
	if l.buffers == fileBuffers && l.ctx.Err() == nil {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	l.buffers++
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

// rotate writes the table to a file, and empties it.
func (l *loader) rotate() error {
	l.files++
	l.buffers = 0
	err := l.chunk.Close()
	if err == nil {
		err = writeFile(l.duck, "refusals", filepath.Join(l.dir, fmt.Sprintf("refusals-%d.parquet", l.files)))
	}
	if err == nil {
		err = l.duck.Exec("TRUNCATE refusals")
	}
	if err == nil {
		l.chunk, err = l.duck.NewChunk("refusals")
	}
	return err
}

// fill writes events into the vectors, column by column. The order is that of table refusals.
func (l *loader) fill(events []replay.Event) {
	at, client, action := duck.Column[limit.Time](l.chunk, 0), duck.Column[int32](l.chunk, 1), duck.Column[int32](l.chunk, 2)
	status, count, set := duck.Column[uint16](l.chunk, 3), duck.Column[uint32](l.chunk, 4), duck.Column[int32](l.chunk, 5)
	for i := range events {
		e := &events[i]
		at[i], client[i], action[i] = e.At, e.Client, e.Action
		status[i], count[i], set[i] = e.Status, e.Count, e.Set
	}
}

// check refuses what no reader could make sense of, and keeps the sums that finish compares.
func (l *loader) check(e *replay.Event) error {
	if e.Client < 0 || e.Action < 0 {
		return fmt.Errorf("event of client %d, action %d: an id is negative", e.Client, e.Action)
	}
	if err := duck.CheckTime(e.At); err != nil {
		return err
	}
	for int(e.Set) >= len(l.refused) {
		l.refused = append(l.refused, 0)
	}
	l.refused[e.Set] += int64(e.Count)
	l.maxClient, l.maxAction = max(l.maxClient, e.Client), max(l.maxAction, e.Action)
	return nil
}

// byPolicy returns how many refused requests the events of each policy say.
func (l *loader) byPolicy() (refused []int64) {
	for set, n := range l.refused {
		for _, r := range l.sets.All[set] {
			for int(r.Policy) >= len(refused) {
				refused = append(refused, 0)
			}
			refused[r.Policy] += n
		}
	}
	return refused
}
