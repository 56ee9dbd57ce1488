package leaky

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"shadow/limit"
)

// The leaky bucket as a meter: leaky:N/P
//
// An admitted request adds a drop. A drop leaks every P/N (drip=D: every D), on ticks at multiples of that since the
// epoch, before a request of the same instant. A request that finds N drops in the bucket is refused and adds nothing.
//
// The source is J. Turner, "New directions in communications" (IEEE Communications Magazine, October 1986), whose
// counter goes up by one with each packet and down by one periodically; nothing about the grid but that it is periodic.
//
// P/N may be a fraction of a microsecond. So we count in shares: a drop is P/g shares, a microsecond drains N/g of
// them, g being the greatest common divisor of N and P. Tick number k is at k drops of shares since the epoch, and
// floor(t·N/P) ticks have been by t. To avoid that division per request, we keep the drops and the part of a tick
// that has passed in one number, the water
//
//	water = drops·drop − phase(t),   phase(t) = t·drain mod drop,   drops = ⌈water/drop⌉
//
// which sinks by drain every microsecond, through any number of ticks, until the bucket is empty. Only then it must be
// brought back to −phase(t), and that takes a remainder.
//
// State: At is the latest moment in microseconds, Level the water in shares, Extra 1 once the key has been seen.

// Leaky is a leaky bucket.
type Leaky struct {
	count  int64      // drops that the bucket holds
	drop   int64      // shares in a drop
	drain  int64      // shares that a microsecond drains
	room   int64      // the most water with which a request is admitted: (capacity − 1) drops
	reach  uint64     // microseconds for which the water may be reckoned on without overflow
	byDrop divisor    // divides by drop
	empty  limit.Time // the time that a full bucket takes to run empty
}

// New makes the leaky bucket that spec describes: leaky:N/P with the option drip.
func New(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	drip := args.Duration("drip", 0)
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	drop, drain := int64(drip), int64(1)
	if drip == 0 {
		g := limit.GCD(spec.Count, int64(spec.Period))
		drop, drain = int64(spec.Period)/g, spec.Count/g
	}
	if spec.Count > (math.MaxInt64-drain)/drop-1 {
		return nil, fmt.Errorf("limit %q: too large to be exact: %d drops of %d shares do not fit into 64 bits; take a shorter period or a rounder count",
			spec, spec.Count, drop)
	}
	capacity := spec.Count * drop
	return &Leaky{
		count: spec.Count, drop: drop, drain: drain,
		room:   capacity - drop,
		reach:  uint64((math.MaxInt64 - drop) / drain),
		byDrop: newDivisor(drop),
		empty:  limit.Time(limit.CeilDiv(capacity, drain)),
	}, nil
}

// Horizon is the time in which a full bucket runs empty.
func (l *Leaky) Horizon() limit.Time { return l.empty }

// phase is the part of a tick that has passed at t, in shares: t·drain mod drop, never negative.
func (l *Leaky) phase(t limit.Time) int64 {
	r := int64(t) % l.drop
	if r < 0 {
		r += l.drop
	}
	hi, lo := bits.Mul64(uint64(r), uint64(l.drain))
	return int64(bits.Rem64(hi, lo, uint64(l.drop)))
}

// water returns what is in the bucket at t, and the later of t and the key's latest moment.
func (l *Leaky) water(s *limit.State, t limit.Time) (int64, limit.Time) {
	switch {
	case s.Extra == 0:
		return -l.phase(t), t
	case t <= s.At:
		return s.Level, s.At
	}
	return l.sink(s.Level, uint64(t-s.At), t), t
}

// sink is the water that is left at t, elapsed microseconds after there was some.
func (l *Leaky) sink(water int64, elapsed uint64, t limit.Time) int64 {
	if elapsed > l.reach {
		return -l.phase(t)
	}
	water -= int64(elapsed) * l.drain
	if water <= -l.drop {
		_, phase := l.byDrop.divide(uint64(-water))
		water = -int64(phase)
	}
	return water
}

// Wait implements limit.Limiter.
func (l *Leaky) Wait(s *limit.State, t limit.Time) limit.Time {
	water, now := l.water(s, t)
	if water <= l.room {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(limit.CeilDiv(water-l.room, l.drain)))
}

// Charge implements limit.Limiter.
func (l *Leaky) Charge(s *limit.State, t limit.Time, refused bool) {
	s.Level, s.At = l.water(s, t)
	s.Extra = 1
	if !refused {
		s.Level += l.drop
	}
}

// Refuse implements limit.Limiter.
func (l *Leaky) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	water, last := l.water(s, at[0])
	for i, t := range at {
		if t > last {
			water = l.sink(water, uint64(t-last), t)
			last = t
		}
		if water <= l.room {
			water += l.drop
		} else {
			dst = append(dst, int32(i))
		}
	}
	s.At, s.Level, s.Extra = last, water, 1
	return dst
}

// Level implements limit.Leveler: the drops in the bucket, which leak as a whole.
func (l *Leaky) Level(s *limit.State, t limit.Time) float64 {
	water, _ := l.water(s, t)
	if water <= 0 {
		return 0
	}
	return float64(limit.CeilDiv(water, l.drop))
}

// Semantics implements limit.Describer.
func (l *Leaky) Semantics() string {
	return fmt.Sprintf("leaky bucket: %d at once, then one on each tick of %s since the epoch; a refused request adds nothing",
		l.count, l.tick())
}

// Shape implements limit.Describer.
func (l *Leaky) Shape() limit.Shape {
	return limit.Shape{
		Count: l.drain, Period: limit.Time(l.drop), AtOnce: l.count, Kin: true,
		Unlike: "it leaks evenly, not on ticks: a request may be admitted up to " + l.tick() + " later",
	}
}

func (l *Leaky) tick() string { return limit.Interval(l.drain, limit.Time(l.drop)) }
