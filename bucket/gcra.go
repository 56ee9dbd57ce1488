package bucket

import (
	"cmp"
	"fmt"
	"math"

	"shadow/limit"
)

// The generic cell rate algorithm: gcra:N/P,burst=B
//
// One request per interval T = P/N, and B more at once, so B+1 in all; without the option B is 0. A key has a
// theoretical arrival time, when its next request is due; a request at t sets it to
//
//	tat = max(tat, t) + T
//
// unless that is more than (B+1)·T after t: then the request is refused and nothing has changed.
//
// That is a token bucket of B+1, seen from the other side: tat − t is how long it takes until the bucket is full. T is
// a whole number of nanoseconds, rounded down, as in both sources; so a share is a nanosecond here (see Token).
//
// Sources: throttled 2.13.0, rate.go, PerDuration and RateLimitCtx, where B is MaxBurst; redis-cell 0.5.0,
// src/cell/mod.rs, Rate::per_period and rate_limit. ATM Forum, Traffic Management 4.1, has the algorithm. With Redis,
// keys live for whole seconds (throttled) or milliseconds (redis-cell), rounded down, and are forgotten that much too
// early; we leave that out.

// GCRA is a generic cell rate limiter.
type GCRA struct{ Token }

// NewGCRA makes the limiter that spec describes: gcra:N/P with the option burst.
func NewGCRA(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", 0)
	if err := cmp.Or(args.Err(), check(spec, 1, 0)); err != nil {
		return nil, err
	}
	if spec.Period > math.MaxInt64/nanoseconds {
		return nil, fmt.Errorf("limit %q: the period is too long to be counted in nanoseconds, as GCRA does", spec)
	}
	interval := int64(spec.Period) * nanoseconds / spec.Count
	switch {
	case interval == 0:
		return nil, fmt.Errorf("limit %q: the interval between two requests is less than a nanosecond, which GCRA does not take", spec)
	case burst == math.MaxInt64:
		return nil, errTooLarge(spec, interval)
	}
	g := limit.GCD(interval, nanoseconds)
	t, err := newToken(spec, shape{burst: burst + 1, initial: burst + 1, token: interval / g, inflow: nanoseconds / g})
	if err != nil {
		return nil, err
	}
	return &GCRA{*t}, nil
}

// nanoseconds in a microsecond.
const nanoseconds = 1000

// Semantics implements limit.Describer.
func (b *GCRA) Semantics() string {
	return fmt.Sprintf("generic cell rate algorithm: %d at once, then one every %s; a refused request costs nothing",
		b.burst, limit.Interval(b.inflow, limit.Time(b.token)))
}
