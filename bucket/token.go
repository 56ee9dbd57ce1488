package bucket

import (
	"cmp"
	"fmt"
	"math"

	"shadow/limit"
)

// The token bucket: token:N/P
//
// A bucket holds N tokens (burst=B: B tokens), starts full (initial=I: with I tokens) and refills evenly, N tokens per
// P. A request takes one token; where there is no whole one left it is refused and takes nothing.
//
// The source is the generic cell rate algorithm in its form as a continuous-state leaky bucket (ATM Forum, Traffic
// Management 4.1): it counts what has been poured in and drains evenly, as we count what is missing from a full bucket.
//
// To be exact for any N and P we count in shares: a token is P/g shares and each microsecond brings N/g of them, where
// g is the greatest common divisor of N and P. For 6/30s a token is 5,000,000 shares and a microsecond brings one.
//
// State: At is the latest moment in microseconds, Level how many shares are missing from a full bucket, Extra 1 once
// the key has been seen.

// Token is a token bucket.
type Token struct {
	burst   int64  // tokens that the bucket holds
	token   int64  // shares in a token
	inflow  int64  // shares that a microsecond brings
	room    int64  // shares that may be missing for a request to be admitted: capacity − token
	full    uint64 // microseconds after which the emptiest bucket is full
	initial int64  // shares missing from the bucket of a new key
	horizon limit.Time
}

// NewToken makes the token bucket that spec describes: token:N/P with the options burst and initial. With refill=step
// or interval it is a Step, with debt a Debt.
func NewToken(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", spec.Count)
	initial := args.Int("initial", burst)
	refill := args.Choice("refill", "even", "even", "step", "interval")
	debt, owes := args.FlagOrInt("debt", boundless)
	if err := cmp.Or(args.Err(), check(spec, burst, initial)); err != nil {
		return nil, err
	}
	switch {
	case refill != "even" && owes:
		return nil, fmt.Errorf("limit %q: debt is paid off as the bucket refills evenly; it does not go with refill=%s", spec, refill)
	case refill == "interval" && initial != burst:
		return nil, fmt.Errorf("limit %q: initial does not go with refill=interval", spec)
	case refill == "interval":
		return newInterval(spec, burst), nil
	case refill == "step":
		return newStep(spec, burst, initial), nil
	case owes:
		return newDebt(spec, burst, initial, debt)
	}
	token, inflow := shares(spec)
	return newToken(spec, shape{burst: burst, initial: initial, token: token, inflow: inflow})
}

// check returns what is wrong with the tokens of a bucket, if anything is.
func check(spec limit.Spec, burst, initial int64) error {
	switch err := spec.Positive(); {
	case err != nil:
		return err
	case burst < 1:
		return fmt.Errorf("limit %q: burst=0 would admit nothing; it is the capacity in all, at least 1", spec)
	case initial > burst:
		return fmt.Errorf("limit %q: initial=%d is more than the %d tokens that the bucket holds", spec, initial, burst)
	}
	return nil
}

// shares returns how many shares make a token, and how many a microsecond brings.
func shares(spec limit.Spec) (token, inflow int64) {
	g := limit.GCD(spec.Count, int64(spec.Period))
	return int64(spec.Period) / g, spec.Count / g
}

// A shape is what makes one bucket in shares differ from another.
type shape struct {
	burst   int64 // tokens that the bucket holds
	initial int64 // tokens that a new key starts with
	token   int64 // shares in a token
	inflow  int64 // shares that a microsecond brings
	below   int64 // shares that the bucket may lack beyond being empty
}

// newToken makes a bucket in which no sum can overflow.
func newToken(spec limit.Spec, s shape) (*Token, error) {
	if s.below > math.MaxInt64-s.inflow || s.burst > (math.MaxInt64-s.inflow-s.below)/s.token {
		return nil, errTooLarge(spec, s.token)
	}
	capacity := s.burst * s.token
	b := &Token{
		burst: s.burst, token: s.token, inflow: s.inflow, room: capacity - s.token,
		full:    uint64(limit.CeilDiv(capacity+s.below, s.inflow)),
		initial: capacity - s.initial*s.token,
	}
	b.horizon = limit.Time(b.full)
	if b.initial != 0 {
		b.horizon = limit.Never // a forgotten key would begin again, with less than it had
	}
	return b, nil
}

func errTooLarge(spec limit.Spec, token int64) error {
	return fmt.Errorf("limit %q: too large to be exact: its tokens of %d shares do not fit into 64 bits; take a shorter period or a rounder count",
		spec, token)
}

// Horizon is the time in which the emptiest bucket refills; never when new keys do not start with a full bucket.
func (b *Token) Horizon() limit.Time { return b.horizon }

// missing returns the shares that the bucket lacks at t, and the later of t and the key's latest moment.
func (b *Token) missing(s *limit.State, t limit.Time) (int64, limit.Time) {
	switch {
	case s.Extra == 0:
		return b.initial, t
	case t <= s.At:
		return s.Level, s.At
	}
	return b.refill(s.Level, uint64(t-s.At)), t // as unsigned numbers, differences of times never overflow
}

// refill returns the shares still missing after elapsed microseconds.
func (b *Token) refill(missing int64, elapsed uint64) int64 {
	return max(0, missing-int64(min(elapsed, b.full))*b.inflow)
}

// Wait implements limit.Limiter.
func (b *Token) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, now := b.missing(s, t)
	if missing <= b.room {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(limit.CeilDiv(missing-b.room, b.inflow)))
}

// Charge implements limit.Limiter.
func (b *Token) Charge(s *limit.State, t limit.Time, refused bool) {
	s.Level, s.At = b.missing(s, t)
	s.Extra = 1
	if !refused {
		s.Level += b.token
	}
}

// Refuse implements limit.Limiter.
func (b *Token) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	missing, last := b.missing(s, at[0])
	for i, t := range at {
		now := max(last, t)
		missing = b.refill(missing, uint64(now-last))
		last = now
		if missing <= b.room {
			missing += b.token
		} else {
			dst = append(dst, int32(i))
		}
	}
	s.At, s.Level, s.Extra = last, missing, 1
	return dst
}

// Bounds implements limit.Bounder. What the bucket refills in the slack may have come before any request: the low bound
// holds that much more.
func (b *Token) Bounds(slack limit.Time) (low, high limit.Limiter) {
	low, high = limit.Enclose(b, slack)
	if more := int64(slack); more <= (math.MaxInt64-b.room-b.token)/b.inflow {
		larger := *b
		larger.room += more * b.inflow
		larger.full += uint64(more)
		if larger.horizon != limit.Never {
			larger.horizon = limit.Time(larger.full)
		}
		low = &larger
	}
	return low, high
}

// Level implements limit.Leveler: the tokens that are missing.
func (b *Token) Level(s *limit.State, t limit.Time) float64 {
	missing, _ := b.missing(s, t)
	return float64(missing) / float64(b.token)
}

// Semantics implements limit.Describer.
func (b *Token) Semantics() string {
	return fmt.Sprintf("continuous token bucket: %d at once, then one every %s%s; a refused request costs nothing",
		b.burst, limit.Interval(b.inflow, limit.Time(b.token)), b.startText())
}

// Shape implements limit.Describer.
func (b *Token) Shape() limit.Shape {
	s := limit.Shape{Count: b.inflow, Period: limit.Time(b.token), AtOnce: b.burst, Kin: true}
	if b.initial != 0 {
		s.Unlike = "new keys start full there"
	}
	return s
}

// startText returns how full a new bucket is, if it is not full.
func (b *Token) startText() string {
	if b.initial == 0 {
		return ""
	}
	return fmt.Sprintf("; a new key starts with %d", b.burst-b.initial/b.token)
}
