package sweep

import "math/bits"

// An arena lends blocks of a few elements to millions of keys. A block is told by its class and a number of four bytes;
// blocks that come back are lent again. Pages of blocks hold no pointers, so the garbage collector passes them by, and in
// the long run nothing is allocated.
type arena[T any] struct {
	classes [maxClass]blocks[T]
}

// blocks holds the blocks of one class.
type blocks[T any] struct {
	pages [][]T
	free  []uint32 // numbers of blocks that came back
	next  uint32   // number of the first block never lent
}

const (
	maxClass = 60
	pageBits = 10 // a page has up to 1<<pageBits elements, unless a single block has more
)

// roomOf returns how many elements a block of a class has: 1, 2, 3, 4, 6, 8, 12, 16 …
func roomOf(class uint8) int {
	if class == 0 {
		return 1
	}
	return int(2+(class-1)%2) << ((class - 1) / 2)
}

// classFor is the smallest class with room for n elements, n > 0.
func classFor(n int) uint8 {
	if n == 1 {
		return 0
	}
	power := bits.Len(uint(n-1)) - 1 // 2^power < n ≤ 2^(power+1)
	class := uint8(2*power + 1)
	if n > 3<<power>>1 {
		return class
	}
	return class - 1
}

// take lends a block, with whatever was in it.
func (a *arena[T]) take(class uint8) uint32 {
	b := &a.classes[class]
	if n := len(b.free); n > 0 {
		number := b.free[n-1]
		b.free = b.free[:n-1]
		return number
	}
	if shift := perPage(class); int(b.next) == len(b.pages)<<shift {
		b.pages = append(b.pages, make([]T, roomOf(class)<<shift))
	}
	b.next++
	return b.next - 1
}

// perPage returns how many blocks of a class a page has, as a power of two.
func perPage(class uint8) uint { return max(pageBits, uint(class+1)/2) - uint(class+1)/2 }

// extend makes room for another element behind n in a block, and returns the block that has it. Without any there is none.
func (a *arena[T]) extend(class uint8, block, n uint32) (uint8, uint32) {
	if n == 0 {
		return 0, a.take(0)
	}
	if int(n) < roomOf(class) {
		return class, block
	}
	larger := classFor(int(n) + 1)
	moved := a.take(larger)
	copy(a.at(larger, moved), a.at(class, block))
	a.give(class, block)
	return larger, moved
}

// give takes a block back.
func (a *arena[T]) give(class uint8, number uint32) {
	b := &a.classes[class]
	b.free = append(b.free, number)
}

// at is a block.
func (a *arena[T]) at(class uint8, number uint32) []T {
	room, shift := roomOf(class), perPage(class)
	from := int(number) & (1<<shift - 1) * room
	return a.classes[class].pages[number>>shift][from : from+room : from+room]
}
