package replay

import (
	"shadow/internal/traffic"
)

// A crossKey judges a policy whose limits count by different keys, such as a client's limit inside the site's. There
// keys meet, so no timeline can be judged for itself: the batch is judged request by request in the order of time. This
// is the second, slower path; what a key is, when it resets and when it is forgotten is the same as on the first.
type crossKey struct {
	*candidate
	keyGroups []*keyGroup // of each limit
	active    []limitState
	scoped    bool // whether any limit is
}

func newCrossKey(c *candidate, keyGroups []*keyGroup) *crossKey {
	x := &crossKey{candidate: c, keyGroups: keyGroups}
	for i := range c.limits {
		x.active = append(x.active, limitState{policyLimit: &c.limits[i]})
		x.scoped = x.scoped || c.limits[i].scoped()
	}
	return x
}

// judge judges a batch, which order has as a single timeline.
func (x *crossKey) judge(b *traffic.Batch, order *traffic.Group) error {
	x.verdicts.reset()
	var marks uint64
	for i, row := range order.Rows {
		for j := range x.active {
			x.sit(j, row)
		}
		if x.scoped {
			marks = b.Marks[row]
		}
		weigh(x.active, b, row, marks)
		refused, delay := decide(x.policy.Combine, x.active, order.At[i], marks)
		x.verdicts.add(int32(i), refused, delay)
		if refused && x.retries {
			x.verdicts.retry = append(x.verdicts.retry, retryAfter(x.active, order.At[i], marks))
		}
	}
	return x.book(b, timeline{rows: order.Rows, at: order.At})
}

// sit puts limit j beside what it remembers of the key of a row.
func (x *crossKey) sit(j int, row int32) {
	k, s := x.keyGroups[j], &x.active[j]
	s.state = s.states.At(k.Column[row])
	if k.resets != nil && k.resets[row] {
		s.state.Release()
	}
}
