package window

import (
	"math/bits"

	"shadow/limit"
)

// A window has room for a request when the costs of those that it has admitted leave so much of its count; one that costs
// more than the count is never admitted. A refused request costs nothing.

// Weigh returns a limiter like l whose requests have costs; false if it cannot have any. Of windows these are the
// rolling one and the fixed one, where refused requests do not count.
func Weigh(l limit.Limiter) (limit.Weigher, bool) {
	switch w := l.(type) {
	case *Rolling:
		return weighedRolling{w}, w.length < mostOff>>1
	case *Fixed:
		return weighedFixed{w}, true
	}
	return nil, false
}

// A weighedRolling does all by costs. In the ring is each moment once for each bit of what was admitted then:
//
//	admitted at 7 s: 5 = 4 + 1     (7 s − Extra)·32 + 0    (7 s − Extra)·32 + 2
//
// So the ring is in the order of time, and a megabyte takes 20 entries at most. Level is 1 + what the ring holds.
type weighedRolling struct{ *Rolling }

// Bits of a number in the ring that say which bit of the cost it stands for, and how long after Extra it may lie.
const (
	bitBits = 5
	mostOff = 1 << 57
)

// ageOf returns how long before now the moment of a number in the ring lies.
func (w weighedRolling) ageOf(s *limit.State, now, entry limit.Time) uint64 {
	return uint64(now-limit.Time(s.Extra)) - uint64(entry>>bitBits)
}

func costOf(entry limit.Time) int64 { return 1 << (entry & (1<<bitBits - 1)) }

// at returns what the window holds at now, and how many numbers in the ring have run out by then.
func (w weighedRolling) at(s *limit.State, now limit.Time) (held int64, gone int) {
	ring := s.Ring()
	for held = max(0, s.Level-1); gone < ring.Len(); gone++ {
		entry := ring.Nth(gone)
		if w.ageOf(s, now, entry) < uint64(w.length) {
			break
		}
		held -= costOf(entry)
	}
	return held, gone
}

// WaitFor implements limit.Weigher.
func (w weighedRolling) WaitFor(s *limit.State, t limit.Time, cost int64) limit.Time {
	now := now(s, t)
	held, next := w.at(s, now)
	if cost > int64(w.count) {
		return limit.Never
	}
	wait := limit.Time(0)
	for ; held > int64(w.count)-cost && next < s.Ring().Len(); next++ {
		entry := s.Ring().Nth(next)
		held -= costOf(entry)
		wait = w.length - limit.Time(w.ageOf(s, now, entry))
	}
	if wait == 0 {
		return 0
	}
	return limit.WaitFrom(t, now, wait)
}

// ChargeFor implements limit.Weigher.
func (w weighedRolling) ChargeFor(s *limit.State, t limit.Time, cost int64, refused bool) {
	now := now(s, t)
	held, gone := w.at(s, now)
	if gone > 0 {
		s.Ring().Drop(gone)
		w.push(s, now, 0) // gives memory back
	}
	if s.At, s.Level = now, 1+held; !refused && cost > 0 {
		s.Level += cost
		w.push(s, now, cost)
	}
}

// push adds a cost at now, which is no more than there is room for. All that has run out must have been dropped.
func (w weighedRolling) push(s *limit.State, now limit.Time, cost int64) {
	ring := s.Ring()
	switch {
	case ring.Len() == 0:
		s.Extra = int64(now)
	case uint64(now-limit.Time(s.Extra)) >= mostOff:
		w.rebase(s)
	}
	off := (now - limit.Time(s.Extra)) << bitBits
	for n := ring.Len(); n > 0 && ring.Nth(n-1) >= off; n-- { // one number for each bit of all at this moment
		cost += costOf(ring.Nth(n - 1))
		ring.DropNewest()
	}
	age := w.length << bitBits
	for ; cost > 0; cost &= cost - 1 {
		s.Push(off|limit.Time(bits.TrailingZeros64(uint64(cost))), age)
	}
	s.Trim(off|(1<<bitBits-1), age)
}

// rebase has the ring begin at its oldest moment.
func (w weighedRolling) rebase(s *limit.State) {
	ring := s.Ring()
	by := ring.Oldest() >> bitBits
	for range ring.Len() {
		entry := ring.Oldest()
		ring.Drop(1)
		ring.Push(entry - by<<bitBits)
	}
	s.Extra += int64(by)
}

// Wait implements limit.Limiter.
func (w weighedRolling) Wait(s *limit.State, t limit.Time) limit.Time { return w.WaitFor(s, t, 1) }

// Charge implements limit.Limiter.
func (w weighedRolling) Charge(s *limit.State, t limit.Time, refused bool) {
	w.ChargeFor(s, t, 1, refused)
}

// Refuse implements limit.Limiter.
func (w weighedRolling) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	return limit.RefuseEach(w, dst, s, at)
}

// Level implements limit.Leveler: what was admitted inside the window.
func (w weighedRolling) Level(s *limit.State, t limit.Time) float64 {
	held, _ := w.at(s, now(s, t))
	return float64(held)
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
	return limit.WaitFrom(t, now, limit.Later(last-now, 1))
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
