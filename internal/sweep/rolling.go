package sweep

import (
	"math"
	"math/bits"
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The rolling window, for every limit at once.
//
// Give each request the lowest slot that no request in (t−W, t] has. Then slot+1 is the smallest limit that admits it: the
// requests with slots 0 … N−1 are just those that window:N/W admits. For let this be true so far. Then the admitted
// ones inside have different slots below N; if all N are taken, the limit is reached and the request gets a higher
// slot; if not, there is room, and it gets one of them.
//
//	window 10s   at     0  1  2  3  11  12       3 at once need a limit of 3; at 11 the slots of 0 and 1
//	             slot   0  1  2  3   0   1       are free again
//
// A request that is refused counts in window:N/W,charge=all, where the smallest limit is therefore how many requests lie
// in (t−W, t], this one included. Both come from the same ring of requests inside the window.

// rolling is a rolling window of one length, for every key.
type rolling struct {
	span
	admitted histogram // nil: not wanted
	all      histogram
	ringRoom
}

// A span is the time in which requests count.
type span struct {
	length uint64     // microseconds
	cell   limit.Time // if it is the high bound of a fixed window: its length; else 0
	slack  uint64     // if so: how much later requests may have come
}

// A ringRoom is what a rolling window remembers of keys. Where none is remembered, others can have it afterwards.
type ringRoom struct {
	keys     intern.PagedSlice[keyRing]
	rings    arena[windowEntry]
	overflow overflow
	needed   [2][]uint32 // of one timeline, reused
}

// A keyRing is the requests of one key inside the window, oldest first. The zero keyRing is a key never seen.
type keyRing struct {
	last  uint64 // its latest moment as an ordinal; 0: never seen
	used  uint64 // bit i: slot i is taken, i < 64
	more  uint32 // the number in overflow of the slots from 64 on; 0: none is taken
	block uint32 // in rings, if size > 0 or held
	head  uint32 // where in it the oldest request is
	size  uint32
	class uint8
	held  bool // whether there is a block
}

// A windowEntry is a request inside the window: its time as an ordinal in two halves, and its slot.
type windowEntry struct{ high, low, slot uint32 }

func (r windowEntry) time() uint64 { return uint64(r.high)<<32 | uint64(r.low) }

// ordinal maps times to numbers in the same order, of which 0 is the first.
func ordinal(t limit.Time) uint64 { return uint64(t) + 1<<63 }

func (w *rolling) grow(keys, clients int) {
	w.keys.Grow(keys)
	if w.admitted != nil {
		w.admitted.grow(clients)
	}
	if w.all != nil {
		w.all.grow(clients)
	}
}

// judge finds the limits that the requests of a segment need.
func (w *rolling) judge(p *segment) {
	n := len(p.at)
	w.needed[0], w.needed[1] = slices.Grow(w.needed[0][:0], n)[:n], slices.Grow(w.needed[1][:0], n)[:n]
	w.need(w.keys.At(p.key), p.at, w.needed[0], w.needed[1])
	if p.warm {
		return
	}
	if w.admitted != nil {
		w.admitted.add(p, w.needed[0])
	}
	if w.all != nil {
		w.all.add(p, w.needed[1])
	}
}

// need finds the smallest limit that admits each request, and how many lie inside the window with it.
func (w *rolling) need(k *keyRing, at []limit.Time, admitted, all []uint32) {
	var ring []windowEntry
	if k.held {
		ring = w.rings.at(k.class, k.block)
	}
	last, head, size := k.last, k.head, k.size
	var since, until uint64 // requests before since do not count any more, up to until
	for i, t := range at {
		last = max(last, ordinal(t)) // a request out of order counts as the last one
		if i == 0 || last > until {
			since, until = w.counting(last)
		}
		for size > 0 {
			first := ring[head]
			if first.time() >= since {
				break
			}
			w.free(k, first.slot)
			if head++; int(head) == len(ring) {
				head = 0
			}
			size--
		}
		if int(size) == len(ring) {
			k.head, k.size = head, size
			ring, head = w.move(k, roomFor(size)), 0
		}
		var slot uint32
		if k.used != full {
			slot = uint32(bits.TrailingZeros64(^k.used))
			k.used |= 1 << slot
		} else {
			slot = w.takeSlot(k)
		}
		to := int(head + size)
		if to >= len(ring) {
			to -= len(ring)
		}
		ring[to] = windowEntry{uint32(last >> 32), uint32(last), slot}
		size++
		admitted[i], all[i] = slot+1, size
	}
	k.last, k.head, k.size = last, head, size
	if k.class > 0 && int(size) <= len(ring)/4 {
		w.move(k, max(size, 1))
	}
}

// roomFor returns the room for one request more than those of a ring that is full: twice as much of the small rings that
// nearly all keys have, which are moved too often else, and little more of large ones.
func roomFor(size uint32) uint32 {
	if size <= 32 {
		return max(1, 2*size)
	}
	return size + 1
}

// counting is since when requests count at a moment, and until when that stays so. In the high bound of a fixed window
// those count that may have come in it. They see each other, so slots hold as well.
func (w *span) counting(now uint64) (since, until uint64) {
	if w.cell == 0 {
		return now - min(now, w.length) + 1, now
	}
	until = lastOf(limit.Time(now-1<<63), w.cell)
	since = until - (uint64(w.cell) - 1)
	return since - min(since, w.slack), until
}

// takeSlot takes the lowest free slot behind the first 64.
func (w *rolling) takeSlot(k *keyRing) uint32 {
	if k.more == 0 {
		k.more = w.overflow.open()
	}
	return 64 + w.overflow.of(k.more).take()
}

// free frees a slot.
func (w *rolling) free(k *keyRing, slot uint32) {
	if slot < 64 {
		k.used &^= 1 << slot
		return
	}
	w.freeBehind(k, slot)
}

// freeBehind frees a slot behind the first 64.
func (w *rolling) freeBehind(k *keyRing, slot uint32) {
	s := w.overflow.of(k.more)
	if s.give(slot - 64); s.taken == 0 {
		w.overflow.close(k.more)
		k.more = 0
	}
}

// move moves a ring to a block with room for n requests and returns it.
func (w *rolling) move(k *keyRing, n uint32) []windowEntry {
	class := classFor(int(n))
	block := w.rings.take(class)
	ring := w.rings.at(class, block)
	if k.held {
		old := w.rings.at(k.class, k.block)
		moved := copy(ring, old[k.head:min(int(k.head+k.size), len(old))])
		copy(ring[moved:], old[:int(k.size)-moved])
		w.rings.give(k.class, k.block)
	}
	k.block, k.class, k.head, k.held = block, class, 0, true
	return ring
}

func (w *rolling) finish() { w.ringRoom = ringRoom{} }

// release forgets a key.
func (w *rolling) release(key int32) {
	k := w.keys.At(key)
	if k.held {
		w.rings.give(k.class, k.block)
	}
	if k.more != 0 {
		w.overflow.close(k.more)
	}
	*k = keyRing{}
}

// Slots are numbers from 0 on, and some are taken. The lowest free one is found in as many steps as the highest
// number has digits to the base 64: a bit of one level says that the whole word below it is taken.
//
//	level 1            1 1 0 …                    words 0 and 1 are full, so look into word 2
//	level 0   ▓▓▓▓ ▓▓▓▓ ▓▓░▓ …                    its third bit is free
type slots struct {
	levels [][]uint64 // the last has one word
	taken  int
}

const full = math.MaxUint64

// take takes the lowest free slot.
func (s *slots) take() (slot uint32) {
	top := len(s.levels) - 1
	switch {
	case top < 0:
		s.levels = append(s.levels, []uint64{0})
		top = 0
	case s.levels[top][0] == full:
		s.levels = append(s.levels, []uint64{1})
		top++
	}
	for l := top; l >= 0; l-- {
		if int(slot) == len(s.levels[l]) {
			s.levels[l] = append(s.levels[l], 0)
		}
		slot = slot*64 + uint32(bits.TrailingZeros64(^s.levels[l][slot]))
	}
	s.taken++
	s.mark(slot)
	return slot
}

// mark marks a slot as taken.
func (s *slots) mark(slot uint32) {
	for l := range s.levels {
		word := &s.levels[l][slot/64]
		if *word |= 1 << (slot % 64); *word != full {
			return
		}
		slot /= 64
	}
}

// give frees a slot, which must be taken.
func (s *slots) give(slot uint32) {
	s.taken--
	for l := range s.levels {
		word := &s.levels[l][slot/64]
		was := *word
		if *word &^= 1 << (slot % 64); was != full {
			return
		}
		slot /= 64
	}
}

// An overflow holds the slots of keys that need more than the 64 for which they have a word of their own.
type overflow struct {
	sets []*slots
	free []uint32 // numbers of sets that are not used
}

// open returns the number, from 1 on, of an empty set.
func (p *overflow) open() uint32 {
	if n := len(p.free); n > 0 {
		number := p.free[n-1]
		p.free = p.free[:n-1]
		return number
	}
	p.sets = append(p.sets, new(slots))
	return uint32(len(p.sets))
}

// of is the set with a number.
func (p *overflow) of(number uint32) *slots { return p.sets[number-1] }

// close takes a set back. Its slots must be free, or are freed. One that grew large gives its memory back.
func (p *overflow) close(number uint32) {
	s := p.of(number)
	if s.taken > 0 || len(s.levels) > 2 {
		*s = slots{}
	}
	p.free = append(p.free, number)
}
