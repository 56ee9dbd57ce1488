package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
)

// The cooldown, on any limit: …,cooldown=P
//
// After a request at t that the limit refuses, the key is kept out until t+P. What comes before that is refused as
// well; the limit does not see it, so it charges nothing, and the end stays where it is. With cooldown=P/extend each
// such request moves the end to P after itself. Then the key is free again, and the limit goes on from where it was.
//
//	token:1/10s,cooldown=30s         refused     free
//	         0    4                      34          time
//	         .    x──x──x───────x────────.────▶
//
// A request that only another limit of a combination refuses starts no cooldown. One that the limit refuses starts it
// even if it is not among those that the limit counts; then nothing but the end is remembered of it.
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

// refused is until when a key is kept out after the limit has refused and charged a request at t.
func (c *coolingDown) refused(s *limit.State, t limit.Time) limit.Time {
	if c.clamps {
		t = s.At
	}
	return on(t, c.length)
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

// judge is Refuse, with the delays of a limit that has some. The limit's own Refuse would not stop at the first
// refusal.
func (c *coolingDown) judge(
	dst []int32, late []limit.Delayed, d limit.Delayer, s *limit.State, at []limit.Time,
) ([]int32, []limit.Delayed) {
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
			if by := d.Delay(s, t); by > 0 {
				late = append(late, limit.Delayed{Index: int32(i), By: by})
			}
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

// inside is until when a key is kept out after a request at t in its cooldown.
func (c *coolingDown) inside(t, until limit.Time) limit.Time {
	if c.extend {
		return max(until, on(t, c.length))
	}
	return until
}

// Bounds implements limit.Bounder: a cooldown ends a slack earlier or later, as its refusal may come later, and the
// request after it too. Neither is proven: a refusal keeps out what might have led to more of them.
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
		text += ", counted again from each request in that time"
	}
	return around(c.limit, text)
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
func (c *coolingDelayer) RefuseAndDelay(
	dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time,
) ([]int32, []limit.Delayed) {
	return c.judge(dst, late, c.delayer, s, at)
}

// Variants implements limit.Approximation.
func (c *coolingApproximation) Variants() []limit.Limiter { return c.variants }

// Sharing implements limit.Sharer: what the limit says, and the cooldown, which all scripts know of.
func (c *coolingDown) Sharing() (limit.Sharing, error) {
	sharer, ok := c.limit.(limit.Sharer)
	if !ok {
		return limit.Sharing{}, errors.New("it has no script")
	}
	s, err := sharer.Sharing()
	s.Cooldown, s.Extend = c.length, c.extend
	return s, err
}

// How the option cooldown comes to a limit: it is taken off the text before the algorithm's constructor sees it, and
// what that makes is wrapped. The text of the policy keeps it.

// constructTicking makes the limiter with a clock, if spec has one.
func constructTicking(a *Algorithm, spec limit.Spec) (limit.Limiter, error) {
	rest, value, ticks := CutOption(spec, "clock")
	limiter, err := constructCooling(a, rest)
	if err != nil || !ticks {
		return limiter, err
	}
	tick, err := lengthOf("clock", value)
	if err == nil {
		limiter, err = tickTo(limiter, tick)
	}
	if err != nil {
		err = fmt.Errorf("limit %q: %w", spec, err)
	}
	return limiter, err
}

// constructCooling makes the limiter with a cooldown, if spec has one.
func constructCooling(a *Algorithm, spec limit.Spec) (limit.Limiter, error) {
	rest, value, cools := CutOption(spec, "cooldown")
	rest, store, out := CutOption(rest, "store")
	limiter, err := a.New(rest)
	if err == nil && out {
		limiter, err = down(spec, store)
	}
	if err != nil || !cools {
		return limiter, err
	}
	length, how, hasHow := strings.Cut(value, "/")
	period, err := limit.ParsePeriod(length)
	if err != nil || length[0] < '0' || length[0] > '9' || hasHow && how != "extend" {
		return nil, fmt.Errorf("limit %q: the option cooldown wants a length of time, such as cooldown=30s or "+
			"cooldown=30s/extend, not %q", spec, value)
	}
	return cool(limiter, period, hasHow), nil
}

// CutOption takes the option called name off a limit.
func CutOption(spec limit.Spec, name string) (rest limit.Spec, value string, found bool) {
	rest, taken := CutOptions(spec, name)
	_, value, _ = strings.Cut(taken, "=")
	return rest, value, taken != ""
}

// CutOptions takes options off a limit, and returns their text as well. A store that is not down is the option of a preset.
func CutOptions(spec limit.Spec, names ...string) (rest limit.Spec, taken string) {
	var others, cut []string
	for option := range strings.SplitSeq(spec.Options, ",") {
		if name, _, _ := strings.Cut(option, "="); slices.Contains(names, name) &&
			(name != "store" || option == name || strings.HasPrefix(option, "store=down")) {
			cut = append(cut, option)
		} else {
			others = append(others, option)
		}
	}
	spec.Options = strings.Join(others, ",")
	return spec, strings.Join(cut, ",")
}

// cool puts a cooldown on a limiter, which stays what else it is.
func cool(l limit.Limiter, length limit.Time, extend bool) limit.Limiter {
	c := coolingDown{l, length, extend, clamps(l)}
	switch l := l.(type) {
	case limit.Delayer:
		return &coolingDelayer{c, l}
	case limit.Approximation:
		variants := mapped.Of(l.Variants(), func(v limit.Limiter) limit.Limiter { return cool(v, length, extend) })
		return &coolingApproximation{c, variants}
	}
	return &c
}

// clamps reports whether a limiter keeps the latest time of a key in State.At, as those do that have no other rule for
// a time before it.
func clamps(l limit.Limiter) bool {
	const then = 1_234_567_891 // in no other unit a whole number
	var s limit.State
	l.Charge(&s, then-1, false)
	l.Charge(&s, then, true) // some remember no moment of a refused request
	at := s.At
	s.Release()
	return at == then
}
