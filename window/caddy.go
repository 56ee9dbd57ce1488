package window

import (
	"fmt"

	"shadow/limit"
)

// The rate_limit handler for Caddy: caddy:N/W
//
// It keeps the times of the last N admitted requests in a ring, whose cursor is at the oldest of them. The handler asks
// a zone by When, and refuses while that is positive:
//
//	age of the oldest    less than W    exactly W                    more than W
//	verdict              refused        admitted, and not recorded   admitted, and in the place of the oldest
//
// At exactly W the ring itself has no room (allowed compares with >), but there is nothing left to wait for either. So
// at that microsecond any number of requests is admitted. The rest is the rolling window of what the ring holds.
//
// Source: github.com/mholt/caddy-ratelimit 5625512, ringbuffer.go, When and allowed, and handler.go, ServeHTTP. Hosts
// that share their counts are left out.
//
// State: as of the rolling window.

// Caddy is a zone of Caddy's rate_limit.
type Caddy struct {
	Rolling            // of what the ring holds: a microsecond longer, as a request is inside until its age is more than W
	period  limit.Time // as configured
}

// NewCaddy makes the zone that spec describes: caddy:N/W, without options.
func NewCaddy(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	if err := spec.Positive(); err != nil {
		return nil, err
	}
	if spec.Count > limit.MaxRing || spec.Period == limit.Never {
		return nil, fmt.Errorf("limit %q: too large: the ring has room for %d requests, for less than %s",
			spec, limit.MaxRing, limit.FormatPeriod(limit.Never))
	}
	return &Caddy{Rolling{count: int(spec.Count), length: spec.Period + limit.Microsecond}, spec.Period}, nil
}

// Wait implements limit.Limiter.
func (c *Caddy) Wait(s *limit.State, t limit.Time) limit.Time {
	now := now(s, t)
	if age, full := c.oldest(s.Ring(), now); full && age < uint64(c.period) {
		return limit.WaitFrom(t, now, c.period-limit.Time(age))
	}
	return 0
}

// oldest is the age of the oldest of the last N admitted requests, if there are so many.
func (c *Caddy) oldest(ring *limit.Ring, now limit.Time) (age uint64, full bool) {
	if ring.Len() < c.count {
		return 0, false
	}
	return uint64(now - ring.Nth(ring.Len()-c.count)), true // as unsigned numbers, differences of times never overflow
}

// Charge implements limit.Limiter.
func (c *Caddy) Charge(s *limit.State, t limit.Time, refused bool) {
	age, full := c.oldest(s.Ring(), now(s, t))
	c.Rolling.Charge(s, t, refused || full && age <= uint64(c.period))
}

// Bounds implements limit.Bounder. The earliest moment is the one at which it admits any number.
func (c *Caddy) Bounds(slack limit.Time) (low, high limit.Limiter) {
	_, high = c.Rolling.Bounds(slack)
	return limit.Earliest(c, slack), high
}

// Refuse implements limit.Limiter.
func (c *Caddy) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	last, ring := now(s, at[0]), s.Open(min(len(at), c.count))
	for i, t := range at {
		last = max(last, t)
		if ring.Len() >= c.count {
			switch age := uint64(last - ring.Oldest()); {
			case age < uint64(c.period):
				dst = append(dst, int32(i))
				continue
			case age == uint64(c.period):
				continue // admitted, and not recorded
			}
			ring.Expire(last, c.length)
		}
		if !ring.Push(last) {
			ring = s.Push(last, c.length)
		}
	}
	s.At, s.Level = last, 1
	s.Trim(last, c.length)
	return dst
}

// Semantics implements limit.Describer.
func (c *Caddy) Semantics() string {
	return fmt.Sprintf("rate_limit of Caddy: exact rolling window, at most %d admitted in any span of %s, but any number at its very end; a refused request does not count",
		c.count, limit.FormatPeriod(c.period))
}

// Shape implements limit.Describer.
func (c *Caddy) Shape() limit.Shape {
	s := (&Rolling{count: c.count, length: c.period}).Shape()
	if s.Kin {
		s.Unlike = "exactly that time after a request it admits any number"
	}
	return s
}
