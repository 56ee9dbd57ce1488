package bucket

import (
	"fmt"
	"math"

	"shadow/limit"
)

// The token bucket with debt: token:N/P,debt
//
// Every request takes a token, a refused one too, so the balance goes below zero; debt=D stops it D tokens below. A
// request is admitted when the balance after it is not negative. Who keeps knocking is kept out:
//
//	balance   6 ├┐
//	            │└┐ six admitted
//	          0 ├─└┐──────────────────────┬─────/────  struck at the last request, then refilled from there
//	            │  └┐ six refused         │ P  /
//	         −6 ├   └─────────────────────┘   /
//	            └───────────────────────────────▶ time
//
// The debt is struck when a whole period has passed since the last request, admitted or refused: then the bucket was
// empty at that request, and has been refilling from there. Until then it refills from below.
//
// There is no other source than the limiters that people write for logins and APIs with a balance that they always
// take from, and that they put back to nothing for those who have been quiet.
//
// State: as for Token; Level is how many shares are missing from a full bucket, so more than all of them in debt.

// boundless stands for debt without a number. It goes as deep as 64 bits hold shares. No log can tell that from no
// bound: for counts below a million, a bucket that gets a request in every period needs a hundred days to come back
// from there.
const boundless = -1

// Debt is a token bucket from which refused requests take tokens, too.
type Debt struct {
	Token
	period   uint64 // microseconds without a request after which the debt is struck
	capacity int64  // shares that an empty bucket lacks
	deepest  int64  // shares that the bucket lacks at most
	debt     int64  // tokens, or boundless
}

func newDebt(spec limit.Spec, burst, initial, debt int64) (*Debt, error) {
	token, inflow := shares(spec)
	s := shape{burst: burst, initial: initial, token: token, inflow: inflow}
	switch most := (math.MaxInt64-inflow)/token - burst; { // tokens
	case debt == 0:
		return nil, fmt.Errorf("limit %q: debt=0 is no debt; want at least 1, or leave the option out", spec)
	case debt > most || most < 1:
		return nil, errTooLarge(spec, token)
	case debt == boundless:
		s.below = most * token
	default:
		s.below = debt * token
	}
	t, err := newToken(spec, s)
	if err != nil {
		return nil, err
	}
	b := &Debt{Token: *t, period: uint64(spec.Period), capacity: burst * token, debt: debt}
	b.deepest = b.capacity + s.below
	if b.initial == 0 {
		struck := max(spec.Period, limit.Time(limit.CeilDiv(b.capacity, inflow)))
		b.horizon = min(limit.Time(b.full), struck)
	}
	return b, nil
}

// Horizon is the time in which the deepest debt is paid off and the bucket full, or in which it is struck and the
// bucket refills from empty, whichever is shorter; never when new keys do not start with a full bucket.
func (b *Debt) Horizon() limit.Time { return b.horizon }

// missing returns the shares that the bucket lacks at t, and the later of t and the key's latest moment.
func (b *Debt) missing(s *limit.State, t limit.Time) (int64, limit.Time) {
	switch {
	case s.Extra == 0:
		return b.initial, t
	case t <= s.At:
		return s.Level, s.At
	}
	return b.settle(s.Level, uint64(t-s.At)), t
}

// settle returns the shares still missing after elapsed microseconds without a request.
func (b *Debt) settle(missing int64, elapsed uint64) int64 {
	if elapsed >= b.period {
		missing = min(missing, b.capacity)
	}
	return b.refill(missing, elapsed)
}

// take returns the shares missing after one more token is gone.
func (b *Debt) take(missing int64) int64 { return min(missing, b.deepest-b.token) + b.token }

// Wait implements limit.Limiter.
func (b *Debt) Wait(s *limit.State, t limit.Time) limit.Time {
	missing, now := b.missing(s, t)
	if missing <= b.room {
		return 0
	}
	wait := limit.Time(limit.CeilDiv(missing-b.room, b.inflow))
	if s.Extra != 0 {
		// The debt will be struck before a period is over since s.At, and a period brings a token at least.
		wait = min(wait, limit.Time(b.period)-(now-s.At))
	}
	return limit.WaitFrom(t, now, wait)
}

// Charge implements limit.Limiter. It does not matter whether the request was refused.
func (b *Debt) Charge(s *limit.State, t limit.Time, _ bool) {
	missing, now := b.missing(s, t)
	s.At, s.Level, s.Extra = now, b.take(missing), 1
}

// CountsRefused implements limit.RefusalCounter.
func (b *Debt) CountsRefused() bool { return true }

// Bounds implements limit.Bounder.
func (b *Debt) Bounds(slack limit.Time) (low, high limit.Limiter) { return limit.Enclose(b, slack) }

// Refuse implements limit.Limiter.
func (b *Debt) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	missing, last := b.missing(s, at[0])
	for i, t := range at {
		now := max(last, t)
		missing = b.settle(missing, uint64(now-last))
		last = now
		if missing > b.room {
			dst = append(dst, int32(i))
		}
		missing = b.take(missing)
	}
	s.At, s.Level, s.Extra = last, missing, 1
	return dst
}

// Level implements limit.Leveler. In debt it is more than the bucket holds.
func (b *Debt) Level(s *limit.State, t limit.Time) float64 {
	missing, _ := b.missing(s, t)
	return float64(missing) / float64(b.token)
}

// Semantics implements limit.Describer.
func (b *Debt) Semantics() string {
	bound := ""
	if b.debt != boundless {
		bound = fmt.Sprintf(", down to %d below zero", b.debt)
	}
	return fmt.Sprintf("token bucket with debt: %d at once, then one every %s%s; a refused request takes a token, too%s, until %s pass without a request",
		b.burst, limit.Interval(b.inflow, limit.Time(b.token)), b.startText(), bound, limit.FormatPeriod(limit.Time(b.period)))
}

// Shape implements limit.Describer.
func (b *Debt) Shape() limit.Shape {
	s := b.Token.Shape()
	s.Kin = false
	s.Unlike = "refused requests cost nothing there"
	return s
}
