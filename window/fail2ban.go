package window

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"shadow/limit"
)

// The jail of fail2ban: fail2ban:N/P,bantime=B
//
// N is maxretry, P findtime. Each admitted request is a failure. The one that makes N failures is still answered; from
// then on the key is banned, for B and the moment at its end. The ban over, it begins from nothing.
//
// A ticket has the moment of the first failure, that of the last, and how many there were. When the first is more than
// P ago, they are taken to have come evenly, and the ticket moves:
//
//	failures = round(failures·P / (t − first)), a half to the even number;   first = t − P;   and then one more
//
// Tickets whose last failure is P ago or more are thrown away. fail2ban looks for these every 5 s; here it happens at
// once. Nor does it take time here to read the log and to set up a ban.
//
// Source: fail2ban 1.0.2, server/ticket.py, FailTicket.adjustTime; server/failmanager.py, addFailure, toBan and cleanup;
// server/banmanager.py, unBanList.
//
// State: At is the moment of the last failure, which for a banned key is that of the ban, Level how many failures there
// were, -1 for a banned key, Extra 1 + how long the first was before the last. A time before that of the last failure
// counts as that.

// Fail2ban is a jail.
type Fail2ban struct {
	count   int64      // failures
	period  limit.Time // findtime
	bantime limit.Time
}

// NewFail2ban makes the jail that spec describes: fail2ban:N/P with the option bantime.
func NewFail2ban(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	bantime := args.Duration("bantime", 10*limit.Minute)
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	if spec.Count > math.MaxInt32 {
		return nil, fmt.Errorf("limit %q: maxretry must be at most %d", spec, math.MaxInt32)
	}
	return &Fail2ban{spec.Count, spec.Period, bantime}, nil
}

const banned = -1 // instead of a number of failures

// Horizon is the longer of findtime and bantime, and the moment at its end.
func (f *Fail2ban) Horizon() limit.Time { return limit.Later(max(f.period, f.bantime), 1) }

// Wait implements limit.Limiter.
func (f *Fail2ban) Wait(s *limit.State, t limit.Time) limit.Time {
	now := latest(s, t)
	if s.Level != banned || uint64(now-s.At) > uint64(f.bantime) {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Later(f.bantime-(now-s.At), 1))
}

// Charge implements limit.Limiter.
func (f *Fail2ban) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused {
		return
	}
	now := latest(s, t)
	failures, age := s.Level, uint64(s.Extra-1) // how long the first failure is ago
	idle := uint64(now - s.At)
	switch {
	case s.Extra == 0, s.Level == banned, idle >= uint64(f.period):
		failures, age = 0, 0
	default:
		if age += idle; idle > 0 && age > uint64(f.period) {
			failures, age = f.estimate(failures, age), uint64(f.period)
		}
	}
	if failures++; failures >= f.count {
		failures, age = banned, 0
	}
	s.At, s.Level, s.Extra = now, failures, int64(age)+1
}

// estimate returns how many of the failures in the last age, which is more than the period, came in the last period.
func (f *Fail2ban) estimate(failures int64, age uint64) int64 {
	high, low := bits.Mul64(uint64(failures), uint64(f.period))
	n, rest := bits.Div64(high, low, age) // less than failures, as the period is less than age
	if more := age - rest; rest > more || rest == more && n%2 == 1 {
		n++
	}
	return int64(n)
}

// Refuse implements limit.Limiter.
func (f *Fail2ban) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		if f.Wait(s, t) > 0 {
			dst = append(dst, int32(i))
		} else {
			f.Charge(s, t, false)
		}
	}
	return dst
}

// Level implements limit.Leveler: the failures that count, or all of them for a banned key.
func (f *Fail2ban) Level(s *limit.State, t limit.Time) float64 {
	idle := uint64(latest(s, t) - s.At)
	switch {
	case s.Extra == 0:
		return 0
	case s.Level == banned && idle <= uint64(f.bantime):
		return float64(f.count)
	case s.Level == banned || idle >= uint64(f.period):
		return 0
	}
	return float64(s.Level)
}

// Semantics implements limit.Describer.
func (f *Fail2ban) Semantics() string {
	return fmt.Sprintf("fail2ban: after the request that is number %d within %s, nothing for %s; a refused request does not count",
		f.count, limit.FormatPeriod(f.period), limit.FormatPeriod(f.bantime))
}

// Shape implements limit.Describer.
func (f *Fail2ban) Shape() limit.Shape {
	return limit.Shape{
		Count: f.count, Period: f.period, AtOnce: f.count,
		Unlike: "there is no ban there",
	}
}

// Sharing implements limit.Sharer.
func (f *Fail2ban) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("fail2ban bans on one host; the nearest that can be shared is window with a cooldown")
}
