package who

import (
	"cmp"
	"slices"
	"strings"
)

// What an attack got matters more than how much it sent.

// A Loot counts answers of 2xx to requests for something that must not be public.
type Loot struct {
	Action   int32 // Tables.Actions
	Target   int32 // Tables.Paths: of these requests, the one that most were for
	Clients  []int32
	Requests int64
}

// leastPages is the number of pages that must be answered with as many bytes for the answer to be one that a site has
// for all of them.
const leastPages = 3

// Loots returns what attackers got, most requests first: not what a site answers to anything, which shows in its size.
func (c *Census) Loots() (all []Loot) {
	by, targets, alike := map[int32]*Loot{}, map[int32]int64{}, c.observer.welcoming()
	single := map[uint32]int{} // actions, by the only size of their answers
	for _, a := range c.observer.askers {
		if a.given.least == a.given.most {
			single[a.given.most]++
		}
	}
	for s, n := range c.observer.spoils {
		if s.bytes > 0 && single[s.bytes] >= leastPages || c.observer.welcomesAll(s, alike) {
			continue
		}
		action := int32(s.action)
		l := by[action]
		if l == nil {
			l = &Loot{Action: action, Target: s.target}
			by[action] = l
		}
		if !slices.Contains(l.Clients, s.client) {
			l.Clients = append(l.Clients, s.client)
		}
		l.Requests += n
		targets[s.target] += n
		if l.Target != s.target && cmp.Or(cmp.Compare(targets[s.target], targets[l.Target]),
			strings.Compare(c.observer.Tables.Paths.Name(l.Target), c.observer.Tables.Paths.Name(s.target))) > 0 {
			l.Target = s.target
		}
	}
	for _, l := range by {
		slices.Sort(l.Clients)
		all = append(all, *l)
	}
	slices.SortFunc(all, func(x, y Loot) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests),
			strings.Compare(c.observer.Tables.Actions.Name(x.Action), c.observer.Tables.Actions.Name(y.Action)))
	})
	return all
}

// welcomesAll reports whether a site answers a client as it answers whatever is asked for: there, or in the same folder.
func (o *Observer) welcomesAll(s spoil, alike sizes) bool {
	if w := o.welcomes[s.bytes]; w != nil && some(w.pages) >= leastPages {
		return true
	}
	folder := strings.TrimSuffix(o.Tables.Actions.Name(int32(s.action)), "/…")
	for _, action := range []string{folder, folder + "/…"} {
		if id, known := o.Tables.Actions.Find([]byte(action)); known && int(id) < len(o.askers) && o.askers[id].given.sameFor(s.bytes) {
			return true
		}
	}
	return alike.sameFor(s.bytes)
}

// welcoming returns the sizes of what a site gives scanners that may be public, where it is nearly all one page.
func (o *Observer) welcoming() (alike sizes) {
	pages := uint64(0)
	for bytes, w := range o.welcomes {
		if w.public != 0 {
			alike.add(bytes)
			pages |= w.public
		}
	}
	if some(pages) < leastPages {
		return sizes{}
	}
	return alike
}

// manyWrong is the number of wrong passwords, before a right one, that are more than a person mistypes.
const manyWrong = 20

// letIn is the number of people who must get the answer that a right password seems to have for it to be that.
const letIn = 3

// Guessed returns the attackers that had a right password after many wrong ones, as far as answers tell: where people are let
// in with that answer.
func (c *Census) Guessed() (clients []int32) {
	people := 0
	for id, is := range c.Identities {
		r, user := c.observer.records.At(int32(id)), is == Person || is == Office || is == Program && c.programs
		if user && c.Logins.in(r) > 0 && r.tries[denied] <= c.Logins.in(r) {
			people++
		}
	}
	if people < letIn || !c.Logins.tell() {
		return nil
	}
	for id, is := range c.Identities {
		if is != Attacker {
			continue
		}
		r := c.observer.records.At(int32(id))
		if wrong, _, _ := c.Logins.of(r); c.Logins.in(r) > 0 && wrong >= manyWrong {
			clients = append(clients, int32(id))
		}
	}
	return clients
}

// Deeds are requests of some clients, by what they were for.
type Deeds struct{ Passwords, Probes, Failures, Unpaid, Barred int64 }

// BesidePeople reports whether people seem to be behind the address of an attacker, who show pages with their files.
func (c *Census) BesidePeople(client int32) bool {
	return c.Identities.Of(client) == Attacker && c.browses(client)
}

// Managed returns how many pages of the site's administration a client was given.
func (c *Census) Managed(client int32) int64 { return int64(c.observer.records.At(client).managed) }

// Deeds returns what some clients did.
func (c *Census) Deeds(clients []int32) (d Deeds) {
	for _, id := range clients {
		r := c.observer.records.At(id)
		d.Passwords += int64(r.tried())
		d.Probes += int64(r.probes)
		d.Failures += int64(r.missing)
		d.Unpaid += int64(r.unpaid)
		d.Barred += int64(r.barred)
	}
	return d
}

// Habits returns the ids of the action and of the agent that most requests of a client have, if most have the same.
func (c *Census) Habits(client int32) (action, agent int32) {
	r := c.observer.records.At(client)
	return int32(r.action.value), int32(r.agent.value)
}

// Mainly returns the agent that most requests of a client have, and whether it has three quarters of them.
func (c *Census) Mainly(client int32) (agent int32, mainly bool) {
	r := c.observer.records.At(client)
	return int32(r.agent.value), r.is(r.agent.votes, 50) // each other one takes a vote away
}

// Sends returns how many requests of a client send something.
func (c *Census) Sends(client int32) int64 { return int64(c.observer.records.At(client).posts) }

// Requests returns how many requests a client sent.
func (c *Census) Requests(client int32) int64 { return c.observer.records.At(client).requests() }

// Together returns what is known of the browsers that come as one client.
func (c *Census) Together(client int32) *Together { return &c.observer.records.At(client).together }
