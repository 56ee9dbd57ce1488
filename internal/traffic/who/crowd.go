package who

import "shadow/internal/request"

// What many addresses do alike, unknown to each other, is how a site works, and no sign of a bot:
//
//	an extension    asks for data that no page asks for
//	a kept shell    the browser has all pages and files, and asks for data from pages that it never asked for
//	dead links      those of a letter, which all of its readers follow
//	an old app      asks for what its server has no more
//	a closed door   visitors from a country that is shut out
//
// Few do alike what one scraper does from some addresses, and a swarm sends alike numbers, or has one agent. But who scrapes a
// site asks for what readers ask for: a few that ask for something else may be devices of the site, or screens.
const (
	leastDevices = 10 // addresses
	leastCrowd   = 20 // addresses
	fewAgents    = 3
	mostAlike    = 10 // times the average of a crowd: who sends more is judged alone

	mostIdle = 5000 // requests of a flood must not hide that readers ask for the same
)

// A habit is what the members of a crowd do alike.
type habit struct {
	does   deed
	action uint16 // that they ask for; 0: any
}

type deed uint8

const (
	asksAlone      deed = iota + 1 // for one action, from no page
	asksApart                      // for what readers do not
	asksFromUnseen                 // from pages that it never shows
	asksInVain                     // for a few targets, all of them missing
	asksWhatWas                    // no browser, for much that is missing, and for something that is there
	isDenied                       // for pages that it may not have
)

// A crowd is what the clients with a habit do.
type crowd struct {
	deeds
	agents, failed uint64 // sets of hashes
}

// findCrowds gathers the clients that have a habit.
func (c *Census) findCrowds() {
	for id := range int32(len(c.Identities)) {
		r := c.observer.records.At(id)
		for _, h := range []habit{c.habit(id, r), c.apart(id, r)} {
			if h.does == 0 {
				continue
			}
			if c.crowds[h] == nil {
				c.crowds[h] = &crowd{}
			}
			c.addTo(&c.crowds[h].deeds, id)
			c.crowds[h].agents |= hashed(r.agent.value)
			c.crowds[h].failed |= r.failed
		}
	}
}

// habit returns what a client that fetches no file does so that others may do it as well.
func (c *Census) habit(client int32, r *record) habit {
	e, browser, one := c.observer.browsing.At(client), r.is(r.classes[request.Browser], 50), r.is(r.action.votes, 60) // of four fifths
	switch {
	case r.files > 0 || int64(r.steps) < c.observer.Rules.Sample:
	case browser && 2*r.denied() >= r.steps && !one && r.probes == 0:
		return habit{does: isDenied}
	case r.fails() && (!one || r.probes > 0):
	case r.fails() && browser && !r.looksUp():
		return habit{asksInVain, r.action.value}
	case r.fails() && !browser:
		return habit{asksWhatWas, r.action.value}
	case browser && e.Views == 0 && 2*e.Followed >= e.Steps:
		return habit{does: asksFromUnseen}
	case browser && one && 20*e.Followed < e.Steps:
		return habit{asksAlone, r.action.value}
	}
	return habit{}
}

// apart returns the habit of one browser that asks for what readers do not, and for no file, and shows nothing of an attack.
func (c *Census) apart(client int32, r *record) habit {
	e := c.observer.browsing.At(client)
	if !r.is(r.classes[request.Browser], 50) || !r.is(r.agent.votes, 50) || int64(r.steps) < c.observer.Rules.Sample || r.posts == r.steps ||
		r.files+r.probes+r.tried() > 0 || 2*r.errors >= r.steps || e.Views == 0 && e.Followed > 0 {
		return habit{}
	}
	if by := &c.observer.askers[r.asked.value]; by.readers >= leastReads && 100*by.readers >= min(by.idlers, mostIdle) {
		return habit{}
	}
	return habit{asksApart, r.asked.value}
}

// devices returns how many clients do as one does that may be a device, as none does much more than others; 0 of another.
func (c *Census) devices(client int32, r *record) int64 {
	d := c.crowds[c.apart(client, r)]
	if d == nil || d.count < leastDevices || r.requests()*d.count > mostAlike*d.requests {
		return 0
	}
	return d.count
}

// fails reports whether at least half of what a client asks for is not there. Of what it may not have it is not known.
func (r *record) fails() bool {
	return r.missing >= leastRequests && 2*r.missing >= r.answered()-r.denied()
}

// denied returns how many steps were answered with 400, 401 or 403.
func (r *record) denied() uint32 { return r.errors - r.missing }

// looksUp reports whether nearly all that a client asks for in vain is of one action, which gave it something as well: it asks
// for what is there for some numbers and not for others, such as pictures of users and tiles of a map.
func (r *record) looksUp() bool {
	return r.probes == 0 && 5*r.lost.votes >= 3*r.missing && 20*r.found >= r.missing
}

// isUsual reports whether what a client does is what a crowd does.
func (c *Census) isUsual(client int32, r *record) bool {
	h := c.habit(client, r)
	d := c.crowds[h]
	if d == nil || d.count < leastCrowd {
		return false
	}
	agents, few := some(d.agents) >= fewAgents, some(d.failed) >= 2*leastRequests && some(d.failed) <= manyPages
	switch by := &c.observer.askers[h.action]; h.does {
	case asksWhatWas:
		return 5*d.errors <= 4*d.steps
	case asksInVain:
		return agents && few
	case asksAlone:
		agents = agents && 20*by.readers <= d.requests // a page others ask for as well
	}
	return agents && d.vary() && r.requests()*d.count <= mostAlike*d.requests
}

// vary reports whether the members' numbers of requests vary by a quarter of their mean, and by twice as much as chance makes
// those of one client with many addresses.
func (d *crowd) vary() bool {
	return d.variation() >= 25 && d.variation()*d.variation()*d.requests >= 4*100*100*d.count
}
