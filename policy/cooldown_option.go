package policy

import (
	"fmt"
	"strings"

	"shadow/limit"
)

// How the option cooldown comes to a limit: it is taken off the text before the algorithm's constructor sees it, and what
// that makes is wrapped. The text of the policy keeps it.

// construct makes the limiter that spec describes, with a cooldown if it has that option. The constructor of the
// algorithm does not see the option.
func construct(a *Algorithm, spec limit.Spec) (limit.Limiter, error) {
	rest, value, cools := cutOption(spec, "cooldown")
	limiter, err := a.New(rest)
	if err != nil || !cools {
		return limiter, err
	}
	length, how, hasHow := strings.Cut(value, "/")
	period, err := limit.ParsePeriod(length)
	if err != nil || length[0] < '0' || length[0] > '9' || hasHow && how != "extend" {
		return nil, fmt.Errorf("limit %q: the option cooldown wants a length of time, such as cooldown=30s or cooldown=30s/extend, not %q", spec, value)
	}
	return cool(limiter, period, hasHow), nil
}

// cutOption takes the option called name off spec.
func cutOption(spec limit.Spec, name string) (rest limit.Spec, value string, found bool) {
	var others []string
	for option := range strings.SplitSeq(spec.Options, ",") {
		if n, v, _ := strings.Cut(option, "="); n == name {
			value, found = v, true
		} else {
			others = append(others, option)
		}
	}
	spec.Options = strings.Join(others, ",")
	return spec, value, found
}

// cool puts a cooldown on a limiter, which stays what else it is.
func cool(l limit.Limiter, length limit.Time, extend bool) limit.Limiter {
	c := coolingDown{l, length, extend, clamps(l)}
	switch l := l.(type) {
	case limit.Delayer:
		return &coolingDelayer{c, l}
	case limit.Approximation:
		var variants []limit.Limiter
		for _, v := range l.Variants() {
			variants = append(variants, cool(v, length, extend))
		}
		return &coolingApproximation{c, variants}
	}
	return &c
}

// clamps reports whether a limiter keeps the latest moment of a key in State.At, as those do that have no other rule for
// a time before it.
func clamps(l limit.Limiter) bool {
	const moment = 1_234_567_891 // in no other unit a whole number
	var s limit.State
	l.Charge(&s, moment, false)
	at := s.At
	s.Release()
	return at == moment
}
