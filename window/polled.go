package window

import (
	"fmt"

	"shadow/limit"
)

// The window that is looked at now and then. Servers spread over the world cannot count every request before they
// judge it. They count in the background, every P, and refuse everybody of which the last count found too many:
//
//	    W: counted at c, N or more?    delay    the finding is in force
//	├──────────────────────────────┤c├───────┤├─────────────────────────┤
//	                                                    P
//
// A check at c counts the requests in [c−W, c). Its finding is in force from c + delay until that of the next check is:
// while it counted more than N, all are refused. So a burst passes as a whole until it is found, and the ban outlasts
// it.
//
// Not an algorithm of its own, but what presets that can only approximate are made of.
//
// State: At is the latest moment in microseconds, Level how many times in the ring the check in force has seen, Extra 1
// once the key has been seen. The ring holds the times that count, from the earliest that the check in force has seen
// on, but no more than N + 1 of those.

// polled is a window that is looked at now and then.
type polled struct {
	count  int        // requests
	length limit.Time // microseconds in the window
	delay  limit.Time // microseconds from a check until its finding is in force
	grid   grid       // a finding is in force for a cell
	all    bool       // whether refused requests count
}

// A poll is how often and when a polled window is looked at.
type poll struct {
	every, delay, phase limit.Time // checks are at phase, phase + every …; each takes effect a delay later
}

// newPolled is the window of spec, all three lengths of p and that of the window being far from the end of time.
func newPolled(spec limit.Spec, p poll, all bool) polled {
	return polled{
		count: int(spec.Count), length: spec.Period, delay: p.delay, grid: newGrid(p.every, (p.phase+p.delay)%p.every), all: all,
	}
}

// Horizon returns how long a request may be seen by a check whose finding is in force.
func (w *polled) Horizon() limit.Time { return w.length + w.delay + w.grid.step }

// check is the moment of the check that is in force at now, and the last moment at which it is.
func (w *polled) check(now limit.Time) (at, last limit.Time) {
	first, last := w.grid.cell(now)
	return back(first, w.delay), last
}

// turn lets the check in force at now see what it counts. It returns the last moment at which it is in force and
// whether it found too many.
func (w *polled) turn(s *limit.State, now limit.Time) (last limit.Time, full bool) {
	check, last := w.check(now)
	ring, seen := s.Ring(), w.seen(s, check)
	if many := seen - (w.count + 1); many > 0 {
		ring.Drop(many)
		seen -= many
	}
	for seen > 0 && uint64(check-ring.Oldest()) > uint64(w.length) {
		ring.Drop(1)
		seen--
	}
	s.Level = int64(seen)
	return last, seen > w.count
}

// seen counts the times in the ring that come before a check, which is not before the one last in force.
func (w *polled) seen(s *limit.State, check limit.Time) int {
	ring, n := s.Ring(), int(s.Level)
	if last := ring.Len() - 1; last >= n && ring.Nth(last) < check {
		return last + 1
	}
	for n < ring.Len() && ring.Nth(n) < check {
		n++
	}
	return n
}

// Wait implements limit.Limiter. It goes from check to check, and leaves out those that still see the request that is
// one too many.
func (w *polled) Wait(s *limit.State, t limit.Time) limit.Time {
	now := latest(s, t)
	if uint64(now-s.At) > uint64(w.Horizon()) {
		return 0 // nothing matters any more, and differences may overflow
	}
	first, _ := w.grid.cell(now)
	check, ring := back(first, w.delay), s.Ring()
	ahead, seen := limit.Time(0), int(s.Level)
	for {
		for seen < ring.Len() && ring.Nth(seen)-check < ahead {
			seen++
		}
		if seen <= w.count {
			break
		}
		stays := w.length - (ahead - (ring.Nth(seen-w.count-1) - check))
		if stays < 0 {
			break
		}
		ahead += (stays/w.grid.step + 1) * w.grid.step
	}
	if ahead == 0 {
		return 0
	}
	return limit.WaitFrom(t, now, ahead-(now-first))
}

// CountsRefused implements limit.RefusalCounter.
func (w *polled) CountsRefused() bool { return w.all }

// Bounds implements limit.Bounder.
func (w *polled) Bounds(slack limit.Time) (low, high limit.Limiter) {
	return limit.Earliest(w, slack), limit.Latest(w, slack)
}

// Charge implements limit.Limiter.
func (w *polled) Charge(s *limit.State, t limit.Time, refused bool) {
	now := latest(s, t)
	w.turn(s, now)
	if !refused || w.all {
		s.Push(now, w.Horizon())
	}
	w.keep(s, now)
}

// keep makes s the State of a key whose latest moment is now, after turn.
func (w *polled) keep(s *limit.State, now limit.Time) {
	s.At, s.Extra = now, 1
	s.Trim(now, w.Horizon()) // which finds nothing that turn has left
}

// Refuse implements limit.Limiter.
func (w *polled) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	now := latest(s, at[0])
	last, full := w.turn(s, now)
	ring := s.Open(len(at))
	for i, t := range at {
		if t > last {
			last, full = w.turn(s, t)
		}
		now = max(now, t)
		if full {
			dst = append(dst, int32(i))
			if !w.all {
				continue
			}
		}
		if !ring.Push(now) {
			ring = s.Push(now, w.Horizon())
		}
	}
	w.keep(s, now)
	return dst
}

// Level implements limit.Leveler: what the check in force has counted, as far as it matters.
func (w *polled) Level(s *limit.State, t limit.Time) float64 {
	clone := s.Clone()
	defer clone.Release()
	w.turn(&clone, latest(s, t))
	return float64(clone.Level)
}

// Semantics implements limit.Describer.
func (w *polled) Semantics() string {
	return fmt.Sprintf("window looked at every %s: all are refused while the last look, in force %s, counted more than %d in %s; a refused request %s",
		limit.FormatPeriod(w.grid.step), later(w.delay), w.count, limit.FormatPeriod(w.length), chargeText(w.all))
}

// later returns when a check is in force.
func later(delay limit.Time) string {
	if delay == 0 {
		return "at once"
	}
	return limit.FormatPeriod(delay) + " later"
}

// Shape implements limit.Describer.
func (w *polled) Shape() limit.Shape {
	return limit.Shape{
		Count: int64(w.count), Period: w.length, AtOnce: int64(w.count),
		Unlike: "it refuses at once what is too much, and nothing more",
	}
}
