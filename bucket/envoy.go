package bucket

import (
	"cmp"
	"fmt"
	"math"

	"shadow/limit"
)

// The local rate limit of Envoy: envoy-local:N/P,burst=M
//
// A bucket of M tokens (max_tokens; N without the option) starts full. A timer fires every P (fill_interval), for all
// buckets at once, and adds N tokens (tokens_per_fill) as far as there is room. A request takes one, or is refused and
// takes nothing. The timer runs with or without requests, so unlike a Step no bucket ever counts as new.
//
// The timer starts when Envoy reads its configuration. No log tells when, so we take it to fire at multiples of P since
// the epoch. P is at least 50 ms and in whole milliseconds, and tokens are counted in 32 bits: anything else Envoy does
// not take.
//
// This is Envoy up to 1.30: source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc, onFillTimer. From 1.31
// on there is no timer: tokens come evenly, as they are asked for, so that the same settings are token:N/P,burst=M. We
// follow the timer under this name because the token bucket is there already.

// NewEnvoyLocal makes the bucket that spec describes: envoy-local:N/P with the option burst.
func NewEnvoyLocal(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", spec.Count)
	if err := cmp.Or(args.Err(), check(spec, burst, 0)); err != nil {
		return nil, err
	}
	switch {
	case spec.Period < 50*limit.Millisecond || spec.Period%limit.Millisecond != 0:
		return nil, fmt.Errorf("limit %q: Envoy fills every so many whole milliseconds, at least 50", spec)
	case spec.Count > math.MaxUint32 || burst > math.MaxUint32:
		return nil, fmt.Errorf("limit %q: Envoy counts at most %d tokens", spec, uint32(math.MaxUint32))
	}
	return newEnvoyLocal(spec, burst), nil
}

func newEnvoyLocal(spec limit.Spec, burst int64) *Step {
	b := &Step{
		count: spec.Count, burst: burst, period: uint64(spec.Period),
		fills: uint64(limit.CeilDiv(burst, spec.Count)), timer: true, horizon: limit.Never,
	}
	if b.fills <= uint64(limit.Never)/b.period {
		b.horizon = limit.Time(b.fills * b.period)
	}
	return b
}
