package policy

import (
	"errors"

	"shadow/limit"
)

// The coarse clock, on any limit: …,clock=P
//
// Many limiters read a clock of whole milliseconds or seconds, so that for them a request comes at the line of the
// epoch's grid before it:
//
//	clock=1s   ├────────────├────────────├──▶
//	request        └─▶ 0.4       1.2 ◀─┘ counts as 0 and as 1
//
// A window that opens at 0.4 s and lasts 1 s ends at 1.0 by such a clock, and not at 1.4. With a cooldown, both go by
// it.
//
// State: the limit's own, in such moments.

// coarse is a limit, perhaps with a cooldown, that reads a coarse clock.
type coarse struct {
	limit limit.Limiter
	tick  limit.Time // microseconds
	says  string     // about the clock
	alone string     // why no hosts share the limit
}

// tickTo puts a limiter behind a clock with a tick.
func tickTo(l limit.Limiter, tick limit.Time) (limit.Limiter, error) {
	switch l.(type) {
	case limit.Delayer, limit.Approximation:
		return nil, errors.New("the option clock is for limits that neither delay nor approximate")
	}
	says := "its clock ticks once in " + limit.FormatPeriod(tick)
	return &coarse{l, tick, says, "its clock is coarse; without clock= it can be"}, nil
}

// read returns what the clock says at t.
func (c *coarse) read(t limit.Time) limit.Time {
	past := t % c.tick
	if past < 0 {
		past += c.tick
	}
	return t - past // which wraps around at the beginning of time; so does the difference with it
}

// Horizon is the limit's, and the rest of the tick in which the last request came.
func (c *coarse) Horizon() limit.Time { return on(c.limit.Horizon(), c.tick-1) }

// Wait implements limit.Limiter. The limit is free from a tick on.
func (c *coarse) Wait(s *limit.State, t limit.Time) limit.Time {
	now := c.read(t)
	wait := c.limit.Wait(s, now)
	if wait == 0 || wait == limit.Never {
		return wait
	}
	rest := (c.tick - wait%c.tick) % c.tick
	return on(wait-(t-now), rest)
}

// Charge implements limit.Limiter.
func (c *coarse) Charge(s *limit.State, t limit.Time, refused bool) {
	c.limit.Charge(s, c.read(t), refused)
}

// Refuse implements limit.Limiter.
func (c *coarse) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		now := c.read(t)
		refused := c.limit.Wait(s, now) > 0
		c.limit.Charge(s, now, refused)
		if refused {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// CountsRefused implements limit.RefusalCounter.
func (c *coarse) CountsRefused() bool {
	l, ok := c.limit.(limit.RefusalCounter)
	return ok && l.CountsRefused()
}

// Bounds implements limit.Bounder: the clock may add less than a tick to what is not known of two requests.
func (c *coarse) Bounds(slack limit.Time) (low, high limit.Limiter) {
	return limit.Bounds(c.limit, on(slack, c.tick-1))
}

// Level implements limit.Leveler, with what the limit says.
func (c *coarse) Level(s *limit.State, t limit.Time) float64 {
	l, ok := c.limit.(limit.Leveler)
	if !ok {
		return 0
	}
	return l.Level(s, c.read(t))
}

// Semantics implements limit.Describer.
func (c *coarse) Semantics() string {
	return around(c.limit, c.says)
}

// Shape implements limit.Describer.
func (c *coarse) Shape() limit.Shape {
	if d, ok := c.limit.(limit.Describer); ok {
		return d.Shape()
	}
	return limit.Shape{Count: 1, Period: c.tick, AtOnce: 1}
}

// Sharing implements limit.Sharer.
func (c *coarse) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New(c.alone)
}

// Bar implements limit.Barrer.
func (c *coarse) Bar(s *limit.State, t limit.Time) {
	if b, ok := c.limit.(limit.Barrer); ok {
		b.Bar(s, c.read(t))
	}
}

// around returns what a limit means, and what is put around it.
func around(l limit.Limiter, text string) string {
	if e, ok := l.(limit.Explainer); ok {
		return e.Semantics() + "; " + text
	}
	return text
}
