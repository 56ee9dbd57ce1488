package sweep

import "shadow/traffic/intern"

// grouped is the histogram where it is known beforehand to which group each client belongs: a number for each group and
// limit, instead of one for each client and limit. Of a client only the largest limit that it needs is kept.
type grouped struct {
	of      func(client int32) uint8
	places  []int32                   // by client: where in counts; nil: by its group. See alike
	counts  [][]int64                 // by group or what groups are parted into, and by limit
	largest intern.PagedSlice[uint32] // by client
}

// mostGroups is how many groups there may be.
const mostGroups = 8

func (h *grouped) grow(clients int) { h.largest.Grow(clients) }

func (h *grouped) add(p *segment, needed []uint32) {
	var client int32 = -1
	var counts *[]int64
	var largest *uint32
	for i, n := range needed {
		if c := p.clients[p.rows[i]]; c != client {
			client, counts, largest = c, h.countsOf(c), h.largest.At(c)
		}
		*largest = max(*largest, n)
		if n < 2 {
			continue
		}
		if int(n) >= len(*counts) {
			*counts = append(*counts, make([]int64, max(int(n)+1-len(*counts), len(*counts)/4))...)
		}
		(*counts)[n]++
	}
}

// countsOf are those that a client's requests are counted in.
func (h *grouped) countsOf(client int32) *[]int64 {
	i := h.place(client)
	if i >= len(h.counts) {
		h.counts = append(h.counts, make([][]int64, i+1-len(h.counts))...)
	}
	return &h.counts[i]
}

// place is where the counts of a client are, if there are any.
func (h *grouped) place(client int32) int {
	if h.places != nil {
		return int(h.places[client])
	}
	return int(h.of(client))
}

func (h *grouped) most(client int32) uint32 { return *h.largest.At(client) }

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
		place := h.place(c.slot)
		if place >= len(told) || told[place] {
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
