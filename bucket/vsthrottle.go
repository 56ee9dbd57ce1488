package bucket

import (
	"errors"
	"fmt"
	"math/bits"

	"shadow/limit"
)

// vsthrottle, the throttle of Varnish: vsthrottle:N/P
//
// A bucket of N tokens fills with N tokens per P, in whole tokens. It looks at the clock when it admits a request, and
// what of the next token had come by then is lost:
//
//	tokens = min(N, tokens + ⌊elapsed·N/P⌋) − 1;   elapsed = since the last request that was admitted
//
// So it is stricter than a token bucket for requests that come between two tokens.
//
// Source: varnish-modules 0.20.0, src/vmod_vsthrottle.c, calc_tokens and vmod_is_denied, without its block. It counts in
// floating point, which differs where a token comes at the very moment of a request.
//
// State: At is the moment of the last admitted request, Level how many tokens are missing then, Extra 1 once there was
// one. A time before that moment counts as it.

// Vsthrottle is a bucket of Varnish's vsthrottle.
type Vsthrottle struct {
	count  int64 // tokens
	period limit.Time
}

// NewVsthrottle makes the bucket that spec describes: vsthrottle:N/P, without options.
func NewVsthrottle(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	if err := check(spec, spec.Count, spec.Count); err != nil {
		return nil, err
	}
	return &Vsthrottle{spec.Count, spec.Period}, nil
}

// Horizon is the time in which a bucket is full.
func (v *Vsthrottle) Horizon() limit.Time { return v.period }

// at returns the tokens missing at t, or at the latest moment if that is later, and that time.
func (v *Vsthrottle) at(s *limit.State, t limit.Time) (missing int64, now limit.Time) {
	if s.Extra == 0 || t <= s.At {
		if s.Extra == 0 {
			return 0, t
		}
		return s.Level, s.At
	}
	elapsed := uint64(t - s.At)
	if elapsed >= uint64(v.period) {
		return 0, t
	}
	high, low := bits.Mul64(elapsed, uint64(v.count))
	come, _ := bits.Div64(high, low, uint64(v.period)) // less than count
	return max(0, s.Level-int64(come)), t
}

// Wait implements limit.Limiter.
func (v *Vsthrottle) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, now := v.at(s, t)
	if missing < v.count {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(limit.CeilDiv(int64(v.period), v.count))-(now-s.At))
}

// Charge implements limit.Limiter.
func (v *Vsthrottle) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused {
		return
	}
	missing, now := v.at(s, t)
	s.At, s.Level, s.Extra = now, missing+1, 1
}

// Refuse implements limit.Limiter.
func (v *Vsthrottle) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		missing, now := v.at(s, t)
		if missing >= v.count {
			dst = append(dst, int32(i))
			continue
		}
		s.At, s.Level, s.Extra = now, missing+1, 1
	}
	return dst
}

// Level implements limit.Leveler: the tokens that are missing.
func (v *Vsthrottle) Level(s *limit.State, t limit.Time) float64 {
	missing, _ := v.at(s, t)
	return float64(missing)
}

// Semantics implements limit.Describer.
func (v *Vsthrottle) Semantics() string {
	return fmt.Sprintf("vsthrottle of Varnish: %d at once, refilled with %d per %s in whole tokens, counted from each admitted request; "+
		"a refused request costs nothing", v.count, v.count, limit.FormatPeriod(v.period))
}

// Shape implements limit.Describer.
func (v *Vsthrottle) Shape() limit.Shape {
	g := limit.GCD(v.count, int64(v.period))
	return limit.Shape{
		Count: v.count / g, Period: v.period / limit.Time(g), AtOnce: v.count,
		Unlike: "it keeps what has come of a token when it admits a request",
	}
}

// Sharing implements limit.Sharer.
func (v *Vsthrottle) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("it counts in one Varnish; the nearest that can be shared is token")
}
