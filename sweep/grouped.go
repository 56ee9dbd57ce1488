package sweep

import "shadow/traffic/intern"

// grouped is the histogram where it is known beforehand to which group each client belongs: a number for each group and
// limit, instead of one for each client and limit. Of a client only the largest limit that it needs is kept.
type grouped struct {
	of      func(client int32) uint8
	counts  [mostGroups][]int64       // by group and limit
	largest intern.PagedSlice[uint32] // by client
}

// mostGroups is how many groups there may be.
const mostGroups = 8

func (h *grouped) grow(clients int) { h.largest.Grow(clients) }

func (h *grouped) add(p *segment, needed []uint32) {
	var client int32 = -1
	var counts *[]int64
	for i, n := range needed {
		if c := p.clients[p.rows[i]]; c != client {
			client, counts = c, &h.counts[h.of(c)]
		}
		largest := h.largest.At(client)
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

func (h *grouped) most(client int32) uint32 { return *h.largest.At(client) }

// eachOf tells how many requests of some clients need just a limit, from 2 on, group by group: of all clients of a group,
// each with the first of them.
func (h *grouped) eachOf(who []member, do func(of *member, need uint32, requests int64)) {
	var told [mostGroups]bool
	for i := range who {
		c := &who[i]
		if c.slot == noSlot {
			continue
		}
		if group := h.of(c.slot); !told[group] {
			told[group] = true
			for need, n := range h.counts[group] {
				if n > 0 {
					do(c, uint32(need), n)
				}
			}
		}
	}
}
