package match

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/window"
)

// A scope may hold only while the site is busy: while more requests than some came in a period up to now, of all clients.
// A rolling window that counts all of them would refuse these requests. The condition is asked last, of requests in the
// order of time:
//
//	busy 3/1s      ·   · · · ·    ·         ·
//	holds              │   ✓ ✓    (3 in the second before)
//

// A Load follows the load of a site. It is for one goroutine.
type Load struct {
	scopes []loadScope
	order  []int32 // rows by time, reused
}

type loadScope struct {
	bit    uint64
	window limit.Limiter
	state  limit.State
	Armed
}

// Armed counts what came while a scope held as far as the load of the site goes.
type Armed struct {
	Scope    int // index
	Requests int64
	Minutes  int64 // with such a request
	last     limit.Time
}

// addBusy reads the loads above which scopes hold.
func (s *Scopes) addBusy(scopes []request.Conditions) error {
	for i := range scopes {
		for _, text := range scopes[i].Busy {
			spec, err := limit.Parse(text)
			if err == nil && (spec.Algorithm != "" || spec.Options != "") {
				err = fmt.Errorf("busy %q: want a number of requests of the site per period, such as 500/s", text)
			}
			if err != nil {
				return err
			}
			spec.Algorithm, spec.Options = "window", "charge=all"
			w, err := window.New(spec)
			if err != nil {
				return err
			}
			s.busy = append(s.busy, loadScope{bit: 1 << i, window: w, Armed: Armed{Scope: i, last: traffic.MinTime}})
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

// Mark takes scopes from the marks of requests that came while the site was not as busy, and returns the scopes that some
// request is still in. No request may be older than those of the batch before.
func (l *Load) Mark(b *traffic.Batch) (held uint64) {
	l.order = l.order[:0]
	for row := range b.Len() {
		l.order = append(l.order, int32(row))
	}
	seq := b.Sequence()
	slices.SortFunc(l.order, func(x, y int32) int { return cmp.Or(cmp.Compare(seq[x], seq[y]), cmp.Compare(x, y)) })
	for i := range l.scopes {
		s := &l.scopes[i]
		for _, row := range l.order {
			at := seq[row]
			busy := s.window.Wait(&s.state, at) > 0
			s.window.Charge(&s.state, at, busy)
			if !busy {
				b.Marks[row] &^= s.bit
				continue
			}
			held |= b.Marks[row] & s.bit
			if s.Requests++; at/limit.Minute != s.last {
				s.last = at / limit.Minute
				s.Minutes++
			}
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

// Save writes what came last. A nil Load has nothing.
func (l *Load) Save(to *traffic.Encoder) {
	if l != nil {
		for i := range l.scopes {
			to.State(&l.scopes[i].state)
		}
	}
}

// Restore reads what Save has written, of the same scopes.
func (l *Load) Restore(from *traffic.Decoder) {
	if l != nil {
		for i := range l.scopes {
			l.scopes[i].state = from.State()
		}
	}
}

// plainBusy fails if groups of conditions ask for the load of the site: they are put together before it is known.
func plainBusy(scopes []request.Conditions, groups []request.Group) error {
	for _, g := range groups {
		for rest := g.Any | g.Not; rest != 0; rest &= rest - 1 {
			if len(scopes[bits.TrailingZeros64(rest)].Busy) > 0 {
				return fmt.Errorf("busy stands beside either and not, not inside")
			}
		}
	}
	return nil
}
