package replay

import (
	"math/bits"

	"shadow/limit"
	"shadow/policy"
)

// A combination judges a policy of several limits, or with scopes, that all count by one key: a timeline at a time.
//
//   - Where no request concerns two of the limits (tiers, say, or one action each), each judges the requests that concern
//     it, in one call.
//   - Else we hope that a stretch of the timeline is admitted by all: each limit judges it alone, on a copy of what it
//     remembers. If none refuses anything, then none would have had the others not been there, nor are they any the
//     wiser: the copies are the truth.
//   - Where some limit does refuse, the stretch is judged request by request: ask all, then charge all.
//
// Limits that combine in another way than together do not ask what others decide later: each judges in one call, those that are
// asked in turn only what is left (severally.go).
type combination struct {
	how   policy.Combine
	parts []part
	seats []seat // of the parts that the timeline concerns

	at       []limit.Time // of the requests that concern a part, reused
	indices  []int32      // of these requests
	verdicts verdicts     // on these requests
	copies   []limit.State
	gone     []bool // of the requests at hand: refused already, so that a limit that comes behind is not asked; nil: ask it all
	refused  []bool // of the requests at hand, reused
}

func newCombination(how policy.Combine, parts []part) *combination {
	return &combination{how: how, parts: parts, seats: make([]seat, 0, len(parts)), copies: make([]limit.State, len(parts))}
}

// judge adds to v what is decided on the next requests of a key.
func (c *combination) judge(v *verdicts, key int32, at []limit.Time, marks []uint64) {
	all, some := spread(marks)
	c.seat(key, some)
	switch {
	case len(c.seats) == 0:
	case c.apart(marks):
		for i := range c.seats {
			own := c.alone(&c.seats[i], at, marks, all)
			v.refused, v.late = append(v.refused, own.refused...), append(v.late, own.late...)
		}
		if len(c.seats) > 1 {
			v.sort(0, 0)
		}
	case c.how != policy.Together && c.mayHope(all):
		c.severally(v, at, marks, all)
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

// seat gathers the parts that concern any of the requests.
func (c *combination) seat(key int32, some uint64) {
	c.seats = c.seats[:0]
	for i := range c.parts {
		if p := &c.parts[i]; holds(p.match, some) || holds(p.count, some) {
			c.seats = append(c.seats, seat{part: p, state: p.states.At(key)})
		}
	}
}

// apart reports whether each limit may refuse just what it counts, and no request concerns two of them.
func (c *combination) apart(marks []uint64) bool {
	var scopes uint64
	for i := range c.seats {
		s := &c.seats[i]
		if s.match != s.count || len(c.seats) > 1 && (s.match == 0 || s.match&scopes != 0) {
			return false
		}
		scopes |= s.match
	}
	if len(c.seats) > 1 {
		for _, m := range marks {
			if bits.OnesCount64(m&scopes) > 1 {
				return false
			}
		}
	}
	return true
}

// alone has one part judge the requests that it counts as if there were no other, and returns what it decides, which
// holds until the next call.
func (c *combination) alone(s *seat, at []limit.Time, marks []uint64, all uint64) *verdicts {
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
