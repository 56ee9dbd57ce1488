package replay

import (
	"shadow/traffic"
)

// A crossing judges a policy whose limits count by different keys, such as a client's limit inside the site's. There
// keys meet, so no timeline can be judged for itself: the batch is judged request by request in the order of time. This
// is the second, slower path; what a key is, when it resets and when it is forgotten is the same as on the first.
type crossing struct {
	*candidate
	keyings []*keying // of each part
	seats   []seat
	scoped  bool // whether any part is
}

func newCrossing(c *candidate, keyings []*keying) *crossing {
	x := &crossing{candidate: c, keyings: keyings}
	for i := range c.parts {
		x.seats = append(x.seats, seat{part: &c.parts[i]})
		x.scoped = x.scoped || c.parts[i].scoped()
	}
	return x
}

// judge judges a batch, which order has as a single timeline.
func (x *crossing) judge(b *traffic.Batch, order *traffic.Group) error {
	x.verdicts.reset()
	var marks uint64
	for i, row := range order.Rows {
		for j := range x.seats {
			x.sit(j, row)
		}
		if x.scoped {
			marks = b.Marks[row]
		}
		refused, delay := decide(x.policy.Combine, x.seats, order.At[i], marks)
		x.verdicts.add(int32(i), refused, delay)
		if refused && x.retries {
			x.verdicts.retry = append(x.verdicts.retry, retryAfter(x.seats, order.At[i], marks))
		}
	}
	return x.book(b, timeline{rows: order.Rows, at: order.At})
}

// sit puts part j beside what it remembers of the key of a row.
func (x *crossing) sit(j int, row int32) {
	k, s := x.keyings[j], &x.seats[j]
	s.state = s.states.At(k.Column[row])
	if k.resets != nil && k.resets[row] {
		s.state.Release()
	}
}
