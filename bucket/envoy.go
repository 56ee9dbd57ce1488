package bucket

import (
	"fmt"
	"math"

	"shadow/limit"
)

// The local rate limit of Envoy: envoy-local:N/P,burst=M
//
// A bucket of M tokens (max_tokens; N without the option) starts full. A timer fires every P (fill_interval), for all
// buckets at once, and adds N tokens (tokens_per_fill) as far as there is room. A request takes one, or is refused and
// takes nothing. The timer runs whether anybody asks or not, so unlike a Step no bucket ever counts as new.
//
// The timer starts when Envoy reads its configuration. No log tells when, so we take it to fire at multiples of P since
// the epoch. P is at least 50 ms and in whole milliseconds, and tokens are counted in 32 bits: anything else Envoy does
// not take.
//
// This is Envoy up to 1.30: source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc, onFillTimer. From 1.31
// on there is no timer: tokens come evenly, as they are asked for, so that the same settings are token:N/P,burst=M. We
// follow the timer under this name because the token bucket is there already.
//
// State: At is the latest moment in microseconds, Level how many tokens are missing, Extra 1 + how many microseconds of
// the period have passed; 0 when the key was never seen.

// EnvoyLocal is a token bucket that a timer fills.
type EnvoyLocal struct {
	count   int64  // tokens that the timer adds
	burst   int64  // tokens that the bucket holds
	period  uint64 // microseconds
	fills   uint64 // periods that fill an empty bucket
	horizon limit.Time
}

// NewEnvoyLocal makes the bucket that spec describes: envoy-local:N/P with the option burst.
func NewEnvoyLocal(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", spec.Count)
	if err := args.Err(); err != nil {
		return nil, err
	}
	if err := check(spec, burst, 0); err != nil {
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

func newEnvoyLocal(spec limit.Spec, burst int64) *EnvoyLocal {
	b := &EnvoyLocal{
		count: spec.Count, burst: burst, period: uint64(spec.Period),
		fills: uint64(limit.CeilDiv(burst, spec.Count)), horizon: limit.Never,
	}
	if b.fills <= uint64(limit.Never)/b.period {
		b.horizon = limit.Time(b.fills * b.period)
	}
	return b
}

// Horizon is the time in which the timer fills an empty bucket.
func (b *EnvoyLocal) Horizon() limit.Time { return b.horizon }

// into is how many microseconds of a period have passed at t.
func (b *EnvoyLocal) into(t limit.Time) uint64 {
	into := t % limit.Time(b.period)
	if into < 0 {
		into += limit.Time(b.period)
	}
	return uint64(into)
}

// pass is what becomes of a bucket in elapsed microseconds: how many tokens it lacks, and how old its period is.
func (b *EnvoyLocal) pass(missing int64, age, elapsed uint64) (int64, uint64) {
	if elapsed >= b.period {
		missing = b.fill(missing, elapsed/b.period)
		elapsed %= b.period
	}
	if age += elapsed; age >= b.period {
		return b.fill(missing, 1), age - b.period
	}
	return missing, age
}

// fill is how many of the missing tokens still lack when the timer has fired n times.
func (b *EnvoyLocal) fill(missing int64, n uint64) int64 {
	if n >= b.fills {
		return 0
	}
	return max(0, missing-int64(n)*b.count)
}

// at is the bucket at t, and t itself or the latest moment of the key, if that is later.
func (b *EnvoyLocal) at(s *limit.State, t limit.Time) (missing int64, age uint64, now limit.Time) {
	switch {
	case s.Extra == 0:
		return 0, b.into(t), t
	case t <= s.At:
		return s.Level, uint64(s.Extra - 1), s.At
	}
	missing, age = b.pass(s.Level, uint64(s.Extra-1), uint64(t-s.At)) // as unsigned numbers, differences of times never overflow
	return missing, age, t
}

// Wait implements limit.Limiter.
func (b *EnvoyLocal) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, age, now := b.at(s, t)
	if missing < b.burst {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(b.period-age))
}

// Charge implements limit.Limiter.
func (b *EnvoyLocal) Charge(s *limit.State, t limit.Time, refused bool) {
	missing, age, now := b.at(s, t)
	if !refused {
		missing++
	}
	s.At, s.Level, s.Extra = now, missing, int64(age)+1
}

// Refuse implements limit.Limiter.
func (b *EnvoyLocal) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	missing, age, last := b.at(s, at[0])
	for i, t := range at {
		if t > last {
			missing, age = b.pass(missing, age, uint64(t-last))
			last = t
		}
		if missing < b.burst {
			missing++
		} else {
			dst = append(dst, int32(i))
		}
	}
	s.At, s.Level, s.Extra = last, missing, int64(age)+1
	return dst
}

// Level implements limit.Leveler: the tokens that are missing.
func (b *EnvoyLocal) Level(s *limit.State, t limit.Time) float64 {
	missing, _, _ := b.at(s, t)
	return float64(missing)
}

// Semantics implements limit.Describer.
func (b *EnvoyLocal) Semantics() string {
	comes := "all again"
	if b.fills > 1 {
		comes = fmt.Sprintf("%d more", b.count)
	}
	return fmt.Sprintf("token bucket refilled in steps: %d at once, then %s at the end of each %s, on the epoch's grid; a refused request costs nothing",
		b.burst, comes, limit.FormatPeriod(limit.Time(b.period)))
}

// Shape implements limit.Describer.
func (b *EnvoyLocal) Shape() limit.Shape { return stepShape(b.count, b.burst, b.period) }
