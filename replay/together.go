package replay

import (
	"slices"

	"shadow/limit"
	"shadow/policy"
)

// How a combination judges requests that concern several of its limits: stretch by stretch. A stretch follows the last
// one's example: where all was admitted we hope again, and for longer; where something was refused we ask one by one.

const (
	firstStretch = 32 // requests
	least        = 4  // requests that hope is worth the trouble for
)

// together adds to v what is decided on the next requests of the key.
func (c *combination) together(v *verdicts, at []limit.Time, marks []uint64, all uint64) {
	hope := c.how == policy.Together && c.mayHope(all)
	calm, stretch := true, firstStretch
	for from := 0; from < len(at); {
		to := min(from+stretch, len(at))
		piece, its := at[from:to], marks
		if marks != nil {
			its = marks[from:to]
		}
		if !hope || !calm || !c.admitAll(v, from, piece, its, all) {
			calm = c.oneByOne(v, from, piece, its)
		}
		if stretch = firstStretch; calm {
			stretch = 4 * (to - from)
		}
		from = to
	}
}

// mayHope reports whether each limit counts all that it may refuse, so that judging what it counts tells what it refuses.
func (c *combination) mayHope(all uint64) bool {
	for i := range c.seats {
		if s := &c.seats[i]; s.match != s.count && !holds(s.count, all) {
			return false
		}
	}
	return true
}

// admitAll judges a stretch if nothing in it is refused. Otherwise, or if that is too dear to find out, it does nothing.
func (c *combination) admitAll(v *verdicts, from int, at []limit.Time, marks []uint64, all uint64) bool {
	if len(at) < least || c.dear(len(at)) {
		return false
	}
	late := len(v.late)
	for i := range c.seats {
		s := &c.seats[i]
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
	for i := range c.seats {
		c.copies[i].Release()
	}
	v.sort(len(v.refused), late)
	return true
}

// dear reports whether copying what the limits remember costs more than asking n times.
func (c *combination) dear(n int) bool {
	return slices.ContainsFunc(c.seats, func(s seat) bool { return s.state.Ring().Len() > 8*n })
}

// restore makes the first n parts remember what they did before.
func (c *combination) restore(n int) {
	for i := range n {
		c.seats[i].state.Release()
		*c.seats[i].state = c.copies[i]
	}
}

// oneByOne judges the requests of a stretch one after the other, and reports whether none was refused.
func (c *combination) oneByOne(v *verdicts, from int, at []limit.Time, marks []uint64) bool {
	before := len(v.refused)
	var its uint64
	for i, t := range at {
		if marks != nil {
			its = marks[i]
		}
		refused, delay := decide(c.how, c.seats, t, its)
		v.add(int32(from+i), refused, delay)
	}
	return len(v.refused) == before
}
