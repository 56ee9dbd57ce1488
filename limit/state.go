package limit

// State holds what a limiter remembers of one key. The zero State is a key never seen. The caller owns it: it keeps the
// states of millions of keys side by side, clones them, writes them to a checkpoint and forgets them when they are idle
// beyond the limiter's Horizon.
//
// The fields mean what the limiter that uses them says; no other code looks inside. They are few, because there is one
// State per key and policy: 32 bytes.
//
// A State may have a ring, or parts (see parts.go). Two States must not share one: copy with Clone, and forget with
// Release.
type State struct {
	At    Time  // the limiter's latest moment for this key, in the limiter's own unit
	Level int64 // how full, or how empty, in the limiter's own unit
	Extra int64 // a third number, if the algorithm needs one
	ring  *Ring // times of admitted requests that still lie inside a rolling window
}

// Clone returns a State that goes its own way.
func (s *State) Clone() State {
	c := *s
	switch {
	case s.ring == nil:
	case s.ring.class == partsClass:
		c.ring = nil
		for i := range s.Parts() {
			*c.Part(i) = s.Part(i).Clone()
		}
	default:
		c.ring = takeRing(s.ring.class)
		s.ring.copyTo(c.ring)
	}
	return c
}

// Release makes s the zero State, a key never seen, and gives its ring or its parts back.
func (s *State) Release() {
	if p := s.parts(); p != nil {
		s.DropParts(0)
		s.ring = nil
		freeParts.Put(p)
	}
	s.dropRing()
	*s = State{}
}

// A State may be parked: put aside until a moment, as a key that is kept out for a while after it was refused. What it
// holds stays as it is, and no limiter may use it before it is unparked. No limiter that is put aside keeps a negative
// number in Extra, so there a parked State is told by its complement; the moment lies in the ring, behind the times of a
// rolling window.

// Park puts s aside until a moment, which must not be before any time in its ring. s must not be parked.
func (s *State) Park(until Time) {
	s.Extra = ^s.Extra
	s.append(until)
}

// Parked returns until when s is put aside, if it is.
func (s *State) Parked() (until Time, parked bool) {
	if s.Extra >= 0 || s.ring.Len() == 0 {
		return 0, false
	}
	return s.ring.Nth(s.ring.Len() - 1), true
}

// Unpark makes s what it was before it was parked. s must be parked.
func (s *State) Unpark() {
	s.Extra = ^s.Extra
	s.ring.size--
	if s.ring.size == 0 {
		s.dropRing()
	}
}
