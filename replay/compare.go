package replay

import "shadow/internal/traffic"

// A Comparison is an Observer that holds the verdicts of the first two policies, A and B, side by side, request by
// request. Sums of events would not do: two policies that refuse one request each need not refuse the same one.
type Comparison struct {
	Requests int64        // counted
	Refused  Sides        // of all
	Clients  Paged[Sides] // by client id
	Actions  []Sides      // by action id

	tables *traffic.Tables
	onlyA  []bool // by row: A refuses it, and B has not been seen to; all false between calls
}

// Sides are requests by who refuses them.
type Sides struct{ OnlyA, OnlyB, Both int64 }

// A returns how many A refuses.
func (s Sides) A() int64 { return s.OnlyA + s.Both }

// B returns how many B refuses.
func (s Sides) B() int64 { return s.OnlyB + s.Both }

// NewComparison returns one that has seen nothing.
func NewComparison(t *traffic.Tables) *Comparison { return &Comparison{tables: t} }

// Observe implements Observer.
func (c *Comparison) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	if b.Warm {
		return nil
	}
	c.Requests += int64(b.Len())
	c.Clients.Grow(c.tables.Clients.Len())
	c.Actions = grow(c.Actions, c.tables.Actions.Len())
	c.onlyA = grow(c.onlyA, b.Len())
	for _, row := range verdicts[0].Refused {
		c.onlyA[row] = true
	}
	for _, row := range verdicts[1].Refused {
		if c.onlyA[row] {
			c.onlyA[row] = false
			c.add(b, row, Sides{Both: 1})
		} else {
			c.add(b, row, Sides{OnlyB: 1})
		}
	}
	for _, row := range verdicts[0].Refused {
		if c.onlyA[row] {
			c.onlyA[row] = false
			c.add(b, row, Sides{OnlyA: 1})
		}
	}
	return nil
}

// add counts a refused request.
func (c *Comparison) add(b *traffic.Batch, row int32, one Sides) {
	c.Refused.add(one)
	c.Clients.At(b.Client[row]).add(one)
	c.Actions[b.Action[row]].add(one)
}

func (s *Sides) add(t Sides) {
	s.OnlyA += t.OnlyA
	s.OnlyB += t.OnlyB
	s.Both += t.Both
}
