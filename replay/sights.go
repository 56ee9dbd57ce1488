package replay

import (
	"shadow/limit"
	"shadow/traffic"
)

// When keys were seen tells where they start anew, and when they can be forgotten.

// A sight is when a key was seen. Its requests that came too late have times of their own, by which the limiters go;
// whether it is idle goes by their places in time, which never step back.
type sight struct {
	latest limit.Time // its latest moment since it began or began anew
	place  uint64     // of its last request, as an ordinal; 0: never seen, or forgotten
}

// findRestarts notes where a key starts anew:
//
//   - where its time steps back by more than the lateness: there the log's clock was set back, or older logs were
//     appended, and no limiter should hold the new requests against the old ones;
//   - at a request that came too late, when by then the key had been forgotten (see forget).
//
// Inside a timeline both can only happen when some request came late.
func (k *keying) findRestarts(b *traffic.Batch, lateness limit.Time) {
	k.restarts = k.restarts[:0]
	places := b.Places()
	var start int32
	for i, end := range k.group.Ends {
		s, at := k.sights.At(k.group.Keys[i]), k.group.At[start:end]
		if b.Order == nil && (s.place == 0 || at[0] >= s.latest-lateness) {
			s.see(at[len(at)-1], at[len(at)-1])
			start = end
			continue
		}
		for j, t := range at {
			index := start + int32(j)
			p := places[k.group.Rows[index]]
			if s.place != 0 && (t < s.latest-lateness || k.forgets(s, p)) {
				k.restarts = append(k.restarts, index)
				s.place = 0
			}
			s.see(t, p)
		}
		start = end
	}
}

// spreadRestarts notes the restarts by row.
func (k *keying) spreadRestarts(b *traffic.Batch) {
	k.anew = nil
	if !k.crossed || len(k.restarts) == 0 {
		return
	}
	k.anew = make([]bool, b.Len())
	for _, index := range k.restarts {
		k.anew[k.group.Rows[index]] = true
	}
}

// see notes a request at t, which has its place in time at p.
func (s *sight) see(t, p limit.Time) {
	if s.place == 0 || t > s.latest {
		s.latest = t
	}
	s.place = ordinal(p)
}

// forgets tells whether a key has been forgotten by now: it was idle for longer than any limiter remembers, and for the
// lateness on top, so that a request that is out of order still finds its key.
func (k *keying) forgets(s *sight, now limit.Time) bool {
	return k.idle != limit.Never && limit.Time(ordinal(now)-s.place) > k.idle
}

// forget frees what the limiters remember of keys that are idle by now. Each batch looks at as many keys as it has
// requests, so that the cost is bounded and every key has its turn.
func (k *keying) forget(b *traffic.Batch, now limit.Time) {
	if k.idle == limit.Never {
		return
	}
	for range min(b.Len(), k.keys) {
		if k.turn++; int(k.turn) >= k.keys {
			k.turn = 0
		}
		if s := k.sights.At(k.turn); s.place != 0 && k.forgets(s, now) {
			s.place = 0
			for _, m := range k.memories {
				m.At(k.turn).Release()
			}
		}
	}
}
