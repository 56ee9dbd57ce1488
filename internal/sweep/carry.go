package sweep

import (
	"errors"
	"math"

	"shadow/internal/traffic"
)

// Carry carries what was found, of whole timelines, by a Sweep with the same options: neither an Action, nor a Band, nor
// Groups.
func (s *Sweep) Carry(c traffic.Carrier) {
	s.tallies.Carry(c)
	c.Sum(&s.requests)
	clients := &s.sieve.clients
	for id := range c.IDs(traffic.ClientName, clients.Len(), func(id int32) bool { return *clients.At(id) > 0 }) {
		clients.Grow(int(id) + 1)
		slot := s.sieve.slotFor(id)
		for i := range s.shapes {
			if shape := &s.shapes[i]; shape.rate != nil {
				s.carryRefused(c, shape.rate, slot)
			} else {
				s.carryNeeds(c, shape.needs, slot)
			}
		}
	}
	for _, shape := range s.shapes {
		if r := shape.rate; r != nil {
			top := r.top
			c.Value(&top)
			r.top = max(r.top, top)
		}
	}
}

var errNeed = errors.New("curves make no sense: there are not so many requests")

// carryNeeds carries what the requests of a client need.
func (s *Sweep) carryNeeds(c traffic.Carrier, h histogram, slot int32) {
	counts := map[uint32]int64{}
	if h.grow(int(slot) + 1); c.To != nil {
		h.eachOf([]member{{slot: slot}}, func(_ *member, need uint32, requests int64) { counts[need] += requests })
	}
	to := h.(interface {
		put(client int32, need uint32, requests int64) // need is 2 or more
	})
	for need, requests := range traffic.Entries(c, counts, nil) {
		if need < 2 || int64(need) > s.requests {
			c.From.Fail(errNeed)
			return
		}
		to.put(slot, need, requests)
	}
}

// carryRefused carries what buckets refused a client, and which would not have.
func (s *Sweep) carryRefused(c traffic.Carrier, r *tokenRate, slot int32) {
	r.grow(0, int(slot)+1)
	need := *r.needs.At(slot)
	c.Value(&need)
	*r.needs.At(slot) = max(*r.needs.At(slot), need)
	for burst := range r.bursts {
		n := r.refused(slot, burst)
		if c.Value(&n); c.From == nil {
			continue
		}
		if n > s.requests {
			c.From.Fail(errNeed)
		}
		for ; n > 0 && c.From.Err() == nil; n -= math.MaxUint32 {
			r.refuse(slot, burst, uint32(min(n, math.MaxUint32)))
		}
	}
}
