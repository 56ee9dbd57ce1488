package match

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A scope may hold only while the site is busy: while more requests than some came in a period up to now, of all
// clients. A rolling window that counts all of them would refuse these requests. The condition is asked last, of
// requests in the order of time:
//
//	busy 3/1s      ·   · · · ·    ·         ·
//	holds              │   ✓ ✓    (3 in the second before)
//

// In a log of whole seconds the requests of one lie evenly in it, for this alone.

// A Load follows the load of a site. It is for one goroutine.
type Load struct {
	scopes []loadScope
	order  []int32 // rows by time, reused
}

type loadScope struct {
	text   string
	bit    uint64
	window limit.Limiter
	state  limit.State
	Armed
}

// Armed counts what came while a scope held as far as the load of the site goes.
type Armed struct {
	Scope    int   // index
	Requests int64 // then
	Of       int64 // in all
	Minutes  int64 // with a request then
	last     limit.Time
}

// addBusy reads the loads above which scopes hold.
func (s *Scopes) addBusy(scopes []request.Conditions) error {
	for i := range scopes {
		for _, text := range scopes[i].Busy {
			w, err := policy.Busy(text)
			if err != nil {
				return err
			}
			s.busy = append(s.busy, loadScope{text: text, bit: 1 << i, window: w, Armed: Armed{Scope: i, last: traffic.MinTime}})
		}
	}
	return nil
}

// Busy returns the scopes that hold only while the site is busy. A nil Scopes has none.
func (s *Scopes) Busy() (bits uint64) {
	if s != nil {
		for i := range s.busy {
			bits |= s.busy[i].bit
		}
	}
	return bits
}

// NewLoad returns the load of a site that no request came to; nil if no scope asks for it.
func (s *Scopes) NewLoad() *Load {
	if s.Busy() == 0 {
		return nil
	}
	return &Load{scopes: slices.Clone(s.busy)}
}

// Mark takes scopes from the marks of requests that came while the site was not as busy, and returns the scopes that
// some request is still in. No request may be older than those of the batch before. Those before since are not counted.
func (l *Load) Mark(b *traffic.Batch, since limit.Time) (held uint64) {
	l.order = l.order[:0]
	for row := range b.Len() {
		l.order = append(l.order, int32(row))
	}
	seq := b.Sequence()
	slices.SortFunc(l.order, func(x, y int32) int { return cmp.Or(cmp.Compare(seq[x], seq[y]), cmp.Compare(x, y)) })
	coarse := !slices.ContainsFunc(seq, func(at limit.Time) bool { return at%limit.Second != 0 })
	for rest := l.order; len(rest) > 0; {
		at, n := seq[rest[0]], 1
		for n < len(rest) && seq[rest[n]] == at {
			n++
		}
		apart := limit.Time(0)
		if coarse {
			apart = limit.Second / limit.Time(n)
		}
		for i, row := range rest[:n] {
			held |= l.mark(b, row, at+limit.Time(i)*apart, since)
		}
		rest = rest[n:]
	}
	return held
}

// mark does so for one request, at a moment.
func (l *Load) mark(b *traffic.Batch, row int32, at, since limit.Time) (held uint64) {
	for i := range l.scopes {
		s := &l.scopes[i]
		busy := s.window.Wait(&s.state, at) > 0
		s.window.Charge(&s.state, at, busy)
		counts := b.At[row] >= since
		if counts {
			s.Of++
		}
		if !busy {
			b.Marks[row] &^= s.bit
			continue
		}
		held |= b.Marks[row] & s.bit
		if !counts {
			continue
		}
		if s.Requests++; at/limit.Minute != s.last {
			s.last = at / limit.Minute
			s.Minutes++
		}
	}
	return held
}

// Armed returns the counts of the scopes.
func (l *Load) Armed() (all []Armed) {
	if l != nil {
		for i := range l.scopes {
			all = append(all, l.scopes[i].Armed)
		}
	}
	return all
}

// Save writes what came last, by the text of each load.
func (l *Load) Save(to *traffic.Encoder) {
	if l == nil {
		to.Uint(0)
		return
	}
	to.Uint(uint64(len(l.scopes)))
	for i := range l.scopes {
		to.Text(l.scopes[i].text)
		to.State(&l.scopes[i].state)
	}
}

// Restore reads what Save has written. What is not asked for any more is skipped; what is new begins with no requests.
func (l *Load) Restore(from *traffic.Decoder) {
	for range from.Count() {
		text, state := from.Text(), from.State()
		for i := 0; l != nil && i < len(l.scopes); i++ {
			if l.scopes[i].text == text {
				l.scopes[i].state = state.Clone()
			}
		}
		state.Release()
	}
}

// plainBusy fails if groups of conditions ask for the load of the site: they are put together before it is known.
func plainBusy(scopes []request.Conditions, groups []request.Group) error {
	for _, g := range groups {
		for rest := g.Any | g.Not; rest != 0; rest &= rest - 1 {
			if len(scopes[bits.TrailingZeros64(rest)].Busy) > 0 {
				return errors.New("busy stands beside either and not, not inside")
			}
		}
	}
	return nil
}
