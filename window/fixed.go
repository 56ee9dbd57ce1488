package window

import (
	"cmp"
	"fmt"

	"shadow/limit"
)

// The fixed window: fixed:N/W
//
// Time is cut into windows of length W, on the grid of the epoch, and the first N requests of each are admitted. With
// align=first a key has windows of its own: one opens with the first request after the last one ended.
//
//	   N admitted  │N admitted
//	         ▒▒▒▒▒▒│▒▒▒▒▒▒              so up to 2N in less than W
//	├──────────────├──────────────├──
//
// A refused request does not count; it would change nothing, since a window that has refused one refuses the rest. But
// one that another limit has refused is one more that this limit can still admit.
//
// The source is Redis, "Pattern: Rate limiter 1" at redis.io/docs/latest/commands/incr: one counter for each period;
// align=first is its "Rate limiter 2", whose counter expires W after the request that created it.
//
// State: At is the latest moment in microseconds, Level how many were admitted in its window, Extra 1 + how long the
// window had lasted then.

// Fixed is a fixed window.
type Fixed struct {
	count int64 // requests
	grid  grid
	first bool // whether the first request opens a window
}

// NewFixed makes the window that spec describes: fixed:N/W with the option align.
func NewFixed(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	align := args.Choice("align", "epoch", "epoch", "first")
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	return &Fixed{count: spec.Count, grid: newGrid(spec.Period, 0), first: align == "first"}, nil
}

// Horizon is the length of a window.
func (w *Fixed) Horizon() limit.Time { return w.grid.step }

// at returns the number of requests that count at now, which must not be before s.At, and the last moment of the
// window. A window of align=first is there only once it has admitted a request.
func (w *Fixed) at(s *limit.State, now limit.Time) (count int64, last limit.Time) {
	if s.Extra > 0 && (s.Level > 0 || !w.first) {
		if last := limit.Later(s.At, w.grid.step-limit.Time(s.Extra)); now <= last {
			return s.Level, last
		}
	}
	return 0, w.open(now)
}

// open is the last moment of a new window at now.
func (w *Fixed) open(now limit.Time) limit.Time {
	if w.first {
		return limit.Later(now, w.grid.step-1)
	}
	return w.grid.last(now)
}

// keep makes s the State of a key whose latest moment is now.
func (w *Fixed) keep(s *limit.State, now limit.Time, count int64, last limit.Time) {
	s.At, s.Level, s.Extra = now, count, int64(w.grid.step-(last-now))
}

// Wait implements limit.Limiter.
func (w *Fixed) Wait(s *limit.State, t limit.Time) limit.Time {
	now := latest(s, t)
	count, last := w.at(s, now)
	if count < w.count {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Later(last-now, 1))
}

// Charge implements limit.Limiter.
func (w *Fixed) Charge(s *limit.State, t limit.Time, refused bool) {
	now := latest(s, t)
	count, last := w.at(s, now)
	if !refused {
		count++
	}
	w.keep(s, now, count, last)
}

// Refuse implements limit.Limiter.
func (w *Fixed) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	now := latest(s, at[0])
	count, last := w.at(s, now)
	for i, t := range at {
		if t > last {
			count, last = 0, w.open(t)
		}
		now = max(now, t)
		if count < w.count {
			count++
		} else {
			dst = append(dst, int32(i))
		}
	}
	w.keep(s, now, count, last)
	return dst
}

// Bounds implements limit.Bounder. Windows of the grid keep requests out that are surely in them, or that may be.
func (w *Fixed) Bounds(slack limit.Time) (low, high limit.Limiter) {
	low, high = limit.Enclose(w, slack)
	if !w.first {
		low = &surelyFixed{w, slack}
	}
	return low, high
}

// surelyFixed counts the requests only that are surely in a window, the low bound of one on the grid.
type surelyFixed struct {
	*Fixed
	slack limit.Time
}

// sure reports whether the window of a request is known.
func (w *surelyFixed) sure(t limit.Time) bool { return w.grid.last(t)-t >= w.slack }

// Wait implements limit.Limiter.
func (w *surelyFixed) Wait(s *limit.State, t limit.Time) limit.Time {
	if !w.sure(latest(s, t)) {
		return 0
	}
	return w.Fixed.Wait(s, t)
}

// Charge implements limit.Limiter.
func (w *surelyFixed) Charge(s *limit.State, t limit.Time, refused bool) {
	if w.sure(latest(s, t)) {
		w.Fixed.Charge(s, t, refused)
	}
}

// Refuse implements limit.Limiter.
func (w *surelyFixed) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	return limit.RefuseEach(w, dst, s, at)
}

// Level implements limit.Leveler: the requests admitted in the window.
func (w *Fixed) Level(s *limit.State, t limit.Time) float64 {
	count, _ := w.at(s, latest(s, t))
	return float64(count)
}

// Semantics implements limit.Describer.
func (w *Fixed) Semantics() string {
	where := "on the epoch's grid"
	if w.first {
		where = "opened by its first request"
	}
	return fmt.Sprintf("fixed window %s: %d in each %s, so up to %d within less than that; a refused request does not count",
		where, w.count, limit.FormatPeriod(w.grid.step), twice(w.count))
}

// Shape implements limit.Describer.
func (w *Fixed) Shape() limit.Shape {
	return limit.Shape{
		Count: w.count, Period: w.grid.step, AtOnce: w.count, Step: w.grid.step,
		Unlike: fmt.Sprintf("it refills evenly, not as a whole when a window ends: never %d at once", twice(w.count)),
	}
}

// twice is 2n, for what people read.
func twice(n int64) uint64 { return 2 * uint64(n) }
