package traffic

import (
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// LastSeen remembers when each key was last seen. It finds where a key resets, and which keys may be forgotten. A key resets:
//
//   - where its time steps back by more than StepBack: there the log's clock was set back, or older logs were
//     appended, and no limiter should hold the new requests against the old ones;
//   - at a request that came too late, when by then the key had been forgotten (see Forget).
//
// Inside a timeline both can only happen when some request came late.
type LastSeen struct {
	Lateness limit.Time
	StepBack limit.Time // at least the Lateness
	Idle     limit.Time // a key that was idle for longer is forgotten; or limit.Never
	Once     bool       // all that is taken in is one batch, so that no key has to be remembered
	Resets   []int32    // indices into the group's requests before which a key resets, ascending
	Latest   limit.Time // the latest sequence time of the batch; MinTime without requests

	keys   intern.PagedSlice[keySeen] // by key
	cursor int32                      // the key that Forget looked at last
	begun  []int32                    // the timelines of the batch whose keys were not known before it, all in order
	brief  []bool                     // see Brief
}

// A keySeen holds the times at which a key was seen. Its requests that came too late have times of their own, by which
// the limiters go; whether it is idle goes by their sequence times, which never step back.
type keySeen struct {
	latest limit.Time // its latest moment since it began or was reset
	seq    uint64     // of its last request, as an ordinal; 0: never seen, or forgotten
}

// Remember keeps a key for as long as a limiter with this horizon remembers it, and for the lateness on
// top, so that a request that is out of order still finds its key.
func (s *LastSeen) Remember(horizon limit.Time) {
	if horizon >= limit.Never-s.Lateness {
		s.Idle = limit.Never
	} else {
		s.Idle = max(s.Idle, horizon+s.Lateness)
	}
}

// Update takes in the timelines of a batch and finds the Resets in them.
func (s *LastSeen) Update(b *Batch, l *Timelines) {
	var only keySeen
	if !s.Once {
		s.keys.Grow(l.Len)
	}
	s.Resets, s.Latest, s.begun = s.Resets[:0], MinTime, s.begun[:0]
	seq := b.Sequence()
	back := max(s.Lateness, s.StepBack)
	var start int32
	for i, end := range l.Ends {
		at, key := l.At[start:end], &only
		if s.Once {
			only = keySeen{}
		} else {
			key = s.keys.At(l.Keys[i])
		}
		s.Latest = max(s.Latest, seq[l.Rows[end-1]]) // a timeline is in the order of sequence times
		if b.Seq == nil && (key.seq == 0 || at[0] >= key.latest-back) {
			if key.seq == 0 {
				s.begun = append(s.begun, int32(i))
			}
			key.update(at[len(at)-1], at[len(at)-1])
			start = end
			continue
		}
		for j, t := range at {
			index := start + int32(j)
			p := seq[l.Rows[index]]
			if key.seq != 0 && (t < key.latest-back || s.forgotten(key, p)) {
				s.Resets = append(s.Resets, index)
				key.seq = 0
			}
			key.update(t, p)
		}
		start = end
	}
}

// Brief tells of each timeline of the latest batch whether its key was not known before, and is idle for too long by the
// end of the batch. It forgets these keys without naming them: what limiters remember of them need not be kept at all.
func (s *LastSeen) Brief(l *Timelines) []bool {
	s.brief = slices.Grow(s.brief[:0], len(l.Keys))[:len(l.Keys)]
	clear(s.brief)
	for _, i := range s.begun {
		if key := s.keys.At(l.Keys[i]); s.forgotten(key, s.Latest) {
			key.seq, s.brief[i] = 0, true
		}
	}
	return s.brief
}

// update notes a request at t, whose sequence time is p.
func (s *keySeen) update(t, p limit.Time) {
	if s.seq == 0 || t > s.latest {
		s.latest = t
	}
	s.seq = ordinal(p)
}

// forgotten reports whether a key has been forgotten by now.
func (s *LastSeen) forgotten(key *keySeen, now limit.Time) bool {
	return s.Idle != limit.Never && limit.Time(ordinal(now)-key.seq) > s.Idle
}

// Forget names keys that are idle by now, whose limiters' memory can be released. Of all keys it looks at as many as a
// batch has requests, so that the cost is bounded and every key has its turn.
func (s *LastSeen) Forget(requests int, now limit.Time, release func(key int32)) {
	if s.Idle == limit.Never || s.Once {
		return
	}
	for range min(requests, s.keys.Len()) {
		if s.cursor++; int(s.cursor) >= s.keys.Len() {
			s.cursor = 0
		}
		if key := s.keys.At(s.cursor); key.seq != 0 && s.forgotten(key, now) {
			key.seq = 0
			release(s.cursor)
		}
	}
}

// ordinal maps times to numbers in the same order, of which 0 is the first.
func ordinal(t limit.Time) uint64 { return uint64(t) + 1<<63 }
