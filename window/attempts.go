package window

import (
	"fmt"

	"shadow/limit"
)

// The rolling window of all requests: window:N/W,charge=all
//
// As Rolling, but refused requests count as well: a request at t is refused when with it more than N lie in (t−W, t].
// So who goes on at a higher rate than N per W is kept out until there is a pause; this is how many login limits work.
//
// Only the N latest requests matter: a request is refused when the earliest of them lies inside. So the ring never
// holds more than N times.
//
// State: as for Rolling; the ring holds the times of the N latest requests, less those that have run out.

// Attempts is a rolling window in which refused requests count.
type Attempts struct{ Rolling }

// Charge implements limit.Limiter.
func (w *Attempts) Charge(s *limit.State, t limit.Time, _ bool) {
	s.At, s.Level = now(s, t), 1
	if ring := s.Ring(); ring.Len() == w.count {
		ring.Drop(1)
	}
	s.Push(s.At, w.length)
	s.Trim(s.At, w.length)
}

// Refuse implements limit.Limiter.
func (w *Attempts) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	last, ring := now(s, at[0]), s.Open(min(len(at), w.count))
	for i, t := range at {
		last = max(last, t)
		if ring.Len() == w.count {
			if uint64(last-ring.Oldest()) < uint64(w.length) {
				dst = append(dst, int32(i))
			}
			ring.Drop(1)
		}
		if !ring.Push(last) {
			ring = s.Push(last, w.length)
		}
	}
	s.At, s.Level = last, 1
	s.Trim(last, w.length)
	return dst
}

// Bounds implements limit.Bounder.
func (w *Attempts) Bounds(slack limit.Time) (low, high limit.Limiter) {
	shorter, longer := w.within(slack)
	return &Attempts{shorter}, &Attempts{longer}
}

// CountsRefused implements limit.RefusalCounter.
func (w *Attempts) CountsRefused() bool { return true }

// Semantics implements limit.Describer.
func (w *Attempts) Semantics() string {
	return fmt.Sprintf("rolling window of all requests: refused while %d or more came in the last %s; a refused request counts as well",
		w.count, limit.FormatPeriod(w.length))
}

// Shape implements limit.Describer.
func (w *Attempts) Shape() limit.Shape {
	s := w.Rolling.Shape()
	s.Kin, s.Span, s.Unlike = false, 0, "refused requests cost nothing there"
	return s
}
