package findings

import "shadow/internal/traffic"

// A sharer is a looker with something to carry. What it does not say of clients apart, it counts.
type sharer interface{ share(c traffic.Carrier) }

// Carry carries what was seen. All requests of a client must be those of one Look. Two things do not add up: bursts of
// refusals are held against the other requests of their Look, and of an origin that stands behind several clients more
// entries are looked at, and it is new to several Looks.
func (l *Look) Carry(c traffic.Carrier) {
	c.Sum(&l.total)
	c.Counts(traffic.ActionName, &l.actions)
	for _, looker := range l.lookers {
		if s, ok := looker.(sharer); ok {
			s.share(c)
		}
	}
	sent := func(id int32) bool { return l.all.At(id).requests() > 0 }
	for id := range c.IDs(traffic.ClientName, l.all.Len(), sent) {
		l.all.Grow(int(id) + 1)
		c.Value(l.all.At(id))
	}
	l.who.Carry(c)
}

func (l *anonymous) share(c traffic.Carrier) { c.Sum(&l.named) }

func (l *agents) share(c traffic.Carrier) { c.Counts(traffic.AgentName, &l.requests) }

func (l *days) share(c traffic.Carrier) {
	for number, more := range traffic.Entries(c, l.by, nil) {
		d := l.day(number, more.first)
		d.requests, d.first, d.last = d.requests+more.requests, min(d.first, more.first), max(d.last, more.last)
		for i, some := range more.minutes {
			d.minutes[i] |= some
		}
	}
}

func (l *clients) share(c traffic.Carrier) {
	b := &l.behind
	b.begin()
	for i := range b.requests {
		c.Sum(&b.requests[i])
	}
	known := func(id int32) bool { return b.peers[id] != nil }
	for id := range c.IDs(traffic.ClientName, l.Read.Tables.Clients.Len(), known) {
		if b.peers[id] == nil {
			b.peers[id] = new(entries)
		}
		c.Value(b.peers[id])
	}
	many := b.many
	c.Value(&many)
	b.many = b.many || many
	for at, more := range traffic.Entries(c, b.origins, nil) {
		b.origin(at, more.origins).join(more)
	}
}

// join adds the entries of one address to others.
func (e *entries) join(more *entries) {
	e.requests, e.looked = e.requests+more.requests, e.looked+more.looked
	e.agents |= more.agents
	for i := range e.first {
		e.first[i] |= more.first[i]
	}
}

func (l *enforced) share(c traffic.Carrier) {
	l.closeAll()
	c.Sum(&l.outage.down, &l.gateway)
	c.Counts(traffic.ActionName, &l.admitted)
	for status := range l.statuses {
		known := l.statuses[status] != nil
		if c.Value(&known); !known {
			continue
		}
		r := l.refused(uint16(status), traffic.MaxTime)
		at, begins, longest := r.at, r.begins, r.longest
		c.Value(&at, &begins, &longest)
		r.at, r.begins, r.longest = min(r.at, at), min(r.begins, begins), max(r.longest, longest)
		c.Sum(&r.n, &r.bursts)
		for action, n := range traffic.Entries(c, r.inside, func(id *uint16) { c.ID16(traffic.ActionName, id) }) {
			r.inside[action] += n
		}
	}
}

func (l *networks) share(c traffic.Carrier) {
	ids := func(k *claim) {
		c.ID(traffic.ClientName, &k.client)
		c.ID16(traffic.AgentName, &k.agent)
	}
	for claimed, n := range traffic.Entries(c, l.checked, ids) {
		l.checked[claimed] += n
	}
}

func (l *keyless) share(c traffic.Carrier) {
	for i := range l.lacking {
		c.Sum(&l.lacking[i])
	}
}
