package sweep

// grouped is the histogram where it is known beforehand to which group each client belongs: a number for each group and
// limit, instead of one for each client and limit. Of a client only the largest limit that it needs is kept.
type grouped struct {
	of      func(client int32) uint8
	places  []int32   // by client: where in counts; by its group, or what groups are parted into. See alike
	known   bool      // whether places are those of all clients
	largest []uint32  // by client: the largest limit that it needs
	risen   []int32   // clients that need more than 1
	needs   []uint32  // what these need, once no request comes any more; nil: as largest tells
	counts  [][]int64 // by place, and by limit
}

// mostGroups is the most groups that there may be.
const mostGroups = 16

func (h *grouped) grow(clients int) {
	if h.known {
		clients = len(h.places) // those to come as well
	}
	if clients <= len(h.largest) {
		return
	}
	h.largest = append(h.largest, make([]uint32, clients-len(h.largest))...)
	for id := len(h.places); id < clients; id++ {
		h.places = append(h.places, int32(h.of(int32(id))))
	}
}

func (h *grouped) add(p *segment, needed []uint32) {
	var client int32 = -1
	var counts *[]int64
	for i, n := range needed {
		if n < 2 {
			continue // as most do
		}
		if id := p.clients[p.rows[i]]; id != client {
			client, counts = id, h.countsOf(h.places[id])
		}
		if n > h.largest[client] {
			if h.largest[client] == 0 {
				h.risen = append(h.risen, client)
			}
			h.largest[client] = n
		}
		if int(n) >= len(*counts) {
			*counts = append(*counts, make([]int64, max(int(n)+1-len(*counts), len(*counts)))...)
		}
		(*counts)[n]++
	}
}

// countsOf are the counts of a place.
func (h *grouped) countsOf(place int32) *[]int64 {
	if int(place) >= len(h.counts) {
		h.counts = append(h.counts, make([][]int64, int(place)+1-len(h.counts))...)
	}
	return &h.counts[place]
}

// settle gives back the room by client, empty, as no request comes any more.
func (h *grouped) settle() (room []uint32) {
	h.needs = make([]uint32, len(h.risen))
	for i, client := range h.risen {
		h.needs[i], h.largest[client] = h.largest[client], 0
	}
	room, h.largest = h.largest, nil
	return room
}

func (h *grouped) most(client int32) uint32 { return h.largest[client] }

func (h *grouped) addTo(steps []step, some []bool) []step {
	told := make([]bool, len(h.counts))
	for i, client := range h.risen {
		if some != nil && !some[client] {
			continue
		}
		place := h.places[client]
		var need uint32
		if h.needs != nil {
			need = h.needs[i]
		} else {
			need = h.largest[client]
		}
		group := place % mostGroups
		if !told[place] {
			told[place] = true
			counts := h.counts[place]
			if len(counts) > len(steps) {
				steps = append(steps, make([]step, len(counts)-len(steps))...)
			}
			for n, requests := range counts {
				steps[n].requests[group] += requests
			}
		}
		steps[need].clients[group]++
	}
	return steps
}

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
		place := h.places[c.slot]
		if int(place) >= len(told) || told[place] {
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
