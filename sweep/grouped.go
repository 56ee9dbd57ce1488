package sweep

import "shadow/traffic/intern"

// grouped is the histogram where it is known beforehand to which group each client belongs: a number for each group and
// limit, instead of one for each client and limit. Of a client only the largest limit that it needs is kept.
type grouped struct {
	of      func(client int32) uint8
	places  []int32   // by client: where in counts; nil: by its group. See alike
	counts  [][]int64 // by group or what groups are parted into, and by limit
	clients intern.PagedSlice[groupedClient]
}

type groupedClient struct {
	largest uint32 // that it needs
	place   int32  // in counts
}

// mostGroups is how many groups there may be.
const mostGroups = 8

func (h *grouped) grow(clients int) {
	known := h.clients.Len()
	h.clients.Grow(clients)
	for id := int32(known); int(id) < clients; id++ {
		place := int32(h.of(id))
		if h.places != nil {
			place = h.places[id]
		}
		h.clients.At(id).place = place
		h.counts = append(h.counts, make([][]int64, max(0, int(place)+1-len(h.counts)))...)
	}
}

func (h *grouped) add(p *segment, needed []uint32) {
	var client int32 = -1
	var c *groupedClient
	for i, n := range needed {
		if id := p.clients[p.rows[i]]; id != client {
			client, c = id, h.clients.At(id)
		}
		c.largest = max(c.largest, n)
		if n < 2 {
			continue
		}
		counts := &h.counts[c.place]
		if int(n) >= len(*counts) {
			*counts = append(*counts, make([]int64, max(int(n)+1-len(*counts), len(*counts)/4))...)
		}
		(*counts)[n]++
	}
}

func (h *grouped) most(client int32) uint32 { return h.clients.At(client).largest }

// eachOf tells how many requests of some clients need just a limit, from 2 on, group by group: of all clients of a group,
// each with the first of them.
func (h *grouped) eachOf(who []member, do func(of *member, need uint32, requests int64)) {
	h.eachOfSome(who, nil, do)
}

// eachOfSome is eachOf of the clients that some names, nil for all: of those in one place all, or none.
func (h *grouped) eachOfSome(who []member, some []bool, do func(of *member, need uint32, requests int64)) {
	told := make([]bool, len(h.counts))
	for i := range who {
		c := &who[i]
		if c.slot == noSlot || some != nil && !some[c.slot] {
			continue
		}
		place := h.clients.At(c.slot).place
		if told[place] {
			continue
		}
		told[place] = true
		for need, n := range h.counts[place] {
			if n > 0 {
				do(c, uint32(need), n)
			}
		}
	}
}
