package sweep

import (
	"math"
	"math/bits"
)

// Slots are numbers from 0 on, some of which are taken. The lowest free one is found in as many steps as the highest
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
