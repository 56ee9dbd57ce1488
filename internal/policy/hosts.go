package policy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"shadow/limit"
	"shadow/window"
)

// Options of limits that several hosts have, on any limit. From the inside out a limit has its store, its cooldown, its
// clock, and its replicas or its drift.

// HostOptions are the names of these.
var HostOptions = []string{"replicas", "cache", "drift", "store"}

// construct makes the limiter that spec describes, with the options that go with every algorithm.
func construct(a *Algorithm, spec limit.Spec) (l limit.Limiter, err error) {
	rest, o, err := cutReplicas(spec)
	rest, apart, drifts := CutOption(rest, "drift")
	if err == nil {
		if l, err = constructTicking(a, rest); err != nil {
			return nil, err
		}
	}
	switch _, guessed := l.(limit.Approximation); {
	case err != nil:
	case guessed && (drifts || o.n > 0):
		err = errors.New("replicas, cache and drift go with exact limits; this one approximates (~)")
	case drifts && o.n > 0:
		err = errors.New("drift is of hosts that share one count, and replicas have their own; leave one of them out")
	case drifts:
		l, err = drift(l, apart)
	case o.n > 0:
		l = o.around(l)
	}
	if _, store, _ := CutOption(spec, "store"); err == nil && (store == "down:open" || store == "down:closed") {
		l, err = down(spec, store) // nothing else matters then
	}
	if err != nil {
		return nil, fmt.Errorf("limit %q: %w", spec, err)
	}
	return l, nil
}

// lengthOf reads the value of an option that has a length of time.
func lengthOf(name, value string) (limit.Time, error) {
	p, err := limit.ParsePeriod(value)
	if err != nil || value[0] < '0' || value[0] > '9' {
		return 0, fmt.Errorf("the option %s wants a length of time, such as %[1]s=100ms, not %q", name, value)
	}
	return p, nil
}

// cutReplicas takes the options replicas and cache off a limit.
func cutReplicas(spec limit.Spec) (rest limit.Spec, o replicas, err error) {
	const most = limit.MaxParts - copies - 26 // a round number
	rest, value, found := CutOption(spec, "replicas")
	rest, cache, cached := CutOption(rest, "cache")
	switch {
	case cached && !found:
		return rest, o, fmt.Errorf("the option cache goes with replicas, each of which has a copy: replicas=3,cache=%s", cache)
	case cached:
		o.cell, err = lengthOf("cache", cache)
	}
	if err != nil || !found {
		return rest, o, err
	}
	number, how, named := strings.Cut(value, "/")
	if !named {
		o.how = byChance
	}
	for _, d := range dealings {
		if d.name == how {
			o.how = d
		}
	}
	if o.n, err = strconv.ParseInt(number, 10, 64); err != nil || o.n < 2 || o.n > most || o.how.text == "" {
		err = fmt.Errorf("the option replicas wants a number from 2 to %d, and perhaps how requests reach them: "+
			"replicas=3, 3/hash, 3/turn or 3/connection, not %q", most, value)
	}
	return rest, o, err
}

// lineBefore returns the last line of the grid with a step that is not after t, or the beginning of time.
func lineBefore(t, step limit.Time) limit.Time {
	past := (t%step + step) % step
	return max(t, math.MinInt64+past) - past
}

// Level implements limit.Leveler, with what all replicas count.
func (r *replicated) Level(s *limit.State, t limit.Time) (level float64) {
	l, ok := r.is.(limit.Leveler)
	for i := 0; ok && i < s.Parts() && (i == ofAll || r.cell == 0); i++ {
		level += l.Level(s.Part(i), t)
	}
	return level
}

// Semantics implements limit.Describer.
func (r *replicated) Semantics() string {
	text := fmt.Sprintf("%d replicas, each of which counts for itself: %s", r.n, r.how.text)
	switch {
	case r.variant:
		return fmt.Sprintf("%d replicas: %s", r.n, r.how.text)
	case r.cell > 0:
		text = fmt.Sprintf("%d replicas with copies of one count, renewed every %s: %s", r.n, limit.FormatPeriod(r.cell),
			r.how.text)
	}
	return around(r.is, text)
}

// Shape implements limit.Describer: what replicas admit together, at once and, if they share no count, in the long run.
func (r *replicated) Shape() limit.Shape {
	shape := limit.Shape{Count: 1, Period: limit.Second, AtOnce: 1}
	if d, ok := r.is.(limit.Describer); ok {
		shape = d.Shape()
	}
	if r.how.name == "hash" {
		return shape
	}
	shape.Kin, shape.AtOnce = false, min(shape.AtOnce, math.MaxInt64/r.n)*r.n
	if r.cell == 0 {
		shape.Count = min(shape.Count, math.MaxInt64/r.n) * r.n
	}
	shape.Unlike = join(shape.Unlike, fmt.Sprintf("it is that of %d replicas together", r.n))
	return shape
}

// Sharing implements limit.Sharer.
func (r *replicated) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("its replicas do not share one count; without replicas= it can be")
}

// drift makes a limit one whose count is shared by hosts with clocks that are up to so much apart, on any that neither
// delays nor approximates: …,drift=P. In the middle they agree. Variants are the bounds of the limit (see
// limit.Bounds).
func drift(l limit.Limiter, apart string) (limit.Limiter, error) {
	p, err := lengthOf("drift", apart)
	if err != nil {
		return nil, err
	}
	if _, delays := l.(limit.Delayer); delays {
		return nil, errors.New("the option drift is for limits that delay nothing")
	}
	low, high := limit.Bounds(l, p)
	return &struct {
		*coarse
		guesses
	}{
		&coarse{l, limit.Microsecond, "clocks of hosts are up to " + apart + " apart", "its clocks drift; without drift= it can be"},
		guesses{
			&coarse{low, limit.Microsecond, "requests come up to " + apart + " further apart", ""},
			&coarse{high, limit.Microsecond, "requests come up to " + apart + " closer together", ""},
		},
	}, nil
}

// Busy returns the rolling window that refuses requests while more than a text says came to it, refused ones too:
// 500/s.
func Busy(text string) (limit.Limiter, error) {
	spec, err := limit.Parse(text)
	if err != nil || spec.Algorithm != "" || spec.Options != "" {
		return nil, fmt.Errorf("busy %q: want a number of requests of the site per period, such as 500/s", text)
	}
	w, err := window.New(limit.Spec{Algorithm: "window", Count: spec.Count, Period: spec.Period, Options: "charge=all"})
	if err != nil {
		return nil, fmt.Errorf("busy %q: %w", text, err)
	}
	return w, nil
}

// away is a limit whose store is not there: how long each request waits.
type away limit.Time

// down makes what takes the place of a limit whose store is away, on any: …,store=down:open, closed, or fixed for
// windows.
func down(spec limit.Spec, store string) (limit.Limiter, error) {
	switch store {
	case "down:open":
		return away(0), nil
	case "down:closed":
		return away(limit.Never), nil
	case "down:fixed":
		return window.NewFixed(limit.Spec{Algorithm: "fixed", Count: spec.Count, Period: spec.Period})
	}
	return nil, fmt.Errorf("limit %q: the option store wants down:open, down:closed or down:fixed, not %q", spec, store)
}

// Wait implements limit.Limiter.
func (a away) Wait(*limit.State, limit.Time) limit.Time { return limit.Time(a) }

// Charge implements limit.Limiter.
func (away) Charge(*limit.State, limit.Time, bool) {}

// Refuse implements limit.Limiter.
func (a away) Refuse(dst []int32, _ *limit.State, at []limit.Time) []int32 {
	for i := 0; a > 0 && i < len(at); i++ {
		dst = append(dst, int32(i))
	}
	return dst
}

// Horizon implements limit.Limiter.
func (away) Horizon() limit.Time { return 0 }

// Semantics implements limit.Explainer.
func (a away) Semantics() string {
	if a == 0 {
		return "its store is away: all requests are admitted"
	}
	return "its store is away: none is admitted"
}
