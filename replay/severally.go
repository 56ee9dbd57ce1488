package replay

import (
	"slices"

	"shadow/limit"
	"shadow/policy"
)

// severally adds to v what is decided on the next requests of the key by limits that judge for themselves: each all that it counts,
// or in turn what those before it have admitted. Each must count all that it may refuse.
func (c *combination) severally(v *verdicts, at []limit.Time, marks []uint64, all uint64) {
	if cap(c.refused) < len(at) {
		c.refused = make([]bool, len(at))
	}
	c.refused = c.refused[:len(at)]
	clear(c.refused)
	late := len(v.late)
	for i := range c.seats {
		s := &c.seats[i]
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
