package who

import (
	"cmp"
	"slices"
	"strings"
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
		return cmp.Or(cmp.Compare(y.Requests, x.Requests),
			strings.Compare(c.observer.Tables.Actions.Name(x.Action), c.observer.Tables.Actions.Name(y.Action)))
	})
	return all
}
