package replay

import (
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// A policyLimit is one limit of a policy on trial, and what it remembers of each key.
type policyLimit struct {
	limiter limit.Limiter
	delayer limit.Delayer      // the limiter, if it can keep requests waiting
	barrer  limit.Barrer       // the limiter, if it keeps keys out after a refusal
	carrier limit.Carrier      // the limiter, if it may hold more than it admits
	weigher limit.Weigher      // the limiter, if its requests have costs
	costs   match.Costs        // which these are, if there are any
	match   uint64             // the bit in Batch.Marks of the requests that it may refuse; 0: all
	count   uint64             // the bit of those that it counts; 0: all
	states  Paged[limit.State] // by key
}

// limitsOf returns the limits of a policy, which remember nothing yet.
func limitsOf(p policy.Policy, tables *traffic.Tables) []policyLimit {
	limits := make([]policyLimit, len(p.Parts))
	for i, of := range p.Parts {
		limits[i] = policyLimit{limiter: of.Limiter, match: bitOf(of.Match), count: bitOf(of.Count)}
		limits[i].delayer, _ = of.Limiter.(limit.Delayer)
		limits[i].barrer, _ = of.Limiter.(limit.Barrer)
		limits[i].carrier, _ = of.Limiter.(limit.Carrier)
		if limits[i].costs = match.NewCosts(of.Costs, tables); of.Costs != nil {
			limits[i].weigher = of.Limiter.(limit.Weigher)
		}
	}
	return limits
}

// bitOf returns the bit that marks the requests in a scope, 0 for the scope of all.
func bitOf(s policy.Scope) uint64 {
	if s == 0 {
		return 0
	}
	return 1 << (s - 1)
}

// holds reports whether a request is in the scope that a bit stands for.
func holds(bit, marks uint64) bool { return bit&^marks == 0 }

// scoped reports whether some requests do not concern the limit, or not as others do.
func (p *policyLimit) scoped() bool { return p.match|p.count != 0 || p.costs.Of.Scoped() }

// A limitState is a limit beside what it remembers of the key at hand.
type limitState struct {
	*policyLimit
	state *limit.State
	cost  int64 // of the request at hand, if there are costs
	full  bool  // whether it has no room for the request at hand
}

// weigh finds what the request of a row costs the limits.
func weigh(active []limitState, b *traffic.Batch, row int32, marks uint64) {
	for i := range active {
		if s := &active[i]; s.weigher != nil {
			s.cost = s.costs.At(b, row, marks)
		}
	}
}

// wait calls limit.Limiter.Wait for the request at hand.
func (s *limitState) wait(t limit.Time) limit.Time {
	if s.weigher != nil {
		return s.weigher.WaitFor(s.state, t, s.cost)
	}
	return s.limiter.Wait(s.state, t)
}

// charge calls limit.Limiter.Charge with the request at hand.
func (s *limitState) charge(t limit.Time, refused bool) {
	if s.weigher != nil {
		s.weigher.ChargeFor(s.state, t, s.cost, refused)
	} else {
		s.limiter.Charge(s.state, t, refused)
	}
}

// decide judges one request by several limits, in the way of their policy.
func decide(how policy.Combine, active []limitState, t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	if how == policy.Together {
		return together(active, t, marks)
	}
	for i := range active {
		no, by := active[i].decide(t, marks)
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

// decide judges one request by the limit as if there were no other. One that it counts and may not refuse is charged as a refused
// one when there is no room.
func (s *limitState) decide(t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	matches, counts := holds(s.match, marks), holds(s.count, marks)
	if !matches && !counts {
		return false, 0
	}
	full := s.wait(t) > 0
	if matches && !full && s.delayer != nil {
		delay = s.delayer.Delay(s.state, t)
	}
	if counts {
		s.charge(t, full && (matches || s.carrier == nil || !s.carrier.Carries(s.state, t)))
	} else if full {
		s.bar(t, marks)
	}
	return matches && full, delay
}

// together judges one request as a server with several zones does. First each limit that may refuse the request is asked,
// then each that counts it charges it with the common verdict. A limit that only counts the request charges it as refused
// if it is itself full, so its state never exceeds its capacity, unless it carries more. One that keeps a key out is notified
// of every refusal.
// A request that is admitted waits for the slowest limit.
func together(active []limitState, t limit.Time, marks uint64) (refused bool, delay limit.Time) {
	for i := range active {
		s := &active[i]
		matches := holds(s.match, marks)
		s.full = !refused && (matches || holds(s.count, marks)) && s.wait(t) > 0
		refused = refused || matches && s.full
	}
	for i := range active {
		s := &active[i]
		if !refused && s.delayer != nil && holds(s.match, marks) {
			delay = max(delay, s.delayer.Delay(s.state, t))
		}
		if holds(s.count, marks) {
			s.charge(t, refused || s.full && (s.carrier == nil || !s.carrier.Carries(s.state, t)))
		} else if refused {
			s.bar(t, marks)
		}
	}
	return refused, delay
}

// bar tells the limit of a refused request that it does not count.
func (s *limitState) bar(t limit.Time, marks uint64) {
	if s.barrer != nil && holds(s.match, marks) {
		s.barrer.Bar(s.state, t)
	}
}

// How long a refused client would have to stay away (Retry-After) depends on what the limits remember just then,
// refusal included, and that is gone when a timeline is judged in one call. So if it is wanted, every request is judged
// by itself: ask, charge, and ask again when it was refused. That takes about five times as long. Requests that have
// costs are judged one by one as well.

// oneByOne prepares to judge requests so.
func (c *candidate) oneByOne() {
	c.active = nil
	for i := range c.limits {
		c.active = append(c.active, limitState{policyLimit: &c.limits[i]})
	}
}

// askEach judges the next requests of a key, rows of a batch, one by one.
func (c *candidate) askEach(key int32, b *traffic.Batch, rows []int32, at []limit.Time, marks []uint64) {
	v := &c.verdicts
	v.reset()
	for j := range c.active {
		c.active[j].state = c.limits[j].states.At(key)
	}
	var its uint64
	for i, t := range at {
		if marks != nil {
			its = marks[i]
		}
		weigh(c.active, b, rows[i], its)
		refused, delay := decide(c.policy.Combine, c.active, t, its)
		v.add(int32(i), refused, delay)
		if refused && c.retries {
			v.retry = append(v.retry, retryAfter(c.active, t, its))
		}
	}
}

// retryAfter returns how long after t the first moment lies at which the same request would be admitted, all else being
// quiet.
func retryAfter(active []limitState, t limit.Time, marks uint64) (r Retry) {
	for i := range active {
		if s := &active[i]; holds(s.match, marks) {
			if wait := s.wait(t); wait > r.After {
				r = Retry{wait, i}
			}
		}
	}
	return r
}

// ask makes the policies tell how long refused clients have to stay away.
func (e *Engine) ask() {
	for _, c := range e.candidates {
		c.retries = true
		c.oneByOne()
	}
}
