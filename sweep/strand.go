package sweep

import (
	"shadow/limit"
	"shadow/traffic"
)

// A counter finds, timeline by timeline, what limits of one shape the requests need. What it remembers of a key is its own.
type counter interface {
	// grow makes room for so many keys and clients.
	grow(keys, clients int)

	// judge takes in the next requests of a key.
	judge(p *piece)

	// release forgets a key.
	release(key int32)
}

// A piece is requests of one key that follow each other.
type piece struct {
	key     int32
	rows    []int32 // of the batch
	at      []limit.Time
	clients []int32 // by row
	warm    bool    // whether they are to be counted nowhere
}

// client is the one that all requests of the piece are from, if keys belong to one client each.
func (p *piece) client() int32 { return p.clients[p.rows[0]] }

// A strand is what can be worked out beside the others: counters that forget a key at the same time, as a replay of one of
// their limits would.
type strand struct {
	traffic.LastSeen
	counters []counter
	piece    piece
	release  func(key int32) // has all counters forget a key; made once
}

func newStrand(lateness, horizon limit.Time) *strand {
	s := &strand{LastSeen: traffic.LastSeen{Lateness: lateness}}
	s.Remember(horizon)
	s.release = func(key int32) {
		for _, c := range s.counters {
			c.release(key)
		}
	}
	return s
}

// judge takes in a batch.
func (s *strand) judge(b *traffic.Batch, l *traffic.Timelines, picked *picked, clients int) {
	for _, c := range s.counters {
		c.grow(l.Len, clients)
	}
	s.Update(b, l)
	s.piece.clients, s.piece.warm = b.Client, b.Warm
	for _, c := range s.counters {
		s.walk(c, l, picked)
	}
}

// walk hands each timeline to a counter, in pieces where the key resets.
func (s *strand) walk(c counter, l *traffic.Timelines, picked *picked) {
	resets := s.Resets
	var start int32
	for i, end := range l.Ends {
		key := l.Keys[i]
		for len(resets) > 0 && resets[0] < end {
			s.hand(c, l, picked, key, start, resets[0])
			c.release(key)
			start, resets = resets[0], resets[1:]
		}
		s.hand(c, l, picked, key, start, end)
		start = end
	}
}

// hand hands a piece of a timeline to a counter, unless no request of it is wanted.
func (s *strand) hand(c counter, l *traffic.Timelines, picked *picked, key, start, end int32) {
	rows, at := l.Rows, l.At
	if picked != nil {
		rows, at, start, end = picked.rows, picked.at, picked.before[start], picked.before[end]
	}
	if start == end {
		return
	}
	s.piece.key, s.piece.rows, s.piece.at = key, rows[start:end], at[start:end]
	c.judge(&s.piece)
}

// forget frees what is remembered of keys that are idle by now.
func (s *strand) forget(requests int, now limit.Time) { s.Forget(requests, now, s.release) }

// picked are the requests of one action among the timelines of a batch.
type picked struct {
	rows   []int32
	at     []limit.Time
	before []int32 // by index into all requests, and their end: how many before it are picked
}

// pick finds the requests of an action.
func (p *picked) pick(b *traffic.Batch, l *traffic.Timelines, action int32) {
	p.rows, p.at, p.before = p.rows[:0], p.at[:0], p.before[:0]
	for i, row := range l.Rows {
		p.before = append(p.before, int32(len(p.rows)))
		if int32(b.Action[row]) == action {
			p.rows, p.at = append(p.rows, row), append(p.at, l.At[i])
		}
	}
	p.before = append(p.before, int32(len(p.rows)))
}
