package replay

import (
	"maps"

	"shadow/internal/traffic"
	"shadow/limit"
)

// Where several Engines judge the requests of one run, each all requests of its keys, what they find adds up. It travels
// to one more Engine with the same policies, which has judged nothing. Options.Minutes must have all minutes kept.

// CarryRequests carries what was counted apart from policies. All requests of a client must be those of one Engine.
func (e *Engine) CarryRequests(c traffic.Carrier) {
	e.tallies.Carry(c)
	e.overTime.carry(c)
}

// CarryVerdicts carries what the policies did.
func (e *Engine) CarryVerdicts(c traffic.Carrier) {
	for _, p := range e.all {
		c.Sum(&p.did.Refused, &p.did.BytesSaved, &p.upstream)
		c.Counts(traffic.ActionName, &p.byAction)
		p.hits.carry(c)
		p.minutes.carry(c)
		p.delays.carry(c)
	}
}

func (h *Hits) carry(c traffic.Carrier) {
	hit := func(client int32) bool { return *h.index.At(client) != 0 }
	for client := range c.IDs(traffic.ClientName, h.index.Len(), hit) {
		one, _ := h.Find(client)
		c.Value(&one.Refused, &one.First, &one.Last)
		if c.From != nil {
			h.Add(client, one.Refused, one.First, one.Last)
		}
	}
}

func (s *Stretches) carry(c traffic.Carrier) {
	length := s.Length()
	c.Value(&length)
	for at, n := range traffic.Entries(c, maps.Collect(s.All()), nil) {
		s.AddStretch(at, length, n)
	}
}

func (m *minutes) carry(c traffic.Carrier) {
	for now, page := range traffic.Entries(c, m.hours, nil) {
		m.turn(FloorTo(now, limit.Hour))
		for i, n := range page {
			m.page[i] += n
		}
	}
}

func (d *delays) carry(c traffic.Carrier) {
	coarse := d.coarse
	c.Value(&coarse)
	for d.coarse < min(coarse, mostCoarse) {
		d.coarsen()
	}
	c.Sum(&d.n, (*int64)(&d.total))
	for by, n := range traffic.Entries(c, d.counts, nil) {
		d.count(by, n)
	}
}

// mostCoarse is more than delays are ever rounded to.
const mostCoarse = 62
