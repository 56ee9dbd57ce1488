package window

import (
	"fmt"

	"shadow/limit"
)

// The rate_limit handler for Caddy: caddy:N/W
//
// It keeps the times of the last N admitted requests in a ring and admits a request when the oldest of them is more than
// W ago. That is the exact rolling window but for its edge: a request exactly W after an admitted one is inside that
// one's reach still. As times are whole microseconds here, it is the rolling window that is a microsecond longer.
//
// Source: github.com/mholt/caddy-ratelimit, ringbuffer.go, allowed: time.Since(r.ring[r.cursor]) > r.window. Hosts that
// share their counts are left out, and so are zones: where a request meets several, the ones before that which refuses
// have charged it already.
//
// State: as of the rolling window.

// Caddy is a zone of Caddy's rate_limit.
type Caddy struct {
	Rolling            // a microsecond longer
	period  limit.Time // as configured
}

// NewCaddy makes the zone that spec describes: caddy:N/W, without options.
func NewCaddy(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	if err := positive(spec); err != nil {
		return nil, err
	}
	if spec.Count > limit.MaxRing || spec.Period == limit.Never {
		return nil, fmt.Errorf("limit %q: too large: the ring has room for %d requests, for less than %s",
			spec, limit.MaxRing, limit.FormatPeriod(limit.Never))
	}
	return &Caddy{Rolling{count: int(spec.Count), length: spec.Period + limit.Microsecond}, spec.Period}, nil
}

// Semantics implements limit.Describer.
func (c *Caddy) Semantics() string {
	return fmt.Sprintf("rate_limit of Caddy: exact rolling window, at most %d admitted in any span of %s, both its ends included; a refused request does not count",
		c.count, limit.FormatPeriod(c.period))
}

// Shape implements limit.Describer.
func (c *Caddy) Shape() limit.Shape {
	s := (&Rolling{count: c.count, length: c.period}).Shape()
	if s.Kin {
		s.Unlike = "it admits after exactly that time, not only later"
	}
	return s
}
