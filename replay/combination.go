package replay

import (
	"math/bits"
	"slices"

	"shadow/internal/policy"
	"shadow/limit"
)

// A combination judges a policy of several limits, or with scopes, that all count by one key: a timeline at a time.
//
//   - Where no request concerns two of the limits (tiers, say, or one action each), each judges the requests that concern
//     it, in one call.
//   - Else we try whether a batch of the timeline is admitted by all: each limit judges it alone, on a copy of what it
//     remembers. If none refuses anything, then none would have had the others not been there, nor are they any the
//     wiser: the copies are the truth.
//   - Where some limit does refuse, the batch is judged request by request: ask all, then charge all.
//
// Limits that combine in another way than together do not ask what others decide later: each judges in one call, those that are
// asked in turn only what is left.
type combination struct {
	how    policy.Combine
	limits []policyLimit
	active []limitState // of the limits that the timeline concerns

	at       []limit.Time // of the requests that concern a limit, reused
	indices  []int32      // of these requests
	verdicts verdicts     // on these requests
	copies   []limit.State
	gone     []bool // of the requests at hand: refused already, so that a limit that comes behind is not asked; nil: ask it all
	refused  []bool // of the requests at hand, reused
}

func newCombination(how policy.Combine, limits []policyLimit) *combination {
	return &combination{how: how, limits: limits, active: make([]limitState, 0, len(limits)), copies: make([]limit.State, len(limits))}
}

// judge adds to v what is decided on the next requests of a key.
func (c *combination) judge(v *verdicts, key int32, at []limit.Time, marks []uint64) {
	all, some := spread(marks)
	c.gather(key, some)
	switch {
	case len(c.active) == 0:
	case c.apart(marks):
		for i := range c.active {
			own := c.alone(&c.active[i], at, marks, all)
			v.refused, v.late = append(v.refused, own.refused...), append(v.late, own.late...)
		}
		if len(c.active) > 1 {
			v.sort(0, 0)
		}
	case c.how != policy.Together && c.mayBatch(all):
		c.separately(v, at, marks, all)
	default:
		c.together(v, at, marks, all)
	}
}

// spread returns the marks that all requests have, and those that some have.
func spread(marks []uint64) (all, some uint64) {
	if len(marks) == 0 {
		return 0, 0
	}
	all = marks[0]
	for _, m := range marks {
		all &= m
		some |= m
	}
	return all, some
}

// gather gathers the limits that concern any of the requests.
func (c *combination) gather(key int32, some uint64) {
	c.active = c.active[:0]
	for i := range c.limits {
		if p := &c.limits[i]; holds(p.match, some) || holds(p.count, some) {
			c.active = append(c.active, limitState{policyLimit: p, state: p.states.At(key)})
		}
	}
}

// apart reports whether each limit may refuse just what it counts, and no request concerns two of them.
func (c *combination) apart(marks []uint64) bool {
	var scopes uint64
	for i := range c.active {
		s := &c.active[i]
		if s.match != s.count || len(c.active) > 1 && (s.match == 0 || s.match&scopes != 0) {
			return false
		}
		scopes |= s.match
	}
	if len(c.active) > 1 {
		for _, m := range marks {
			if bits.OnesCount64(m&scopes) > 1 {
				return false
			}
		}
	}
	return true
}

// alone has one limit judge the requests that it counts as if there were no other, and returns what it decides, which
// holds until the next call.
func (c *combination) alone(s *limitState, at []limit.Time, marks []uint64, all uint64) *verdicts {
	whole := holds(s.count, all) && c.gone == nil
	if !whole {
		at = c.pick(s.count, at, marks)
	}
	v := &c.verdicts
	v.reset()
	if s.delayer != nil {
		v.refused, v.late = s.delayer.RefuseAndDelay(v.refused, v.late, s.state, at)
	} else {
		v.refused = s.limiter.Refuse(v.refused, s.state, at)
	}
	if !whole {
		for i, picked := range v.refused {
			v.refused[i] = c.indices[picked]
		}
		for i := range v.late {
			v.late[i].Index = c.indices[v.late[i].Index]
		}
	}
	return v
}

// pick returns the times of the requests in a scope that are not gone, and notes their indices.
func (c *combination) pick(bit uint64, at []limit.Time, marks []uint64) []limit.Time {
	c.at, c.indices = c.at[:0], c.indices[:0]
	for i, t := range at {
		if (bit == 0 || holds(bit, marks[i])) && (c.gone == nil || !c.gone[i]) {
			c.at, c.indices = append(c.at, t), append(c.indices, int32(i))
		}
	}
	return c.at
}

// Batches of requests that concern several limits. After one of which all was admitted the next is tried as a whole, and
// is longer. After one with a refusal the next is judged one by one.
const (
	firstBatch = 32 // requests
	leastBatch = 4  // requests that are worth being tried as a whole
)

// together adds to v what is decided on the next requests of the key.
func (c *combination) together(v *verdicts, at []limit.Time, marks []uint64, all uint64) {
	optimistic := c.how == policy.Together && c.mayBatch(all)
	clean, batch := true, firstBatch
	for from := 0; from < len(at); {
		to := min(from+batch, len(at))
		piece, its := at[from:to], marks
		if marks != nil {
			its = marks[from:to]
		}
		if !optimistic || !clean || !c.tryBatch(v, from, piece, its, all) {
			clean = c.oneByOne(v, from, piece, its)
		}
		if batch = firstBatch; clean {
			batch = 4 * (to - from)
		}
		from = to
	}
}

// mayBatch reports whether each limit counts all that it may refuse, so that judging what it counts tells what it refuses.
func (c *combination) mayBatch(all uint64) bool {
	for i := range c.active {
		if s := &c.active[i]; s.match != s.count && !holds(s.count, all) {
			return false
		}
	}
	return true
}

// tryBatch judges a batch if nothing in it is refused. Otherwise, or if finding out is too costly, it does nothing.
func (c *combination) tryBatch(v *verdicts, from int, at []limit.Time, marks []uint64, all uint64) bool {
	if len(at) < leastBatch || c.tooCostly(len(at)) {
		return false
	}
	late := len(v.late)
	for i := range c.active {
		s := &c.active[i]
		c.copies[i] = s.state.Clone()
		own := c.alone(s, at, marks, all)
		if len(own.refused) > 0 {
			v.late = v.late[:late]
			c.restore(i + 1)
			return false
		}
		for _, d := range own.late {
			if s.match == 0 || holds(s.match, marks[d.Index]) {
				v.late = append(v.late, limit.Delayed{Index: d.Index + int32(from), By: d.By})
			}
		}
	}
	for i := range c.active {
		c.copies[i].Release()
	}
	v.sort(len(v.refused), late)
	return true
}

// tooCostly reports whether copying what the limits remember costs more than asking n times.
func (c *combination) tooCostly(n int) bool {
	return slices.ContainsFunc(c.active, func(s limitState) bool { return s.state.Ring().Len() > 8*n })
}

// restore makes the first n limits remember what they did before.
func (c *combination) restore(n int) {
	for i := range n {
		c.active[i].state.Release()
		*c.active[i].state = c.copies[i]
	}
}

// oneByOne judges the requests of a batch one after the other, and reports whether none was refused.
func (c *combination) oneByOne(v *verdicts, from int, at []limit.Time, marks []uint64) bool {
	before := len(v.refused)
	var its uint64
	for i, t := range at {
		if marks != nil {
			its = marks[i]
		}
		refused, delay := decide(c.how, c.active, t, its)
		v.add(int32(from+i), refused, delay)
	}
	return len(v.refused) == before
}

// separately adds to v what is decided on the next requests of the key by limits that judge for themselves: each all that it counts,
// or in turn what those before it have admitted. Each must count all that it may refuse.
func (c *combination) separately(v *verdicts, at []limit.Time, marks []uint64, all uint64) {
	if cap(c.refused) < len(at) {
		c.refused = make([]bool, len(at))
	}
	c.refused = c.refused[:len(at)]
	clear(c.refused)
	late := len(v.late)
	for i := range c.active {
		s := &c.active[i]
		own := c.alone(s, at, marks, all)
		for _, d := range own.late {
			if s.match == 0 || holds(s.match, marks[d.Index]) {
				v.late = append(v.late, d)
			}
		}
		for _, index := range own.refused {
			if s.match == 0 || holds(s.match, marks[index]) {
				c.refused[index] = true
				if c.how == policy.InTurn {
					c.gone = c.refused
				}
			}
		}
	}
	c.gone = nil
	before := len(v.refused)
	for i, refused := range c.refused {
		if refused {
			v.refused = append(v.refused, int32(i))
		}
	}
	v.late = v.late[:late+len(slices.DeleteFunc(v.late[late:], func(d limit.Delayed) bool { return c.refused[d.Index] }))]
	v.sort(before, late)
}
