package policy

import (
	"fmt"
	"math"

	"shadow/limit"
)

// The cooldown, on any limit: …,cooldown=P
//
// After a request at t that the limit refuses, the key is kept out until t+P. What comes before that is refused as well;
// the limit does not see it, so it charges nothing, and the end stays where it is. With cooldown=P/extend each such
// request moves the end to P after itself. Then the key is free again, and the limit goes on from where it was.
//
//	token:1/10s,cooldown=30s         refused     free
//	         0    4                      34          time
//	         .    x──x──x───────x────────.────▶
//
// A request that only another limit of a combination refuses starts no cooldown. One that the limit refuses starts it even
// if it is not among those that the limit counts; then nothing but the end is remembered of it.
//
// This is the circuit breaker (M. Nygard, "Release It!", 2007) around a limit, and the jail of programs that ban: they
// count, and who is over is out for a time that does not depend on the count.
//
// State: the limit's own. A key in its cooldown is parked (see limit.State.Park), so that the limit never meets it.

// coolingDown is a limit with a cooldown.
type coolingDown struct {
	limit  limit.Limiter
	length limit.Time // microseconds
	extend bool
	clamps bool // whether the limit takes a time before the last one for the last one, which is then in State.At
}

// coolingDelayer is one whose limit delays, too.
type coolingDelayer struct {
	coolingDown
	delayer limit.Delayer
}

// coolingApproximation is one whose limit stands for several.
type coolingApproximation struct {
	coolingDown
	variants []limit.Limiter // each with the same cooldown
}

// Horizon is the longer of the limit's and the cooldown.
func (c *coolingDown) Horizon() limit.Time { return max(c.limit.Horizon(), c.length) }

// end is when a cooldown ends that begins at t.
func (c *coolingDown) end(t limit.Time) limit.Time {
	return on(t, c.length)
}

// refused is until when a key is kept out after the limit has refused and charged a request at t.
func (c *coolingDown) refused(s *limit.State, t limit.Time) limit.Time {
	if c.clamps {
		t = s.At
	}
	return c.end(t)
}

// park puts s aside. By its own clock, a limit may hold a time that is later than the end of the cooldown.
func park(s *limit.State, until limit.Time) {
	if r := s.Ring(); r.Len() > 0 {
		until = max(until, r.Nth(r.Len()-1))
	}
	s.Park(until)
}

// ask hands s to f as the limit knows it. After f, which must not change s, it is as before.
func ask[T any](s *limit.State, f func(*limit.State) T) T {
	until, parked := s.Parked()
	if !parked {
		return f(s)
	}
	s.Unpark()
	answer := f(s)
	s.Park(until)
	return answer
}

// Wait implements limit.Limiter. A key in its cooldown waits for its end, and then for what the limit says.
func (c *coolingDown) Wait(s *limit.State, t limit.Time) limit.Time {
	until, parked := s.Parked()
	if !parked {
		return c.limit.Wait(s, t)
	}
	free := max(t, until)
	return limit.WaitFrom(t, free, ask(s, func(s *limit.State) limit.Time { return c.limit.Wait(s, free) }))
}

// Charge implements limit.Limiter.
func (c *coolingDown) Charge(s *limit.State, t limit.Time, refused bool) {
	if c.stays(s, t) {
		return
	}
	over := refused && c.limit.Wait(s, t) > 0
	c.limit.Charge(s, t, refused)
	if over {
		park(s, c.refused(s, t))
	}
}

// Bar implements limit.Barrer. A copy is charged to learn what the limit takes for the moment of the request.
func (c *coolingDown) Bar(s *limit.State, t limit.Time) {
	if c.stays(s, t) || c.limit.Wait(s, t) == 0 {
		return
	}
	charged := s.Clone()
	c.limit.Charge(&charged, t, true)
	park(s, c.refused(&charged, t))
	charged.Release()
}

// stays reports whether a key is in its cooldown at t, when a request comes, and takes it out of one that is over.
func (c *coolingDown) stays(s *limit.State, t limit.Time) bool {
	until, parked := s.Parked()
	if !parked {
		return false
	}
	s.Unpark()
	if t >= until {
		return false
	}
	s.Park(c.inside(t, until))
	return true
}

// Refuse implements limit.Limiter.
func (c *coolingDown) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	dst, _ = c.judge(dst, nil, nil, s, at)
	return dst
}

// judge is Refuse, with the delays if somebody tells them. The limit's own Refuse would not stop at the first refusal.
func (c *coolingDown) judge(dst []int32, late []limit.Delayed, d limit.Delayer, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	until, cooling := s.Parked()
	if cooling {
		s.Unpark()
	}
	for i, t := range at {
		if cooling && t < until {
			until = c.inside(t, until)
			dst = append(dst, int32(i))
			continue
		}
		cooling = c.limit.Wait(s, t) > 0
		if d != nil && !cooling {
			late = appendLate(late, i, d.Delay(s, t))
		}
		c.limit.Charge(s, t, cooling)
		if cooling {
			until = c.refused(s, t)
			dst = append(dst, int32(i))
		}
	}
	if cooling {
		park(s, until)
	}
	return dst, late
}

func appendLate(late []limit.Delayed, i int, by limit.Time) []limit.Delayed {
	if by == 0 {
		return late
	}
	return append(late, limit.Delayed{Index: int32(i), By: by})
}

// inside is until when a key is kept out after a request at t in its cooldown.
func (c *coolingDown) inside(t, until limit.Time) limit.Time {
	if c.extend {
		return max(until, c.end(t))
	}
	return until
}

// Bounds implements limit.Bounder: a cooldown ends a slack earlier or later, as its refusal may come later, and the request
// after it too. Neither is proven: a refusal keeps out what might have led to more of them.
func (c *coolingDown) Bounds(slack limit.Time) (low, high limit.Limiter) {
	low, high = limit.Bounds(c.limit, slack)
	if c.length > slack {
		low = &coolingDown{limit: low, length: c.length - slack, extend: c.extend}
	}
	return low, &coolingDown{limit: high, length: on(c.length, slack), extend: c.extend}
}

// on is t + d, or the end of time.
func on(t, d limit.Time) limit.Time {
	if t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}

// Level implements limit.Leveler, with what the limit says.
func (c *coolingDown) Level(s *limit.State, t limit.Time) float64 {
	l, ok := c.limit.(limit.Leveler)
	if !ok {
		return 0
	}
	return ask(s, func(s *limit.State) float64 { return l.Level(s, t) })
}

// Semantics implements limit.Describer.
func (c *coolingDown) Semantics() string {
	text := fmt.Sprintf("after a refusal nothing is admitted for %s", limit.FormatPeriod(c.length))
	if c.extend {
		text += ", counted anew from each request in that time"
	}
	if d, ok := c.limit.(limit.Describer); ok {
		text = d.Semantics() + "; " + text
	}
	return text
}

// Shape implements limit.Describer.
func (c *coolingDown) Shape() limit.Shape {
	shape := limit.Shape{Count: 1, Period: c.length, AtOnce: 1}
	if d, ok := c.limit.(limit.Describer); ok {
		shape = d.Shape()
	}
	shape.Kin = false
	shape.Unlike = join(shape.Unlike, "there is no cooldown there")
	return shape
}

// Delay implements limit.Delayer.
func (c *coolingDelayer) Delay(s *limit.State, t limit.Time) limit.Time {
	return ask(s, func(s *limit.State) limit.Time { return c.delayer.Delay(s, t) })
}

// LongestDelay implements limit.Delayer.
func (c *coolingDelayer) LongestDelay() limit.Time { return c.delayer.LongestDelay() }

// RefuseAndDelay implements limit.Delayer.
func (c *coolingDelayer) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	return c.judge(dst, late, c.delayer, s, at)
}

// Variants implements limit.Approximation.
func (c *coolingApproximation) Variants() []limit.Limiter { return c.variants }
