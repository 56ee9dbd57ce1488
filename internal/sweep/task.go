package sweep

import (
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// A counter finds, timeline by timeline, what limits of one shape the requests need. What it remembers of a key is its own.
type counter interface {
	// grow makes room for so many keys and clients.
	grow(keys, clients int)

	// judge takes in the next requests of a key.
	judge(p *segment)

	// release forgets a key.
	release(key int32)

	// finish forgets all keys and the room for them: no request comes any more.
	finish()
}

// A segment is requests of one key that follow each other.
type segment struct {
	key     int32
	rows    []int32 // of the batch
	at      []limit.Time
	clients []int32 // by row: their slots
	took    []int64 // by row: how long they take, in microseconds; nil: not asked for
	warm    bool    // whether they are to be counted nowhere
}

// client is the one that all requests of the segment are from, if keys belong to one client each.
func (p *segment) client() int32 { return p.clients[p.rows[0]] }

// A task can be run beside the others.
type task struct {
	*remembered
	counters []counter
	segment  segment
}

// remembered says how long keys are remembered, for the counters that forget a key at the same time, as a replay of one of
// their limits would.
type remembered struct {
	traffic.LastSeen
	by      []counter
	release func(key int32) // has all of them forget a key; made once
}

func newRemembered(lateness, horizon limit.Time) *remembered {
	r := &remembered{LastSeen: traffic.LastSeen{Lateness: lateness}}
	r.Remember(horizon)
	r.release = func(key int32) {
		for _, c := range r.by {
			c.release(key)
		}
	}
	return r
}

func newTask(lateness, horizon limit.Time) *task {
	return &task{remembered: newRemembered(lateness, horizon)}
}

func (t *task) add(c counter) { t.counters, t.by = append(t.counters, c), append(t.by, c) }

// judge takes in what the sieve has let through, by so many clients up to now.
func (t *task) judge(h *handful, clients int) {
	t.Update(&h.batch, &h.timelines)
	t.judgeSeen(h, clients)
}

// judgeSeen is judge of keys that have been updated.
func (t *task) judgeSeen(h *handful, clients int) {
	keys := h.timelines.Len
	if t.Once {
		keys = 1 // that are remembered at a time
	}
	for _, c := range t.counters {
		c.grow(keys, clients)
	}
	b := &h.batch
	t.segment.clients, t.segment.took, t.segment.warm = b.Client, b.Took, b.Warm
	for _, c := range t.counters {
		t.split(c, h)
	}
}

// split hands each timeline to a counter, in segments where the key resets.
func (t *task) split(c counter, h *handful) {
	l, resets := &h.timelines, t.Resets
	var start int32
	for i, end := range l.Ends {
		key := l.Keys[i]
		if t.Once {
			key = 0
		}
		for len(resets) > 0 && resets[0] < end {
			t.handOver(c, h, key, start, resets[0])
			c.release(key)
			start, resets = resets[0], resets[1:]
		}
		t.handOver(c, h, key, start, end)
		if start = end; t.Once {
			c.release(key)
		}
	}
}

// handOver hands a segment of a timeline to a counter, unless no request of it is wanted.
func (t *task) handOver(c counter, h *handful, key, start, end int32) {
	rows, at := h.timelines.Rows, h.timelines.At
	if filtered := h.filtered; filtered != nil {
		rows, at, start, end = filtered.rows, filtered.at, filtered.before[start], filtered.before[end]
	}
	if start == end {
		return
	}
	t.segment.key, t.segment.rows, t.segment.at = key, rows[start:end], at[start:end]
	c.judge(&t.segment)
}

// filtered holds the requests of one action among the timelines of a batch.
type filtered struct {
	rows   []int32
	at     []limit.Time
	before []int32 // by index into all requests, and their end: how many before it pass
}

// filter finds the requests of an action.
func (p *filtered) filter(b *traffic.Batch, l *traffic.Timelines, action match.ActionIDs) {
	p.rows, p.at, p.before = p.rows[:0], p.at[:0], p.before[:0]
	for i, row := range l.Rows {
		p.before = append(p.before, int32(len(p.rows)))
		if action.Has(b.Action[row]) {
			p.rows, p.at = append(p.rows, row), append(p.at, l.At[i])
		}
	}
	p.before = append(p.before, int32(len(p.rows)))
}
