package window

import (
	"fmt"

	"shadow/limit"
)

// The global rate limit service of Envoy: envoy:N/UNIT
//
// It counts in fixed windows, under a key that ends with the start of the window, and knows no periods but units: a
// second, minute, hour, day or week, on the epoch's grid (so that weeks begin on Thursday). Newer versions know months
// and years as well, and weeks that begin on another day, which are not offered here.
//
// Source: github.com/envoyproxy/ratelimit, src/limiter/cache_key.go: (now / divider) * divider, with the dividers of
// src/utils/utilities.go, UnitToDivider; over the limit is limitAfterIncrease > overLimitThreshold
// (src/limiter/base_limiter.go). A request that exceeds one of several limits is not counted by the others
// (src/redis/fixed_cache_impl.go).
//
// State: as of the fixed window.

// Envoy is a limit of Envoy's global rate limit service.
type Envoy struct{ *Fixed }

// NewEnvoy makes the limit that spec describes: envoy:N/UNIT, without options.
func NewEnvoy(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	switch spec.Period {
	case limit.Second, limit.Minute, limit.Hour, limit.Day, limit.Week:
	default:
		return nil, fmt.Errorf("limit %q: Envoy's rate limit service counts per second, minute, hour, day or week, not per %s; want one such as envoy:%d/m (envoy-local takes any interval)",
			spec, limit.FormatPeriod(spec.Period), spec.Count)
	}
	spec.Algorithm = "fixed"
	fixed, err := NewFixed(spec)
	if err != nil {
		return nil, err
	}
	return Envoy{fixed.(*Fixed)}, nil
}

// Semantics implements limit.Describer.
func (w Envoy) Semantics() string {
	return "Envoy's rate limit service: " + w.Fixed.Semantics()
}
