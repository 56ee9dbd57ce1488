package bucket

import (
	"fmt"

	"shadow/limit"
)

// The token bucket that refills in steps: token:N/P,refill=step
//
// The request that opens a bucket starts its periods. At the end of each, before a request of that instant, the bucket is
// filled to the full, whatever was left in it. It holds N tokens (burst=B: B tokens), and that is all that N says here.
// When a whole period has passed since the last request, admitted or refused, the bucket counts as new: full, and opened
// by the request that comes. (initial=I is for a key that was never seen, not for one that has been quiet.)
//
//	60/60s   opened        opened again                 end of period
//	         0             70                           130
//	         ├─────────────├────────────────────────────┼───▶
//	         60            60                     125   60       admitted
//
// Counters in a cache work like this: an entry has a number of tokens and the moment at which they come back, and falls
// out of the cache when it was not touched for that long.
//
// Servers with a timer refill in steps as well, all buckets at once, also without requests: see NewEnvoyLocal.
//
// token:N/P,burst=B,refill=interval has a timer for each key, which its first request starts and nothing ever stops. At
// the end of each period it adds N tokens, as far as there is room. So a key can never be forgotten.
//
// State: At is the latest moment in microseconds, Level how many tokens are missing, Extra 1 + how many microseconds of
// the period have passed; 0 when the key was never seen.

// Step is a token bucket that refills in steps.
type Step struct {
	count   int64  // tokens that come at the end of a period
	burst   int64  // tokens that the bucket holds
	initial int64  // tokens that are missing from the bucket of a new key
	period  uint64 // microseconds
	fills   uint64 // periods that fill an empty bucket
	timer   bool   // periods go on with or without requests; else the request that opens the bucket starts them
	own     bool   // with timer: the first request of a key starts its periods; else they are on the epoch's grid
	horizon limit.Time
}

func newStep(spec limit.Spec, burst, initial int64) *Step {
	b := &Step{count: burst, burst: burst, initial: burst - initial, period: uint64(spec.Period), fills: 1, horizon: spec.Period}
	if b.initial != 0 {
		b.horizon = limit.Never // a forgotten key would begin again, with less than it had
	}
	return b
}

// newInterval is the bucket with a timer for each key.
func newInterval(spec limit.Spec, burst int64) *Step {
	b := newEnvoyLocal(spec, burst)
	b.own, b.horizon = true, limit.Never
	return b
}

// Horizon is the time after which a bucket is full or counts as new; never when new keys do not start with a full bucket.
func (b *Step) Horizon() limit.Time { return b.horizon }

// pass returns the state of a bucket after elapsed microseconds without a request: how many tokens it lacks, and how
// old its period is.
func (b *Step) pass(missing int64, age, elapsed uint64) (int64, uint64) {
	if elapsed >= b.period {
		if !b.timer {
			return 0, 0
		}
		missing = b.fill(missing, elapsed/b.period)
		elapsed %= b.period
	}
	if age += elapsed; age >= b.period {
		return b.fill(missing, 1), age - b.period
	}
	return missing, age
}

// fill returns how many of the missing tokens still lack at the end of the n-th period.
func (b *Step) fill(missing int64, n uint64) int64 {
	if n >= b.fills {
		return 0
	}
	return max(0, missing-int64(n)*b.count)
}

// at is the bucket at t, and t itself or the latest moment of the key, if that is later.
func (b *Step) at(s *limit.State, t limit.Time) (missing int64, age uint64, now limit.Time) {
	switch {
	case s.Extra == 0 && b.timer && !b.own:
		into := t % limit.Time(b.period)
		if into < 0 {
			into += limit.Time(b.period)
		}
		return b.initial, uint64(into), t
	case s.Extra == 0:
		return b.initial, 0, t
	case t <= s.At:
		return s.Level, uint64(s.Extra - 1), s.At
	}
	missing, age = b.pass(s.Level, uint64(s.Extra-1), uint64(t-s.At)) // as unsigned numbers, differences of times never overflow
	return missing, age, t
}

// Wait implements limit.Limiter. The end of a period always comes before a bucket counts as new.
func (b *Step) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, age, now := b.at(s, t)
	if missing < b.burst {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(b.period-age))
}

// Charge implements limit.Limiter.
func (b *Step) Charge(s *limit.State, t limit.Time, refused bool) {
	missing, age, now := b.at(s, t)
	if !refused {
		missing++
	}
	s.At, s.Level, s.Extra = now, missing, int64(age)+1
}

// Refuse implements limit.Limiter.
func (b *Step) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
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
func (b *Step) Level(s *limit.State, t limit.Time) float64 {
	missing, _, _ := b.at(s, t)
	return float64(missing)
}

// Semantics implements limit.Describer.
func (b *Step) Semantics() string {
	every := limit.FormatPeriod(limit.Time(b.period))
	if b.timer {
		comes := "all again"
		if b.fills > 1 {
			comes = fmt.Sprintf("%d more", b.count)
		}
		grid := "on the epoch's grid"
		if b.own {
			grid = "counted from the first request of all"
		}
		return fmt.Sprintf("token bucket refilled in steps: %d at once, then %s at the end of each %s, %s; "+
			"a refused request costs nothing", b.burst, comes, every, grid)
	}
	start := ""
	if b.initial != 0 {
		start = fmt.Sprintf("; a new key starts with %d", b.burst-b.initial)
	}
	return fmt.Sprintf("token bucket refilled in steps: %d at once, then all again at the end of each %s, counted from the request "+
		"that opened the bucket, and again after %s without one%s; a refused request costs nothing", b.burst, every, every, start)
}

// Shape implements limit.Describer: count tokens come at once every period.
func (b *Step) Shape() limit.Shape {
	g := limit.GCD(b.count, int64(b.period))
	return limit.Shape{
		Count: b.count / g, Period: limit.Time(b.period) / limit.Time(g), AtOnce: b.burst, Step: limit.Time(b.period),
		Unlike: fmt.Sprintf("it refills evenly, not %d at once", min(b.count, b.burst)),
	}
}
