package replay

import (
	"iter"

	"shadow/limit"
)

// A Hit is a client that a policy refused at least once.
type Hit struct {
	Client      int32 // Tables.Clients
	Refused     int64
	First, Last limit.Time // times of its first and last refused request
}

// Hits are the clients that one policy hit, in no order that means anything. The zero value is empty.
type Hits struct {
	hits  Paged[Hit]
	slots []int32 // open addressing by client: index of the hit plus 1, 0 where free; a power of two, at most three quarters full
}

// Len is the number of clients hit.
func (h *Hits) Len() int { return h.hits.Len() }

// At is one of the hits, by an index below Len.
func (h *Hits) At(i int32) *Hit { return h.hits.At(i) }

// All goes through the hits.
func (h *Hits) All() iter.Seq[Hit] {
	return func(yield func(Hit) bool) {
		for i := range h.hits.Len() {
			if !yield(*h.hits.At(int32(i))) {
				return
			}
		}
	}
}

// Find returns the hit of a client, if it was hit.
func (h *Hits) Find(client int32) (Hit, bool) {
	if len(h.slots) == 0 {
		return Hit{}, false
	}
	if i := h.slots[h.slot(client)]; i != 0 {
		return *h.hits.At(i - 1), true
	}
	return Hit{}, false
}

// Add counts n refused requests of a client, at moments from first to last.
func (h *Hits) Add(client int32, n int64, first, last limit.Time) {
	hit := h.of(client)
	if hit.Refused == 0 {
		hit.First, hit.Last = first, last
	}
	hit.First, hit.Last = min(hit.First, first), max(hit.Last, last)
	hit.Refused += n
}

// of is the hit of a client, taken in if it is new.
func (h *Hits) of(client int32) *Hit {
	if h.Len()*4 >= len(h.slots)*3 {
		h.rehash()
	}
	slot := &h.slots[h.slot(client)]
	if *slot == 0 {
		h.hits.Grow(h.Len() + 1)
		*slot = int32(h.Len())
		h.hits.At(*slot - 1).Client = client
	}
	return h.hits.At(*slot - 1)
}

// slot is where a client stands, or the free slot where it would.
func (h *Hits) slot(client int32) int {
	mask := len(h.slots) - 1
	// Multiplying by the golden ratio spreads neighbouring ids (Knuth, The Art of Computer Programming 3, 6.4).
	i := int(uint64(uint32(client))*0x9E3779B97F4A7C15>>32) & mask
	for h.slots[i] != 0 && h.hits.At(h.slots[i]-1).Client != client {
		i = (i + 1) & mask
	}
	return i
}

// rehash doubles the number of slots.
func (h *Hits) rehash() {
	h.slots = make([]int32, max(16, 2*len(h.slots)))
	for i := range int32(h.Len()) {
		h.slots[h.slot(h.hits.At(i).Client)] = i + 1
	}
}
