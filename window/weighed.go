package window

import "shadow/limit"

// A window has room for a request when the costs of those that it has admitted leave so much of its count; one that costs
// more than the count is never admitted. A refused request costs nothing.
//
// The rolling window remembers a request as many times as it costs: eight bytes for each unit inside the window, which
// is never more than its count.

// Weigh returns a limiter like l whose requests have costs; false if it cannot have any. Of windows these are the
// rolling one and the fixed one, where refused requests do not count.
func Weigh(l limit.Limiter) (limit.Weigher, bool) {
	switch w := l.(type) {
	case *Rolling:
		return weighedRolling{w}, true
	case *Fixed:
		return weighedFixed{w}, true
	}
	return nil, false
}

type weighedRolling struct{ *Rolling }

// WaitFor implements limit.Weigher.
func (w weighedRolling) WaitFor(s *limit.State, t limit.Time, cost int64) limit.Time {
	now, ring := now(s, t), s.Ring()
	room := int64(w.count - ring.Len()) // at least
	switch {
	case cost > int64(w.count):
		return limit.Never
	case cost <= room:
		return 0
	}
	last := ring.Nth(int(cost-room) - 1) // that has to run out
	age := uint64(now - last)
	if age >= uint64(w.length) {
		return 0
	}
	return limit.WaitFrom(t, now, w.length-limit.Time(age))
}

// ChargeFor implements limit.Weigher.
func (w weighedRolling) ChargeFor(s *limit.State, t limit.Time, cost int64, refused bool) {
	s.At, s.Level = now(s, t), 1
	if !refused {
		for range cost {
			s.Push(s.At, w.length)
		}
	}
	s.Trim(s.At, w.length)
}

type weighedFixed struct{ *Fixed }

// WaitFor implements limit.Weigher.
func (w weighedFixed) WaitFor(s *limit.State, t limit.Time, cost int64) limit.Time {
	now := latest(s, t)
	count, last := w.at(s, now)
	switch {
	case cost > w.count:
		return limit.Never
	case cost <= w.count-count:
		return 0
	}
	return limit.WaitFrom(t, now, on(last-now, 1))
}

// ChargeFor implements limit.Weigher.
func (w weighedFixed) ChargeFor(s *limit.State, t limit.Time, cost int64, refused bool) {
	now := latest(s, t)
	count, last := w.at(s, now)
	if !refused {
		count += cost
	}
	w.keep(s, now, count, last)
}
