package window

import (
	"fmt"
	"sort"

	"shadow/limit"
)

// The exact rolling window: window:N/W
//
// A request at t is admitted when fewer than N were admitted in (t−W, t]; so at most N are in any such span, wherever
// it lies. A request W after an admitted one is just outside that one's reach. Refused requests do not count.
//
// This is the sliding window log: the time of each admitted request is kept for as long as it lies inside. No formula
// and no rounding; the price is eight bytes per request inside the window.
//
// State: At is the latest moment in microseconds, Level is 1 once the key has been seen, the ring holds the times.
// Times that have run out stay in it until room is wanted or Trim is called, which is at the end of each call.

// Rolling is an exact rolling window.
type Rolling struct {
	count  int        // requests
	length limit.Time // microseconds
}

// rolling is the window of spec, whatever its options.
func rolling(spec limit.Spec) (Rolling, error) {
	if err := spec.Positive(); err != nil {
		return Rolling{}, err
	}
	if spec.Count > limit.MaxRing {
		return Rolling{}, fmt.Errorf("limit %q: a rolling window remembers each request inside it and has room for %d", spec, limit.MaxRing)
	}
	return Rolling{count: int(spec.Count), length: spec.Period}, nil
}

// Horizon is the length of the window.
func (w *Rolling) Horizon() limit.Time { return w.length }

// now is t, or the latest moment of the key if that is later.
func now(s *limit.State, t limit.Time) limit.Time {
	if s.Level == 0 {
		return t
	}
	return max(t, s.At)
}

// Wait implements limit.Limiter.
func (w *Rolling) Wait(s *limit.State, t limit.Time) limit.Time {
	now, ring := now(s, t), s.Ring()
	if ring.Len() < w.count {
		return 0
	}
	oldest := ring.Nth(ring.Len() - w.count) // of the count latest
	age := uint64(now - oldest)              // as unsigned numbers, differences of times never overflow
	if age >= uint64(w.length) {
		return 0
	}
	return limit.WaitFrom(t, now, w.length-limit.Time(age))
}

// Charge implements limit.Limiter.
func (w *Rolling) Charge(s *limit.State, t limit.Time, refused bool) {
	s.At, s.Level = now(s, t), 1
	if !refused {
		s.Push(s.At, w.length)
	}
	s.Trim(s.At, w.length)
}

// Refuse implements limit.Limiter.
func (w *Rolling) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	last, ring := now(s, at[0]), s.Open(min(len(at), w.count))
	for i, t := range at {
		last = max(last, t)
		if ring.Len() >= w.count {
			if uint64(last-ring.Oldest()) < uint64(w.length) {
				dst = append(dst, int32(i))
				continue
			}
			ring.Expire(last, w.length)
		}
		if !ring.Push(last) {
			ring = s.Push(last, w.length)
		}
	}
	s.At, s.Level = last, 1
	s.Trim(last, w.length)
	return dst
}

// Level implements limit.Leveler: the admitted requests inside the window.
func (w *Rolling) Level(s *limit.State, t limit.Time) float64 {
	now, ring := now(s, t), s.Ring()
	n := ring.Len()
	outside := sort.Search(n, func(i int) bool { return uint64(now-ring.Nth(i)) < uint64(w.length) })
	return float64(n - outside)
}

// Bounds implements limit.Bounder: whether one request keeps out another one depends on how far apart they lie.
func (w *Rolling) Bounds(slack limit.Time) (low, high limit.Limiter) {
	shorter, longer := w.within(slack)
	return &shorter, &longer
}

// within are the windows that judge by the longest and the shortest time that may lie between two requests.
func (w *Rolling) within(slack limit.Time) (shorter, longer Rolling) {
	shorter, longer = *w, *w
	shorter.length, longer.length = max(0, w.length-slack), limit.Later(w.length, slack)
	return shorter, longer
}

// Semantics implements limit.Describer.
func (w *Rolling) Semantics() string {
	return fmt.Sprintf("exact rolling window: at most %d admitted in any span of %s; a refused request does not count",
		w.count, limit.FormatPeriod(w.length))
}

// Shape implements limit.Describer. A window of one request is a bucket of one.
func (w *Rolling) Shape() limit.Shape {
	s := limit.Shape{Count: int64(w.count), Period: w.length, AtOnce: int64(w.count), Kin: w.count == 1}
	if !s.Kin {
		s.Span = w.length
	}
	return s
}
