package limit

import "unsafe"

// A rolling window remembers a time for each request inside it, eight bytes each, for millions of keys of which most
// hold two or three. So a ring's header and its times lie in one block of memory:
//
//	head │ size │ class    16 bytes
//	times …                8 bytes each, capacity of them, oldest at head, wrapping around
//
// Blocks come in classes of 24, 32, 48, 64, 96, 128 … bytes, which are sizes that Go's allocator has too. A ring that
// is full moves to the next class, one that is three quarters empty to the smallest that holds it, and blocks go back
// to a free list (see blocks.go), so that in the long run nothing is allocated per request.

// A Ring holds the times of a key's admitted requests that still lie inside a rolling window, oldest first.
// A nil Ring is empty.
type Ring struct {
	head  uint32 // where the oldest time is
	size  uint32 // how many times there are
	full  uint32 // how many there may be
	class uint32 // of the block
}

// MaxRing is the most times that a ring can hold.
const MaxRing = 1 << 28

const headerSize = unsafe.Sizeof(Ring{})

// times is the part of the block behind the header.
func (r *Ring) times() []Time {
	return unsafe.Slice((*Time)(unsafe.Add(unsafe.Pointer(r), headerSize)), int(r.full))
}

// Len returns the number of times in the ring.
func (r *Ring) Len() int {
	if r == nil {
		return 0
	}
	return int(r.size)
}

// Bytes returns the memory of the ring, in bytes.
func (r *Ring) Bytes() int {
	if r == nil {
		return 0
	}
	return int(headerSize) + 8*int(r.full)
}

// Oldest is the oldest time. The ring must not be empty.
func (r *Ring) Oldest() Time { return r.times()[r.head] }

// Nth is the time after n older ones, n < Len.
func (r *Ring) Nth(n int) Time { return r.times()[r.index(uint32(n))] }

// set replaces the time after n older ones, n < Len.
func (r *Ring) set(n int, t Time) { r.times()[r.index(uint32(n))] = t }

// Push adds the newest time. It returns false, and adds nothing, when the ring is full.
func (r *Ring) Push(t Time) bool {
	if r.size == r.full {
		return false
	}
	r.times()[r.index(r.size)] = t
	r.size++
	return true
}

// index is the place of the time after n older ones.
func (r *Ring) index(n uint32) uint32 {
	i := r.head + n
	if i >= r.full {
		i -= r.full
	}
	return i
}

// Expire drops the times that at now are age old or older. No time may be later than now.
func (r *Ring) Expire(now, age Time) {
	for r.size > 0 && uint64(now-r.Oldest()) >= uint64(age) { // as unsigned numbers, differences of times never overflow
		r.Drop(1)
	}
}

// Drop drops the n oldest times, n ≤ Len.
func (r *Ring) Drop(n int) {
	r.head = r.index(uint32(n))
	r.size -= uint32(n)
}

// DropNewest drops the newest time. The ring must not be empty.
func (r *Ring) DropNewest() { r.size-- }

// copyTo writes the times of r into the empty ring to, which must have room.
func (r *Ring) copyTo(to *Ring) {
	times := r.times()
	n := copy(to.times(), times[r.head:min(r.head+r.size, r.full)])
	copy(to.times()[n:], times[:int(r.size)-n])
	to.size = r.size
}

// Ring is the ring of s, nil when it has none.
func (s *State) Ring() *Ring { return s.ring }

// Open returns the ring of s. If it has none yet, it gets one with room for n times, or for a few if n is large.
func (s *State) Open(n int) *Ring {
	if s.ring == nil {
		s.ring = takeRing(classFor(uint32(min(n, 6))))
	}
	return s.ring
}

// Push adds t, which must not be earlier than any time in the ring of s, and returns the ring. Before the ring grows,
// times that are age old or older are dropped.
func (s *State) Push(t, age Time) *Ring {
	r := s.Open(1)
	if r.size == r.full {
		r.Expire(t, age)
		if 4*uint64(r.size) > 3*uint64(r.full) { // little was dropped: it would be full again too soon
			r = s.moveRing(r.class + 1)
		}
	}
	r.Push(t)
	return r
}

// Insert adds t to the ring of s, whose times must be in order, behind those that are not later.
func (s *State) Insert(t Time) {
	s.append(t)
	r := s.ring
	for n := r.Len() - 1; n > 0 && r.Nth(n-1) > t; n-- {
		r.set(n, r.Nth(n-1))
		r.set(n-1, t)
	}
}

// DropFirst drops the n oldest times of s, and gives back memory that is no longer needed.
func (s *State) DropFirst(n int) {
	if n > 0 {
		s.ring.Drop(n)
		s.shrink()
	}
}

// append adds t to the ring of s and drops nothing.
func (s *State) append(t Time) {
	if r := s.Open(1); r.size == r.full {
		s.moveRing(r.class + 1)
	}
	s.ring.Push(t)
}

// Trim drops the times of s that at now are age old or older, and gives back memory that is no longer needed.
func (s *State) Trim(now, age Time) {
	r := s.ring
	if r == nil {
		return
	}
	r.Expire(now, age)
	s.shrink()
}

// shrink gives back memory that the ring of s does not need.
func (s *State) shrink() {
	switch r := s.ring; {
	case r.size == 0:
		s.dropRing()
	case r.size <= r.full/4:
		s.moveRing(classFor(r.size))
	}
}

// moveRing moves the ring of s to a block of another class, in which it must fit, and returns it.
func (s *State) moveRing(class uint32) *Ring {
	to := takeRing(class)
	s.ring.copyTo(to)
	s.dropRing()
	s.ring = to
	return to
}

func (s *State) dropRing() {
	if s.ring != nil {
		giveRing(s.ring)
		s.ring = nil
	}
}
