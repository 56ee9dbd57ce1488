package who

import "shadow/internal/traffic"

// Carry carries what was observed. All requests of a client must be those of one Observer.
func (o *Observer) Carry(c traffic.Carrier) {
	c.Sum(&o.total)
	sent := func(id int32) bool { return o.records.At(id).requests() > 0 }
	for id := range c.IDs(traffic.ClientName, o.records.Len(), sent) {
		o.records.Grow(int(id) + 1)
		o.browsing.Grow(int(id) + 1)
		r := o.records.At(id)
		c.Value(r, o.browsing.At(id))
		c.ID16(traffic.AgentName, &r.agent.value)
		c.ID16(traffic.ActionName, &r.action.value)
		if r.missing+r.found > 0 {
			c.ID16(traffic.ActionName, &r.lost.value)
		}
		if r.posts < r.steps {
			c.ID16(traffic.ActionName, &r.asked.value)
		}
		if r.posts > 0 {
			c.ID16(traffic.ActionName, &r.form.value)
		}
	}
	asked := func(id int32) bool { return o.askers[id] != askers{} }
	for id := range c.IDs(traffic.ActionName, len(o.askers), asked) {
		o.askers = append(o.askers, make([]askers, max(0, int(id)+1-len(o.askers)))...)
		given := o.askers[id].given
		c.Value(&given)
		o.askers[id].given.add(given.least)
		o.askers[id].given.add(given.most)
		c.Sum(&o.askers[id].readers, &o.askers[id].idlers, &o.askers[id].programs, &o.askers[id].installs)
	}
	ids := func(s *spoil) {
		c.ID(traffic.ClientName, &s.client)
		c.ID16(traffic.ActionName, &s.action)
		c.ID(traffic.PathName, &s.target)
	}
	for s, n := range traffic.Entries(c, o.spoils, ids) {
		if len(o.spoils) < mostSpoils {
			o.spoils[s] = n // a client's, so of one Observer
		}
	}
	for bytes, more := range traffic.Entries(c, o.welcomes, nil) {
		if w := o.welcome(bytes); w != nil {
			w.pages |= more.pages
			w.public |= more.public
		}
	}
}
