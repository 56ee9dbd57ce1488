package sweep

import (
	"math"
	"slices"
	"sort"

	"shadow/internal/traffic/intern"
)

// The busiest window, where only the clients are asked for that a limit hits.
//
// The smallest limit that refuses a key nothing is the most requests that any one window has of it, if all of them are
// judged: after a warm one that was refused, less may do. A window that ends with a request has more than the most so
// far if the request as far back as that most goes lies in it:
//
//	window 10s   at    0  1  2  3  11  12  13  14
//	             most  1  2  3  4   4   4   4   5?   no: 4 back is the request at 3, 11 s before 14
//
// So each request is compared with one other, needs no slot, and is counted nowhere.

// busiest finds the busiest windows of one length for every key: the rolling one, and the fixed one. Each key must belong
// to one client, and no request may be warm.
type busiest struct {
	windows []busiestWindow
	keys    intern.PagedSlice[keyTimes]
	times   arena[uint64] // ordinals
	now     []uint64      // of one timeline, reused
}

type busiestWindow struct {
	span
	needs *largestNeeds
}

// A keyTimes is the times of one key inside one of the windows, oldest first. The zero keyTimes is a key never seen.
type keyTimes struct {
	last  uint64 // its latest moment
	block uint32 // in times, if held
	head  uint32 // where in it the oldest is
	size  uint32
	class uint8
	held  bool
}

func (w *busiest) grow(keys, clients int) {
	w.keys.Grow(keys)
	for i := range w.windows {
		w.windows[i].needs.grow(clients)
	}
}

func (w *busiest) judge(p *segment) {
	k := w.keys.At(p.key)
	now := w.now[:0]
	for _, t := range p.at {
		k.last = max(k.last, ordinal(t)) // a request out of order counts as the last one
		now = append(now, k.last)
	}
	w.now = now
	ring := w.ring(k)
	for i := range w.windows {
		window := &w.windows[i]
		if most := &window.needs.largest[p.client()]; int(k.size)+len(now) > int(*most) {
			*most = window.most(*most, ring[k.head:], ring[:k.head], int(k.size), now)
		}
	}
	w.remember(k, ring, now)
}

// ring is the block of a key, nil if it has none.
func (w *busiest) ring(k *keyTimes) []uint64 {
	if !k.held {
		return nil
	}
	return w.times.at(k.class, k.block)
}

// most raises the most requests in a window by those of now. Before them came size others: some of older, then of newer.
func (w *span) most(most uint32, older, newer []uint64, size int, now []uint64) uint32 {
	var since, until uint64 // what was before since is outside of windows that end up to until
	for i, t := range now {
		if i == 0 || t > until {
			since, until = w.counting(t)
		}
		back := i - int(most)
		var before uint64
		switch {
		case back >= 0:
			before = now[back]
		case back+size < 0:
			continue // so many have not come yet
		case back+size < len(older):
			before = older[back+size]
		default:
			before = newer[back+size-len(older)]
		}
		if before >= since {
			most++ // a window has at most one request more than that of the request before
		}
	}
	return most
}

// remember keeps the times that windows from the last of now on may hold.
func (w *busiest) remember(k *keyTimes, ring, now []uint64) {
	since := uint64(math.MaxUint64)
	for i := range w.windows {
		from, _ := w.windows[i].counting(k.last)
		since = min(since, from)
	}
	first, _ := slices.BinarySearch(now, since)
	now = now[first:]
	older := ring[k.head:min(int(k.head+k.size), len(ring))]
	newer := ring[:int(k.size)-len(older)]
	gone := sort.Search(int(k.size), func(i int) bool {
		if i < len(older) {
			return older[i] >= since
		}
		return newer[i-len(older)] >= since
	})
	if k.head, k.size = k.head+uint32(gone), k.size-uint32(gone); int(k.head) >= len(ring) {
		k.head -= uint32(len(ring))
	}
	if n := int(k.size) + len(now); n > len(ring) || n <= len(ring)/4 {
		ring = w.move(k, n)
	}
	to := int(k.head + k.size)
	if to >= len(ring) {
		to -= len(ring)
	}
	copy(ring, now[copy(ring[to:], now):])
	k.size += uint32(len(now))
}

// move moves the times of a key to a block with room for n and returns it.
func (w *busiest) move(k *keyTimes, n int) []uint64 {
	class := classFor(n)
	if k.held && class == k.class {
		return w.ring(k)
	}
	block := w.times.take(class)
	ring := w.times.at(class, block)
	if k.held {
		old := w.ring(k)
		moved := copy(ring, old[k.head:min(int(k.head+k.size), len(old))])
		copy(ring[moved:], old[:int(k.size)-moved])
		w.times.give(k.class, k.block)
	}
	k.block, k.class, k.head, k.held = block, class, 0, true
	return ring
}

func (w *busiest) finish() { w.keys, w.times = intern.PagedSlice[keyTimes]{}, arena[uint64]{} }

// release forgets a key.
func (w *busiest) release(key int32) {
	k := w.keys.At(key)
	if k.held {
		w.times.give(k.class, k.block)
	}
	*k = keyTimes{}
}

// largestNeeds is the histogram that counts no requests: by client the largest limit that it needs, and no more.
type largestNeeds struct{ largest []uint32 }

func (h *largestNeeds) grow(clients int) {
	h.largest = append(h.largest, make([]uint32, max(0, clients-len(h.largest)))...)
}

func (h *largestNeeds) add(p *segment, needed []uint32) {
	most := &h.largest[p.client()]
	*most = max(*most, slices.Max(needed))
}

func (h *largestNeeds) most(client int32) uint32 { return h.largest[client] }

func (h *largestNeeds) eachOf([]member, func(*member, uint32, int64)) {}
