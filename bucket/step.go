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
// This is how counters in a cache work: an entry with a number of tokens and the moment at which they come back, which
// falls out of the cache when it has not been touched for that long.
//
// Servers with a timer refill in steps as well, all buckets at once and however long nobody asks: see NewEnvoyLocal.
//
// State: At is the latest moment in microseconds, Level how many tokens are missing, Extra 1 + how many microseconds of
// the period have passed; 0 when the key was never seen.

// Step is a token bucket that refills in steps.
type Step struct {
	burst   int64  // tokens that the bucket holds
	initial int64  // tokens that are missing from the bucket of a new key
	period  uint64 // microseconds
	horizon limit.Time
}

func newStep(spec limit.Spec, burst, initial int64) *Step {
	b := &Step{burst: burst, initial: burst - initial, period: uint64(spec.Period), horizon: spec.Period}
	if b.initial != 0 {
		b.horizon = limit.Never // a forgotten key would begin again, with less than it had
	}
	return b
}

// Horizon is the period, after which a bucket counts as new; never when new keys do not start with a full bucket.
func (b *Step) Horizon() limit.Time { return b.horizon }

// pass is what becomes of a bucket in elapsed microseconds without a request: how many tokens it lacks, and how old its
// period is.
func (b *Step) pass(missing int64, age, elapsed uint64) (int64, uint64) {
	if elapsed >= b.period {
		return 0, 0
	}
	if age += elapsed; age >= b.period {
		return 0, age - b.period
	}
	return missing, age
}

// at is the bucket at t, and t itself or the latest moment of the key, if that is later.
func (b *Step) at(s *limit.State, t limit.Time) (missing int64, age uint64, now limit.Time) {
	switch {
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
	start := ""
	if b.initial != 0 {
		start = fmt.Sprintf("; a new key starts with %d", b.burst-b.initial)
	}
	return fmt.Sprintf("token bucket refilled in steps: %d at once, then all again at the end of each %s, counted from the request "+
		"that opened the bucket, and anew after %s without one%s; a refused request costs nothing", b.burst, every, every, start)
}

// Shape implements limit.Describer.
func (b *Step) Shape() limit.Shape { return stepShape(b.burst, b.burst, b.period) }

// stepShape is the shape of a bucket of burst tokens, count of which come at once every period.
func stepShape(count, burst int64, period uint64) limit.Shape {
	g := limit.GCD(count, int64(period))
	return limit.Shape{
		Count: count / g, Period: limit.Time(period) / limit.Time(g), AtOnce: burst, Step: limit.Time(period),
		Unlike: fmt.Sprintf("it refills evenly, not %d at once", min(count, burst)),
	}
}
