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
	index Paged[int32] // by client: index of the hit plus 1; 0: not hit
}

// Len returns the number of clients hit.
func (h *Hits) Len() int { return h.hits.Len() }

// At returns one of the hits, by an index below Len.
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
	if int(client) >= h.index.Len() || *h.index.At(client) == 0 {
		return Hit{}, false
	}
	return *h.hits.At(*h.index.At(client) - 1), true
}

// Add counts n refused requests of a client, at moments from first to last.
func (h *Hits) Add(client int32, n int64, first, last limit.Time) {
	h.index.Grow(int(client) + 1)
	i := h.index.At(client)
	if *i == 0 {
		h.hits.Grow(h.Len() + 1)
		*i = int32(h.Len())
		*h.hits.At(*i - 1) = Hit{Client: client, First: first, Last: last}
	}
	hit := h.hits.At(*i - 1)
	hit.First, hit.Last = min(hit.First, first), max(hit.Last, last)
	hit.Refused += n
}
