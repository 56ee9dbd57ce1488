package window

import (
	"fmt"
	"math"

	"shadow/limit"
)

// The window that is recalculated in steps: window:Q/W,step=P
//
// At each moment of the epoch's grid with step P the bucket is set to Q less what was admitted in the last W − P, and
// to max=M if that is less. Until the next such moment each admitted request takes one. A new key starts with Q, or M.
//
//	 W − P: finished steps, counted          step: what is left
//	├───────┼───────┼───────┼───────┼───────┼───────┤
//	    3       0       4       1       0       ↑ Q − 8
//
// A step holds its first moment, so a recalculation comes before a request of the same instant. No W on the grid admits
// more than Q, but one that lies across it may admit Q + M: M late in a step, the rest, and M more in the step that
// begins as the first ones run out, less than W after them.
//
// The source is the job that quota systems run every hour or so: count the log of the last day, and write down what is
// left of the quota. charge=all counts refused requests as well.
//
// State: At is the latest moment in microseconds, Level the sum of the finished steps that still count, Extra 1 + the
// requests of the present step. The ring holds the finished steps, each as one of its moments: as many microseconds
// before the next step as there were requests. A step with more requests than microseconds takes several.

// maxSteps is the most steps that a window may have.
const maxSteps = 1440

// Stepped is a window that is recalculated in steps.
type Stepped struct {
	count  int64      // requests in a window: Q
	most   int64      // requests in a step: M, or Q
	length limit.Time // microseconds in a window: W
	reach  limit.Time // microseconds that count when a step begins: W − P
	grid   grid
	all    bool // whether refused requests count
}

func newStepped(spec limit.Spec, step limit.Time, most int64, all bool) (limit.Limiter, error) {
	if err := spec.Positive(); err != nil {
		return nil, err
	}
	switch {
	case step > spec.Period || spec.Period%step != 0:
		return nil, fmt.Errorf("limit %q: a window of %s cannot be cut into steps of %s; want a step that divides it",
			spec, limit.FormatPeriod(spec.Period), limit.FormatPeriod(step))
	case spec.Period/step > maxSteps:
		return nil, fmt.Errorf("limit %q: a window has at most %d steps, not %d; want a step of %s or longer",
			spec, maxSteps, spec.Period/step, limit.FormatPeriod(limit.Time(limit.CeilDiv(int64(spec.Period), maxSteps))))
	case most == 0:
		return nil, fmt.Errorf("limit %q: max=0 would admit nothing; it is the most that a step admits, at least 1", spec)
	case most < 0 || most > spec.Count:
		most = spec.Count
	}
	return &Stepped{
		count: spec.Count, most: most, length: spec.Period, reach: spec.Period - step, grid: newGrid(step, 0), all: all,
	}, nil
}

// Horizon is the length of the window.
func (w *Stepped) Horizon() limit.Time { return w.length }

// A tally is what counts against a key in the present step.
type tally struct {
	before  int64      // requests in finished steps
	present int64      // requests in this one
	last    limit.Time // the last moment of this one
}

// left returns how many requests the step still admits; none at 0 or below.
func (w *Stepped) left(c tally) int64 { return min(w.count-c.before, w.most) - c.present }

// look is the tally at now, which must not be before s.At.
func (w *Stepped) look(s *limit.State, now limit.Time) tally {
	first, last := w.grid.cell(now)
	switch {
	case s.Extra == 0 || w.out(s.At, first):
		return tally{last: last}
	case s.At >= first:
		return tally{s.Level, s.Extra - 1, last}
	}
	before, ring := s.Level+s.Extra-1, s.Ring()
	for i := 0; i < ring.Len() && w.out(ring.Nth(i), first); i++ {
		before -= w.requests(ring.Nth(i))
	}
	return tally{before, 0, last}
}

// turn is look that brings s to the step of now, but for At and Extra.
func (w *Stepped) turn(s *limit.State, now limit.Time) tally {
	first, last := w.grid.cell(now)
	if s.Extra == 0 {
		return tally{last: last}
	}
	if s.At >= first {
		return tally{s.Level, s.Extra - 1, last}
	}
	for ring := s.Ring(); ring.Len() > 0 && w.out(ring.Oldest(), first); ring.Drop(1) {
		s.Level -= w.requests(ring.Oldest())
	}
	if !w.out(s.At, first) {
		w.finish(s)
	}
	return tally{s.Level, 0, last}
}

// out reports whether a moment is in a step that no longer counts in the one that begins at first, or later.
func (w *Stepped) out(t, first limit.Time) bool {
	return t < first && uint64(first-t) > uint64(w.reach)
}

// requests returns the number of requests that an entry of the ring stands for.
func (w *Stepped) requests(entry limit.Time) int64 { return int64(w.grid.step - w.grid.past(entry)) }

// finish puts the step of s.At into the ring.
func (w *Stepped) finish(s *limit.State) {
	last := w.grid.last(s.At)
	moments := min(uint64(w.grid.step)-1, uint64(last-math.MinInt64)) // of the step, less one; time has a beginning
	for requests := s.Extra - 1; requests > 0; {
		n := min(requests, int64(moments)+1)
		s.Push(last-limit.Time(n-1), w.length)
		s.Level += n
		requests -= n
	}
}

// Wait implements limit.Limiter.
func (w *Stepped) Wait(s *limit.State, t limit.Time) limit.Time {
	now := latest(s, t)
	c := w.look(s, now)
	if w.left(c) > 0 {
		return 0
	}
	return limit.WaitFrom(t, now, max(c.last-now+1, w.free(s, now)))
}

// free returns the time after now until fewer than Q requests count, if no more come, apart from the grid.
func (w *Stepped) free(s *limit.State, now limit.Time) limit.Time {
	over := s.Level + s.Extra - 1 - (w.count - 1) // requests that have to run out
	if over <= 0 {
		return 0
	}
	step := s.At
	for i := range s.Ring().Len() {
		entry := s.Ring().Nth(i)
		if over -= w.requests(entry); over <= 0 {
			step = entry
			break
		}
	}
	age := uint64(now - w.grid.first(step))
	if age >= uint64(w.length) {
		return 0
	}
	return w.length - limit.Time(age)
}

// Charge implements limit.Limiter.
func (w *Stepped) Charge(s *limit.State, t limit.Time, refused bool) {
	now := latest(s, t)
	c := w.turn(s, now)
	if !refused || w.all {
		c.present++
	}
	w.keep(s, now, c)
}

// keep makes s the State of a key whose latest moment is now, after turn.
func (w *Stepped) keep(s *limit.State, now limit.Time, c tally) {
	s.At, s.Extra = now, 1+c.present
	s.Trim(now, w.length)
}

// CountsRefused implements limit.RefusalCounter.
func (w *Stepped) CountsRefused() bool { return w.all }

// Bounds implements limit.Bounder.
func (w *Stepped) Bounds(slack limit.Time) (low, high limit.Limiter) {
	return limit.Earliest(w, slack), limit.Latest(w, slack)
}

// Refuse implements limit.Limiter.
func (w *Stepped) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	now := latest(s, at[0])
	c := w.turn(s, now)
	left := w.left(c)
	for i, t := range at {
		if t > c.last {
			s.At, s.Extra = now, 1+c.present
			c = w.turn(s, t)
			left = w.left(c)
		}
		now = max(now, t)
		if left > 0 {
			left--
			c.present++
			continue
		}
		dst = append(dst, int32(i))
		if w.all {
			c.present++
		}
	}
	w.keep(s, now, c)
	return dst
}

// Level implements limit.Leveler: the requests that count in the present step.
func (w *Stepped) Level(s *limit.State, t limit.Time) float64 {
	c := w.look(s, latest(s, t))
	return float64(c.before + c.present)
}

// Semantics implements limit.Describer.
func (w *Stepped) Semantics() string {
	return fmt.Sprintf("window recalculated every %s: then %s; it can admit %d in some span of %s; a refused request %s",
		limit.FormatPeriod(w.grid.step), w.budget(), uint64(w.count)+uint64(w.most), limit.FormatPeriod(w.length), chargeText(w.all))
}

// budget returns what a step begins with.
func (w *Stepped) budget() string {
	text := fmt.Sprint(w.count)
	if w.reach > 0 {
		what := "what was admitted in"
		if w.all {
			what = "the requests of"
		}
		text += fmt.Sprintf(" less %s the last %s", what, limit.FormatPeriod(w.reach))
	}
	if w.most < w.count {
		text += fmt.Sprintf(", at most %d", w.most)
	}
	return text
}

// Shape implements limit.Describer.
func (w *Stepped) Shape() limit.Shape {
	return limit.Shape{
		Count: w.count, Period: w.length, AtOnce: w.most,
		Unlike: "it refills evenly, not every " + limit.FormatPeriod(w.grid.step) + " with what has run out",
	}
}

// chargeText reports whether a refused request counts.
func chargeText(all bool) string {
	if all {
		return "counts as well"
	}
	return "does not count"
}
