package limit

import (
	"sync"
	"unsafe"
)

// A limit that is counted at several places remembers a State for each: these are the parts of its State. They lie
// where its ring would, behind a Ring of a class of its own, which has no times. A part has no parts.

// MaxParts is the most parts that a State can have.
const MaxParts = 128

// partsClass tells parts from the blocks of rings.
const partsClass = classCount

type parts struct {
	Ring
	states []State
}

// freeParts holds unused parts, as freeRings does with blocks.
var freeParts = sync.Pool{New: func() any { return &parts{Ring: Ring{class: partsClass}} }}

// parts returns the parts of s, nil if it has none.
func (s *State) parts() *parts {
	if s.ring == nil || s.ring.class != partsClass {
		return nil
	}
	return (*parts)(unsafe.Pointer(s.ring))
}

// Parts returns how many parts s has.
func (s *State) Parts() int {
	if p := s.parts(); p != nil {
		return len(p.states)
	}
	return 0
}

// Part returns part i of s, for as long as s gets no more of them. Missing ones are made, and a ring makes way for
// them.
func (s *State) Part(i int) *State {
	p := s.parts()
	if p == nil {
		s.dropRing()
		p = freeParts.Get().(*parts)
		s.ring = &p.Ring
	}
	for len(p.states) <= i {
		p.states = append(p.states, State{})
	}
	return &p.states[i]
}

// DropParts makes s forget its parts from the given one on.
func (s *State) DropParts(from int) {
	for i := from; i < s.Parts(); i++ {
		s.Part(i).Release()
	}
	if p := s.parts(); p != nil {
		p.states = p.states[:min(from, len(p.states))]
	}
}
