package limit

// State is what a limiter remembers of one key. The zero State is a key never seen. The caller owns it: it keeps the
// states of millions of keys side by side, clones them, writes them to a checkpoint and forgets them when they are
// idle beyond the limiter's Horizon.
//
// The fields mean what the limiter that uses them says; nobody else looks inside. They are few, because there is one
// State per key and policy: 32 bytes.
//
// A State may have a ring. Two States must not share one: copy with Clone, and forget with Release.
type State struct {
	At    Time  // the limiter's latest moment for this key, in the limiter's own unit
	Level int64 // how full, or how empty, in the limiter's own unit
	Extra int64 // a third number, if the algorithm needs one
	ring  *Ring // times of admitted requests that still lie inside a rolling window
}

// Clone returns a State that goes its own way.
func (s *State) Clone() State {
	c := *s
	if s.ring != nil {
		c.ring = takeRing(s.ring.class)
		s.ring.copyTo(c.ring)
	}
	return c
}

// Release makes s the zero State, a key never seen, and gives its ring back.
func (s *State) Release() {
	s.dropRing()
	*s = State{}
}
