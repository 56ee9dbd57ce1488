package sweep

import (
	"math"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The fixed window, for every limit at once: the smallest limit that admits a request is its place among the requests of
// its window. Windows lie on the epoch's grid, as in package window.

// fixed is the fixed windows of one length, for every key.
type fixed struct {
	length limit.Time // microseconds
	slack  limit.Time // of a low bound: how much later requests may have come; those that may have come in the next window do not count
	keys   intern.PagedSlice[keyCell]
	needs  histogram
	needed []uint32 // of one timeline, reused
}

// A keyCell is the window that a key is in. The zero keyCell is a key never seen.
type keyCell struct {
	last  uint64 // the key's latest moment as an ordinal; 0: never seen
	end   uint64 // the last moment of the window, if last is not 0
	count uint32 // requests in it
}

func (w *fixed) grow(keys, clients int) {
	w.keys.Grow(keys)
	w.needs.grow(clients)
}

// judge finds the limits that the requests of a segment need.
func (w *fixed) judge(p *segment) {
	k := w.keys.At(p.key)
	w.needed = slices.Grow(w.needed[:0], len(p.at))[:len(p.at)]
	for i, t := range p.at {
		now := ordinal(t)
		if w.slack > 0 {
			if now = max(now, k.last); lastOf(limit.Time(now-1<<63), w.length)-now < uint64(w.slack) {
				w.needed[i] = 1
				continue
			}
		}
		if k.last == 0 || now > k.end {
			k.count, k.end = 0, lastOf(t, w.length)
		}
		k.last = max(k.last, now)
		k.count++
		w.needed[i] = k.count
	}
	if !p.warm {
		w.needs.add(p, w.needed)
	}
}

// lastOf is the last moment of the window of t, as an ordinal.
func lastOf(t, length limit.Time) uint64 {
	past := t % length
	if past < 0 {
		past += length
	}
	if rest := length - 1 - past; t <= math.MaxInt64-rest {
		return ordinal(t + rest)
	}
	return math.MaxUint64
}

func (w *fixed) finish() { w.keys, w.needed = intern.PagedSlice[keyCell]{}, nil }

// release forgets a key.
func (w *fixed) release(key int32) { *w.keys.At(key) = keyCell{} }
