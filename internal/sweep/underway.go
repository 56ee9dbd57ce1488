package sweep

import (
	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The limit on requests under way, for every N at once.
//
// Give each request the lowest place that is free when it begins, until it ends. As with a rolling window, its place is the
// smallest N that admits it: the requests with places 1 … N are just those that conn:N admits. A request that is over at
// once needs a place, and takes none.
//
//	at      0  1  2  3
//	takes   9  1  3  5
//	place   1  2  2  3       the second one ends when the third begins

// underWay is the requests under way, for every key.
type underWay struct {
	keys   intern.PagedSlice[keyPlaces]
	needs  histogram
	needed []uint32 // of one timeline, reused
}

// A keyPlaces is the places of a key.
type keyPlaces struct {
	last uint64 // its latest moment as an ordinal; 0: never seen

	// A tree whose leaves, in its later half, have by place the moment as an ordinal from which on it is free. Node i has
	// the earlier one of nodes 2i and 2i+1.
	free []uint64
}

// longest is as long as a request may take, as in package conn.
const longest = limit.Day

func (w *underWay) grow(keys, clients int) {
	w.keys.Grow(keys)
	w.needs.grow(clients)
}

// judge finds the limits that the requests of a segment need.
func (w *underWay) judge(p *segment) {
	k := w.keys.At(p.key)
	w.needed = w.needed[:0]
	for i, t := range p.at {
		k.last = max(k.last, ordinal(t)) // a request out of order counts as the last one
		leaf := k.lowest()
		w.needed = append(w.needed, uint32(leaf-len(k.free)/2)+1)
		if takes := min(p.took[p.rows[i]], int64(longest)); takes > 0 {
			k.take(leaf, k.last+uint64(takes))
		}
	}
	if !p.warm {
		w.needs.add(p, w.needed)
	}
}

// lowest returns the leaf of the lowest place that is free.
func (k *keyPlaces) lowest() int {
	if len(k.free) == 0 || k.free[1] > k.last {
		k.widen()
	}
	i := 1
	for i < len(k.free)/2 {
		if i *= 2; k.free[i] > k.last {
			i++
		}
	}
	return i
}

// widen adds as many free places as there are.
func (k *keyPlaces) widen() {
	leaves := k.free[len(k.free)/2:]
	k.free = make([]uint64, max(2, 2*len(k.free)))
	n := len(k.free) / 2
	copy(k.free[n:], leaves)
	for i := n - 1; i > 0; i-- {
		k.free[i] = min(k.free[2*i], k.free[2*i+1])
	}
}

// take notes until when a place is taken.
func (k *keyPlaces) take(leaf int, until uint64) {
	k.free[leaf] = until
	for i := leaf / 2; i > 0; i /= 2 {
		k.free[i] = min(k.free[2*i], k.free[2*i+1])
	}
}

// release forgets a key.
func (w *underWay) release(key int32) { *w.keys.At(key) = keyPlaces{} }

func (w *underWay) finish() { w.keys, w.needed = intern.PagedSlice[keyPlaces]{}, nil }
