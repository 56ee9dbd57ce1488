package replay

import (
	"shadow/limit"
	"shadow/policy"
)

// A part is one limit of a policy on trial, and what it remembers of each key.
type part struct {
	limiter limit.Limiter
	delayer limit.Delayer      // the limiter, if it can keep requests waiting
	barrer  limit.Barrer       // the limiter, if it keeps keys out after a refusal
	match   uint64             // the bit in Batch.Marks of the requests that it may refuse; 0: all
	count   uint64             // the bit of those that it counts; 0: all
	states  Paged[limit.State] // by key
}

// partsOf are the parts of a policy, which remember nothing yet.
func partsOf(p policy.Policy) []part {
	parts := make([]part, len(p.Parts))
	for i, of := range p.Parts {
		parts[i] = part{limiter: of.Limiter, match: bitOf(of.Match), count: bitOf(of.Count)}
		parts[i].delayer, _ = of.Limiter.(limit.Delayer)
		parts[i].barrer, _ = of.Limiter.(limit.Barrer)
	}
	return parts
}

// bitOf is the bit that marks the requests in a scope, 0 for the scope of all.
func bitOf(s policy.Scope) uint64 {
	if s == 0 {
		return 0
	}
	return 1 << (s - 1)
}

// holds reports whether a request is in the scope that a bit stands for.
func holds(bit, marks uint64) bool { return bit&^marks == 0 }

// scoped reports whether some requests do not concern the part.
func (p *part) scoped() bool { return p.match|p.count != 0 }

// A seat is a part beside what it remembers of the key at hand.
type seat struct {
	*part
	state *limit.State
	full  bool // whether it has no room for the request at hand
}

// decide judges one request by several parts, in the way of their policy.
func decide(how policy.Combine, seats []seat, t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	if how == policy.Together {
		return together(seats, t, marks)
	}
	for i := range seats {
		no, by := seats[i].decide(t, marks)
		refused, delay = refused || no, max(delay, by)
		if refused && how == policy.InTurn {
			break
		}
	}
	if refused {
		return true, 0
	}
	return false, delay
}

// decide judges one request by the part as if there were no other. One that it counts and may not refuse is charged as a refused
// one when there is no room.
func (s *seat) decide(t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	matches, counts := holds(s.match, marks), holds(s.count, marks)
	if !matches && !counts {
		return false, 0
	}
	full := s.limiter.Wait(s.state, t) > 0
	if matches && !full && s.delayer != nil {
		delay = s.delayer.Delay(s.state, t)
	}
	if counts {
		s.limiter.Charge(s.state, t, full)
	} else if full {
		s.bar(t, marks)
	}
	return matches && full, delay
}

// together judges one request as a server with several zones does: it asks each part that may refuse
// the request, and then has each part that counts it charge it, with the common verdict. A part that counts the request
// and may not refuse it charges it as a refused one when it has no room, as if it were full for its own sake: what a
// limiter remembers never goes beyond its limit. One that keeps a key out after a refusal learns of it either way. A request that is admitted waits for the slowest part.
func together(seats []seat, t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	for i := range seats {
		s := &seats[i]
		matches := holds(s.match, marks)
		s.full = !refused && (matches || holds(s.count, marks)) && s.limiter.Wait(s.state, t) > 0
		refused = refused || matches && s.full
	}
	for i := range seats {
		s := &seats[i]
		if !refused && s.delayer != nil && holds(s.match, marks) {
			delay = max(delay, s.delayer.Delay(s.state, t))
		}
		if holds(s.count, marks) {
			s.limiter.Charge(s.state, t, refused || s.full)
		} else if refused {
			s.bar(t, marks)
		}
	}
	return refused, delay
}

// bar tells the part of a refused request that it does not count.
func (s *seat) bar(t limit.Time, marks uint64) {
	if s.barrer != nil && holds(s.match, marks) {
		s.barrer.Bar(s.state, t)
	}
}
