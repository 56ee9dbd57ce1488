package replay

import "shadow/limit"

// How long a refused client would have to stay away (Retry-After) depends on what the limits remember just then, refusal
// included, and that is gone when a timeline is judged in one call. So whoever wants to know has every request judged by
// itself: ask, charge, and ask again when it was refused. That takes about five times as long.

// askEach judges the next requests of a key one by one.
func (c *candidate) askEach(key int32, at []limit.Time, marks []uint64) {
	v := &c.verdicts
	v.reset()
	for j := range c.seats {
		c.seats[j].state = c.parts[j].states.At(key)
	}
	var its uint64
	for i, t := range at {
		if marks != nil {
			its = marks[i]
		}
		refused, delay := decide(c.policy.Combine, c.seats, t, its)
		v.add(int32(i), refused, delay)
		if refused {
			v.retry = append(v.retry, retryAfter(c.seats, t, its))
		}
	}
}

// retryAfter is how long after t the first moment lies at which the same request would be admitted, all else being quiet;
// limit.Never if there is none.
func retryAfter(seats []seat, t limit.Time, marks uint64) (wait limit.Time) {
	for i := range seats {
		if s := &seats[i]; holds(s.match, marks) {
			wait = max(wait, s.limiter.Wait(s.state, t))
		}
	}
	return wait
}

// ask makes the policies tell how long refused clients have to stay away.
func (e *Engine) ask() {
	for _, c := range e.candidates {
		c.retries = true
		for i := range c.parts {
			c.seats = append(c.seats, seat{part: &c.parts[i]})
		}
	}
}
