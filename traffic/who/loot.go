package who

import (
	"cmp"
	"slices"
)

// What an attack got matters more than how much it sent.

// A Loot is what must not be public and was answered with 2xx.
type Loot struct {
	Action   int32 // Tables.Actions
	Clients  []int32
	Requests int64
}

// Loots returns what attackers got, most requests first.
func (c *Census) Loots() (all []Loot) {
	by := map[int32]*Loot{}
	for s, n := range c.observer.spoils {
		action := int32(s.action)
		l := by[action]
		if l == nil {
			l = &Loot{Action: action}
			by[action] = l
		}
		l.Clients = append(l.Clients, s.client)
		l.Requests += n
	}
	for _, l := range by {
		slices.Sort(l.Clients)
		all = append(all, *l)
	}
	slices.SortFunc(all, func(x, y Loot) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Action, y.Action))
	})
	return all
}

// Intruders returns the attackers that guessed passwords, one of which was right.
func (c *Census) Intruders() (ids []int32) {
	if !c.Logins.isSome(denied) && !c.Logins.isSome(moved) {
		return nil // what a right one is answered is not known
	}
	for id, who := range c.Identities {
		r := c.observer.records.At(int32(id))
		if wrong, right := c.Logins.of(r); who == Attacker && wrong >= leastRequests && right > 0 {
			ids = append(ids, int32(id))
		}
	}
	return ids
}

// Inner returns the programs on private networks, if they send a fifth of all requests or more: services of the operator's
// own, or a proxy in front of others, which only the operator can tell.
func (c *Census) Inner() (ids []int32) {
	sum := int64(0)
	for id, who := range c.Identities {
		if (who == Program || who == Undecided) && c.observer.isPrivate(int32(id)) {
			ids = append(ids, int32(id))
			sum += c.observer.records.At(int32(id)).requests()
		}
	}
	if 5*sum < c.observer.total {
		return nil
	}
	return ids
}
