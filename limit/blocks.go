package limit

import (
	"sync"
	"unsafe"
)

// Blocks of rings, by class. A class is half a power of two: 3, 4, 6, 8, 12, 16 … words of eight bytes, two of which
// are the header.

const (
	headerWords = uint32(headerSize / 8)
	classCount  = 56 // the last two hold more than MaxRing
)

// freeRings holds the unused blocks, by class. The garbage collector empties the lists now and then.
var freeRings [classCount]sync.Pool

// capacityOf returns how many times a ring of the class holds.
func capacityOf(class uint32) uint32 {
	return (3+class%2)<<(class/2) - headerWords
}

// classFor is the smallest class that holds n times.
func classFor(n uint32) uint32 {
	class := uint32(0)
	for capacityOf(class) < n {
		class++
	}
	return class
}

// takeRing returns an empty ring.
func takeRing(class uint32) *Ring {
	if r, ok := freeRings[class].Get().(*Ring); ok {
		return r
	}
	words := make([]Time, headerWords+capacityOf(class)) // no pointers inside, so the collector does not scan it
	r := (*Ring)(unsafe.Pointer(unsafe.SliceData(words)))
	r.full, r.class = capacityOf(class), class
	return r
}

// giveRing takes a ring back, which must not be used any more.
func giveRing(r *Ring) {
	r.head, r.size = 0, 0
	freeRings[r.class].Put(r)
}
