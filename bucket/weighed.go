package bucket

import "shadow/limit"

// A token bucket takes as many tokens for a request as it costs. One for which there are not enough is refused and takes
// nothing; one that costs more than the bucket holds is never admitted.
//
// The source is golang.org/x/time/rate, Limiter.AllowN.

// Weigh returns a limiter like l whose requests have costs; false if it cannot have any. Of buckets it is the one that
// refills evenly and owes nothing.
func Weigh(l limit.Limiter) (limit.Weigher, bool) {
	b, ok := l.(*Token)
	return weighed{b}, ok
}

type weighed struct{ *Token }

// WaitFor implements limit.Weigher.
func (b weighed) WaitFor(s *limit.State, t limit.Time, cost int64) limit.Time {
	if cost > b.burst {
		return limit.Never
	}
	missing, now := b.missing(s, t)
	room := b.room - (cost-1)*b.token
	if missing <= room {
		return 0
	}
	return limit.WaitFrom(t, now, limit.Time(limit.CeilDiv(missing-room, b.inflow)))
}

// ChargeFor implements limit.Weigher.
func (b weighed) ChargeFor(s *limit.State, t limit.Time, cost int64, refused bool) {
	s.Level, s.At = b.missing(s, t)
	s.Extra = 1
	if !refused {
		s.Level += cost * b.token
	}
}
