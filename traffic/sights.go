package traffic

import (
	"shadow/limit"
	"shadow/traffic/intern"
)

// Sights remember when each key was seen, and so tell where a key starts again, and which keys may be forgotten:
//
//   - where its time steps back by more than the lateness: there the log's clock was set back, or older logs were
//     appended, and no limiter should hold the new requests against the old ones;
//   - at a request that came too late, when by then the key had been forgotten (see Forget).
//
// Inside a timeline both can only happen when some request came late.
type Sights struct {
	Lateness limit.Time
	Idle     limit.Time // a key that was idle for longer is forgotten; or limit.Never
	Restarts []int32    // indices into the group's requests before which a key starts again, ascending

	sights intern.PagedSlice[sight] // by key
	turn   int32                    // the key that Forget looked at last
}

// A sight is when a key was seen. Its requests that came too late have times of their own, by which the limiters go;
// whether it is idle goes by their places in time, which never step back.
type sight struct {
	latest limit.Time // its latest moment since it began or began again
	place  uint64     // of its last request, as an ordinal; 0: never seen, or forgotten
}

// Remember makes the sights keep a key for as long as a limiter with this horizon remembers it, and for the lateness on
// top, so that a request that is out of order still finds its key.
func (s *Sights) Remember(horizon limit.Time) {
	if horizon >= limit.Never-s.Lateness {
		s.Idle = limit.Never
	} else {
		s.Idle = max(s.Idle, horizon+s.Lateness)
	}
}

// See takes in the timelines of a batch and finds the Restarts in them.
func (s *Sights) See(b *Batch, l *Timelines) {
	s.sights.Grow(l.Len)
	s.Restarts = s.Restarts[:0]
	places := b.Places()
	var start int32
	for i, end := range l.Ends {
		at, key := l.At[start:end], s.sights.At(l.Keys[i])
		if b.Order == nil && (key.place == 0 || at[0] >= key.latest-s.Lateness) {
			key.see(at[len(at)-1], at[len(at)-1])
			start = end
			continue
		}
		for j, t := range at {
			index := start + int32(j)
			p := places[l.Rows[index]]
			if key.place != 0 && (t < key.latest-s.Lateness || s.forgets(key, p)) {
				s.Restarts = append(s.Restarts, index)
				key.place = 0
			}
			key.see(t, p)
		}
		start = end
	}
}

// see notes a request at t, which has its place in time at p.
func (s *sight) see(t, p limit.Time) {
	if s.place == 0 || t > s.latest {
		s.latest = t
	}
	s.place = ordinal(p)
}

// forgets reports whether a key has been forgotten by now.
func (s *Sights) forgets(key *sight, now limit.Time) bool {
	return s.Idle != limit.Never && limit.Time(ordinal(now)-key.place) > s.Idle
}

// Forget names keys that are idle by now, whose limiters' memory can be released. Of all keys it looks at as many as a
// batch has requests, so that the cost is bounded and every key has its turn.
func (s *Sights) Forget(requests int, now limit.Time, release func(key int32)) {
	if s.Idle == limit.Never {
		return
	}
	for range min(requests, s.sights.Len()) {
		if s.turn++; int(s.turn) >= s.sights.Len() {
			s.turn = 0
		}
		if key := s.sights.At(s.turn); key.place != 0 && s.forgets(key, now) {
			key.place = 0
			release(s.turn)
		}
	}
}

// ordinal maps times to numbers in the same order, of which 0 is the first.
func ordinal(t limit.Time) uint64 { return uint64(t) + 1<<63 }
