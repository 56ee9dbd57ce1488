package sweep

import (
	"cmp"
	"runtime"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
)

// Keys often put the same requests together. Where an address is alone in its network, has one agent and no user, its
// requests are one timeline by client, client/24, client+agent and user alike. It is judged once then, by client, and
// counts for all of these. Of the other keys only the rest is sorted and judged:
//
//	client      a  b  c  d ──▶ judged, each kind of clients with counts of its own ─┬─▶ curve by client
//	client/24   ·  ·  cd   ──▶ the rest                  + counts of a and b ───────┴─▶ curve by client/24
//
// So it is with each action of a client. Which clients these are is found once all visitors are known, as a visitor falls
// into one group by each key, apart from the action. Only keys by values of requests know no such group, unless a client
// has none: then that counts by itself.

// alike holds what a key has in common with a base, which is client or client+action.
type alike struct {
	visitorGroups
	base *keySweep // nil: it judges all requests itself
}

// visitorGroups holds the groups that visitors fall into by a key, apart from the action.
type visitorGroups struct {
	ids    []int32 // by visitor; nil: not known of all
	n      int     // groups
	same   []bool  // by visitor: whether they are together just with the others of their client; nil: not known
	common int64   // requests of those that are
}

// groupBytes is the memory for groups, in bytes, 5 a visitor and key, so that they need not be found again.
const groupBytes = 64 << 20

// worthSharing is the percentage of requests that base must judge for a key.
const worthSharing = 10

// takeValues notes which values clients have.
func (k *Keys) takeValues(b *traffic.Batch) {
	k.valued.Grow(k.options.Tables.Clients.Len())
	for i, column := range b.Values {
		for row, id := range column {
			if id != traffic.NoValue {
				*k.valued.At(b.Client[row]) |= 1 << i
			}
		}
	}
}

// findAlike finds what keys have in common.
func (k *Keys) findAlike() {
	n := len(k.known)
	all := &traffic.Batch{At: make([]limit.Time, n)} // as if each visitor sent one request
	all.Client, all.User, all.Agent = make([]int32, 0, n), make([]int32, 0, n), make([]uint16, 0, n)
	for id := range int32(n) {
		v := k.visitors.At(id)
		all.Client, all.User, all.Agent = append(all.Client, v.Client), append(all.User, v.User), append(all.Agent, v.Agent)
	}
	var missing []request.Key
	for _, s := range k.sweeps {
		if who := s.timelines.By.Who(); !slices.Contains(missing, who) && k.groups[who] == nil {
			missing = append(missing, who)
		}
	}
	found := make([]*visitorGroups, len(missing))
	each(runtime.GOMAXPROCS(0), len(missing), func(i int) { found[i] = k.groupsBy(missing[i], all) })
	for _, s := range k.sweeps {
		who := s.timelines.By.Who()
		if i := slices.Index(missing, who); i >= 0 {
			s.visitorGroups = *found[i]
		} else {
			s.visitorGroups = *k.groups[who]
		}
	}
	for i, who := range missing {
		if (len(k.groups)+1)*5*n <= groupBytes {
			k.groups[who] = found[i]
		}
	}
	requests := int64(0)
	for v := range int32(n) {
		requests += *k.visitors.Requests.At(v)
	}
	k.shareWith(request.ByClient, requests)
	k.shareWith(request.ByClientAction, requests)
	k.order = slices.SortedStableFunc(slices.Values(k.sweeps), func(a, b *keySweep) int {
		return cmp.Compare(b.work(requests), a.work(requests))
	})
}

// work returns how much a key has to do: for each part of it, and for each window, with requests that no base judges.
func (s *keySweep) work(requests int64) int64 {
	if s.base != nil {
		requests -= s.common
	}
	return requests * int64(len(s.timelines.By.Parts())+len(s.tasks))
}

// groupsBy finds the groups of visitors, and which of them are the visitors of a client.
func (k *Keys) groupsBy(who request.Key, all *traffic.Batch) *visitorGroups {
	g := new(visitorGroups)
	values := uint8(0)
	for _, p := range who.Parts() {
		switch i := slices.Index(k.options.Tables.Parts, p); {
		case p.Kind == request.PartHost || p.Kind == request.PartPath || p.Kind == request.PartAction:
			return g
		case p.IsValue() && i >= 0:
			values |= 1 << i
		}
	}
	if who == request.ByClient || values != 0 && !k.worthLooking(all, values) {
		return g
	}
	l := traffic.Timelines{By: who}
	l.Fill(all, k.options.Tables)
	l.Free()
	g.ids, g.n, g.same = l.Column, l.Len, make([]bool, len(all.Client))
	type visitors struct{ group, n int32 } // group −1: of several, or not known
	ofClient, inGroup := make([]visitors, k.options.Tables.Clients.Len()), make([]int32, g.n)
	known := true
	for v, client := range all.Client {
		c, group := &ofClient[client], l.Column[v]
		if inGroup[group]++; c.n == 0 {
			c.group = group
		}
		if c.n++; c.group != group {
			c.group = -1
		}
		if values != 0 && *k.valued.At(client)&values != 0 {
			c.group, known = -1, false
		}
	}
	for v, client := range all.Client {
		c := &ofClient[client]
		if g.same[v] = c.group >= 0 && inGroup[c.group] == c.n; g.same[v] {
			g.common += *k.visitors.Requests.At(int32(v))
		}
	}
	if !known {
		g.ids = nil
	}
	return g
}

// worthLooking reports whether enough requests are of clients without some values.
func (k *Keys) worthLooking(all *traffic.Batch, values uint8) bool {
	requests, without := int64(0), int64(0)
	for v, client := range all.Client {
		n := *k.visitors.Requests.At(int32(v))
		if requests += n; *k.valued.At(client)&values == 0 {
			without += n
		}
	}
	return 100*without >= worthSharing*requests
}

// shareWith has a base, if that is worth it, judge for keys what they have in common with it, of all requests.
func (k *Keys) shareWith(by request.Key, requests int64) {
	common := int64(0)
	var base *keySweep
	var sharing []*keySweep
	for _, s := range k.sweeps {
		if s.timelines.By == by {
			base = s
		}
		if s.same == nil || s.timelines.By.ByActions() != by.ByActions() || len(sharing) == 32 {
			continue
		}
		if 100*s.common >= worthSharing*requests {
			sharing, common = append(sharing, s), common+s.common
		}
	}
	if base == nil && common > requests {
		base = k.newKeySweep(by)
		k.sweeps = append(k.sweeps, base)
	}
	if base == nil {
		return
	}
	masks, numbers := make([]uint32, len(k.known)), map[uint32]int32{}
	for i, s := range sharing {
		for v, is := range s.same {
			if is {
				masks[v] |= 1 << i
			}
		}
	}
	places := make([]int32, len(k.known))
	for v, mask := range masks {
		kind, known := numbers[mask]
		if !known {
			kind = int32(len(numbers))
			numbers[mask] = kind
		}
		places[v] = int32(k.known[v]) + mostGroups*kind
	}
	for _, s := range sharing {
		s.base = base
	}
	for i := range base.shapes {
		all := base.shapes[i].needs.(*grouped)
		all.places, all.known = places, true
		for _, s := range sharing {
			s.shapes[i].needs = &inCommon{grouped: s.shapes[i].needs.(*grouped), base: all, same: s.same}
		}
	}
}

// sameClients reports for each client whether base judges all its requests.
func (s *keySweep) sameClients(k *Keys) []bool {
	same := make([]bool, k.options.Tables.Clients.Len())
	for v, is := range s.same {
		same[k.visitors.At(int32(v)).Client] = is
	}
	return same
}

// take sorts the requests of a batch into timelines, apart from those that base judges. Visitors are those of its rows.
func (s *keySweep) take(b *traffic.Batch, visitors []int32, t *traffic.Tables, r *room) {
	switch {
	case s.base == nil && s.ids == nil:
		s.timelines.Take(b, t)
		return
	case len(r.rows) < len(visitors):
		r.rows, r.column = make([]int32, len(visitors)), make([]int32, len(visitors))
	}
	n := 0
	rows, column := r.rows[:len(visitors)], r.column[:len(visitors)]
	for row, visitor := range visitors {
		rows[n] = int32(row)
		if s.ids != nil {
			column[n] = s.ids[visitor]
		}
		if s.base == nil || !s.same[visitor] {
			n++
		}
	}
	if s.ids != nil {
		s.timelines.TakeKnown(b, rows[:n], column[:n], s.n)
	} else {
		s.timelines.TakeSome(b, rows[:n], t)
	}
}

// inCommon is the histogram of a key of which base judges some clients.
type inCommon struct {
	*grouped
	base *grouped
	same []bool // by client: whether base judges it
}

func (h *inCommon) most(client int32) uint32 {
	if h.same[client] {
		return h.base.most(client)
	}
	return h.grouped.most(client)
}

func (h *inCommon) eachOf(who []member, do func(of *member, need uint32, requests int64)) {
	h.grouped.eachOf(who, do)
	h.base.eachOfSome(who, h.same, do)
}

func (h *inCommon) addTo(steps []step, _ []bool) []step {
	return h.base.addTo(h.grouped.addTo(steps, nil), h.same)
}
