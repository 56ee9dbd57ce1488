package window

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"shadow/limit"
)

// The sliding window of Symfony's RateLimiter: symfony-sliding:N/P
//
// As a counter, it takes what the window before held to have come evenly, and rounds down:
//
//	hits = ⌊before·rest/P⌋ + now;   rest = until the window ends;   admitted when hits < N
//
// But the first request opens a window, which is over when it is older than P. A request within the next P chains
// another to it; a later one opens a first window again. So does one that comes when the store has forgotten the key: it
// keeps it after an admitted request for as long as the window and the next one last, in whole seconds, rounded down.
//
// Source: symfony/rate-limiter 5.4, Policy/SlidingWindow.php and SlidingWindowLimiter.php; Storage/InMemoryStorage.php. It
// counts in floating point, which differs where the estimate is a whole number.
//
// State: At is the moment of the last admitted request, Level the end of its window, Extra what came before, in the upper
// 32 bits, and in it, in the lower. A time before that of the last admitted request counts as that.

// Symfony is such a window.
type Symfony struct {
	count  int64 // requests
	period limit.Time
}

// NewSymfony makes the window that spec describes: symfony-sliding:N/P, without options.
func NewSymfony(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	if err := spec.Positive(); err != nil {
		return nil, err
	}
	switch {
	case spec.Period%limit.Second != 0:
		return nil, fmt.Errorf("limit %q: Symfony takes intervals of whole seconds", spec)
	case spec.Count > mostCounted || spec.Period > limit.Never/4:
		return nil, fmt.Errorf("limit %q: too large: at most %d requests, and %s", spec, mostCounted,
			limit.FormatPeriod(limit.Never/4))
	}
	return &Symfony{spec.Count, spec.Period}, nil
}

// Horizon is the length of two windows.
func (w *Symfony) Horizon() limit.Time { return 2 * w.period }

// at is the window that a request at t, or at the latest moment, comes into.
func (w *Symfony) at(s *limit.State, t limit.Time) (now, end limit.Time, before, count int64) {
	if s.Extra == 0 {
		return t, limit.Later(t, w.period), 0, 0
	}
	now, end = max(t, s.At), limit.Time(s.Level)
	before, count = s.Extra>>counterBits, s.Extra&nowMask
	kept := limit.Later(end, w.period) - s.At
	switch since := uint64(now - s.At); {
	case since >= uint64(kept-kept%limit.Second), since >= uint64(kept):
		return now, limit.Later(now, w.period), 0, 0
	case now > end:
		return now, limit.Later(end, w.period), count, 0
	}
	return now, end, before, count
}

// full reports whether a request is refused.
func (w *Symfony) full(rest limit.Time, before, count int64) bool {
	if count >= w.count {
		return true
	}
	high, low := bits.Mul64(uint64(before), uint64(rest))
	roomHigh, roomLow := bits.Mul64(uint64(w.count-count), uint64(w.period))
	return high > roomHigh || high == roomHigh && low >= roomLow
}

// Wait implements limit.Limiter. A full window ends, and then the next has room.
func (w *Symfony) Wait(s *limit.State, t limit.Time) limit.Time {
	now, end, before, count := w.at(s, t)
	rest := end - now
	if !w.full(rest, before, count) {
		return 0
	}
	if count >= w.count {
		return limit.WaitFrom(t, now, limit.Later(rest, 1))
	}
	high, low := bits.Mul64(uint64(w.count-count), uint64(w.period))
	low, borrow := bits.Sub64(low, 1, 0)
	most, _ := bits.Div64(high-borrow, low, uint64(before)) // the longest rest with room: less than rest
	return limit.WaitFrom(t, now, rest-limit.Time(most))
}

// Charge implements limit.Limiter.
func (w *Symfony) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused {
		return
	}
	now, end, before, count := w.at(s, t)
	s.At, s.Level, s.Extra = now, int64(end), before<<counterBits|min(count+1, mostCounted)
}

// Refuse implements limit.Limiter.
func (w *Symfony) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		now, end, before, count := w.at(s, t)
		if w.full(end-now, before, count) {
			dst = append(dst, int32(i))
			continue
		}
		s.At, s.Level, s.Extra = now, int64(end), before<<counterBits|(count+1)
	}
	return dst
}

// Level implements limit.Leveler: the estimate.
func (w *Symfony) Level(s *limit.State, t limit.Time) float64 {
	now, end, before, count := w.at(s, t)
	return math.Floor(float64(before)*float64(end-now)/float64(w.period)) + float64(count)
}

// Semantics implements limit.Describer.
func (w *Symfony) Semantics() string {
	return fmt.Sprintf("sliding window of Symfony: at most %d in the last %s, as estimated from a window that the first request opens and a share of the one before, rounded down; a refused request does not count",
		w.count, limit.FormatPeriod(w.period))
}

// Shape implements limit.Describer.
func (w *Symfony) Shape() limit.Shape {
	return limit.Shape{
		Count: w.count, Period: w.period, AtOnce: w.count, Step: w.period,
		Unlike: "it refills evenly from each request on, whatever came in a window before",
	}
}

// Sharing implements limit.Sharer.
func (w *Symfony) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("it has no script; the nearest that can be is counter")
}
