package window

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"shadow/limit"
)

// The sliding counter: counter:N/W
//
// Time is cut into windows of length W on the epoch's grid. Only two numbers are kept, what was admitted in the present
// window and in the previous one, and the last W is taken to hold the share of the previous window that it covers:
//
//	    previous        │   current
//	├───────────────────┼──────────┬────────┤
//	          └── W − elapsed ──┘  t
//
//	admitted when  previous·(W−elapsed)/W + current + 1 ≤ N
//
// The source is J. Desgats, "How we built rate limiting capable of scaling to millions of domains"
// (blog.cloudflare.com/counting-things-a-lot-of-different-things, 2017). charge=all counts refused requests as well.
// It takes the previous window for even: after N requests at its very end, nearly N more pass in the next.
//
// The estimate is a fraction, exact for any N and W: the division is multiplied away, and both products have 128 bits.
//
//	previous·(W−elapsed) ≤ (N−1−current)·W
//
// round=nearest admits when the estimate without the request, rounded to the nearest whole number and a half up, is less
// than N:
//
//	2·previous·(W−elapsed) < (2·(N−current)−1)·W
//
// round=down rounds it down, which leaves room for the fraction:
//
//	previous·(W−elapsed) < (N−current)·W
//
// State: At is the latest moment in microseconds, Level what counts in its window, Extra 1 + what counts in the
// previous one.

// Counter is a sliding counter.
type Counter struct {
	count int64 // requests
	grid  grid
	all   bool // whether refused requests count
	rounding
}

// A rounding is how the estimate becomes a number. It admits while factor·previous·(W−elapsed) is at most
// (factor·(N−current)−less)·W, or if strict less than that.
type rounding struct {
	factor, less int64
	strict       int64 // 0 or 1
	text         string
}

var (
	exactly = rounding{factor: 1, less: 1}
	rounded = map[string]rounding{
		"no":      exactly,
		"nearest": {2, 1, 1, " and rounded to a whole number"},
		"down":    {1, 0, 1, " and rounded down"},
	}
)

// NewCounter makes the counter that spec describes: counter:N/W with the options charge and round.
func NewCounter(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	all := chargesAll(args)
	round := args.Choice("round", "no", "no", "nearest", "down")
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	w := newCounter(spec, 0, all)
	w.rounding = rounded[round]
	if w.count > math.MaxInt64/w.factor {
		return nil, fmt.Errorf("limit %q: with round=nearest the count is at most %d", spec, math.MaxInt64/w.factor)
	}
	return w, nil
}

// newCounter is the counter whose windows begin at a phase of the epoch's grid.
func newCounter(spec limit.Spec, phase limit.Time, all bool) *Counter {
	return &Counter{count: spec.Count, grid: newGrid(spec.Period, phase), all: all, rounding: exactly}
}

// Horizon is the length of two windows: what came at the beginning of one is seen until the end of the next.
func (w *Counter) Horizon() limit.Time { return limit.Later(w.grid.step, w.grid.step) }

// A pair is what counts against a key in two windows.
type pair struct {
	previous, current int64      // requests
	last              limit.Time // the last moment of the current window
}

// look is the pair at now, which must not be before s.At.
func (w *Counter) look(s *limit.State, now limit.Time) pair {
	if s.Extra == 0 {
		return pair{last: w.grid.last(now)}
	}
	first, last := w.grid.cell(now)
	if s.At >= first {
		return pair{s.Extra - 1, s.Level, last}
	}
	return pair{previous: w.carry(s.Level, s.At, first), last: last}
}

// carry returns the count of the window around before as the previous count of the window that begins with first; 0 if
// another window lies between them.
func (w *Counter) carry(count int64, before, first limit.Time) int64 {
	if uint64(first-before) > uint64(w.grid.step) {
		return 0
	}
	return count
}

// full reports whether a request at now is refused.
func (w *Counter) full(c pair, now limit.Time) bool {
	room := w.room(c.current)
	if room < w.strict {
		return true
	}
	high, low := bits.Mul64(uint64(c.previous), uint64(w.factor)*(uint64(c.last-now)+1))
	roomHigh, roomLow := w.most(room)
	return high > roomHigh || high == roomHigh && low > roomLow
}

// room returns the capacity left for the weighted previous window, in parts of a request; below strict is too little.
func (w *Counter) room(current int64) int64 {
	if current >= w.count {
		return -1
	}
	return w.factor*(w.count-current) - w.less
}

// most is the largest factor·previous·(W−elapsed) for which there is room. room must not be below strict.
func (w *Counter) most(room int64) (high, low uint64) {
	high, low = bits.Mul64(uint64(room), uint64(w.grid.step))
	low, borrow := bits.Sub64(low, uint64(w.strict), 0)
	return high - borrow, low
}

// keep makes s the State of a key whose latest moment is now.
func (w *Counter) keep(s *limit.State, now limit.Time, c pair) {
	s.At, s.Level, s.Extra = now, c.current, 1+c.previous
}

// Wait implements limit.Limiter. While the current window has room for the request, it waits until enough of the
// previous one has gone by, and else until enough of the current one has, as the previous one.
func (w *Counter) Wait(s *limit.State, t limit.Time) limit.Time {
	now := latest(s, t)
	c := w.look(s, now)
	if !w.full(c, now) {
		return 0
	}
	rest := c.last - now + 1
	if room := w.room(c.current); room >= w.strict {
		return limit.WaitFrom(t, now, rest-w.covered(room, c.previous))
	}
	return limit.WaitFrom(t, now, limit.Later(rest, w.grid.step-w.covered(w.room(0), c.current)))
}

// covered is the most of a window with so many requests that may be covered for room to be left: ⌊room·W/requests⌋.
// room must be less than requests are in what is covered now, so that this is less than W.
func (w *Counter) covered(room, requests int64) limit.Time {
	high, low := w.most(room)
	quotient, _ := bits.Div64(high, low, uint64(w.factor)*uint64(requests))
	return limit.Time(quotient)
}

// Charge implements limit.Limiter.
func (w *Counter) Charge(s *limit.State, t limit.Time, refused bool) {
	now := latest(s, t)
	c := w.look(s, now)
	if !refused || w.all {
		c.current++
	}
	w.keep(s, now, c)
}

// CountsRefused implements limit.RefusalCounter.
func (w *Counter) CountsRefused() bool { return w.all }

// Refuse implements limit.Limiter.
func (w *Counter) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	now := latest(s, at[0])
	c := w.look(s, now)
	for i, t := range at {
		if t > c.last {
			first, last := w.grid.cell(t)
			c = pair{previous: w.carry(c.current, now, first), last: last}
		}
		now = max(now, t)
		if !w.full(c, now) {
			c.current++
			continue
		}
		dst = append(dst, int32(i))
		if w.all {
			c.current++
		}
	}
	w.keep(s, now, c)
	return dst
}

// Level implements limit.Leveler: the estimate.
func (w *Counter) Level(s *limit.State, t limit.Time) float64 {
	now := latest(s, t)
	c := w.look(s, now)
	return float64(c.previous)*float64(c.last-now+1)/float64(w.grid.step) + float64(c.current)
}

// Semantics implements limit.Describer.
func (w *Counter) Semantics() string {
	return fmt.Sprintf("sliding counter: at most %d in the last %s, as estimated from this window and a share of the one before%s; a refused request %s",
		w.count, limit.FormatPeriod(w.grid.step), w.text, chargeText(w.all))
}

// Shape implements limit.Describer.
func (w *Counter) Shape() limit.Shape {
	s := limit.Shape{
		Count: w.count, Period: w.grid.step, AtOnce: w.count,
		Step:   w.grid.step, // a window's requests count in full until it ends
		Unlike: "it refills evenly from each request on, whatever came in a window before",
	}
	if w.all {
		s.Unlike = "refused requests cost nothing there"
	}
	return s
}
