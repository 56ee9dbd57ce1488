package replay

import (
	"shadow/limit"
	"shadow/policy"
	"shadow/traffic"
)

// A keying is one way to tell whose bucket a request falls into, shared by all policies that count by it.
type keying struct {
	key        policy.Key
	candidates []*candidate          // that count by this key only
	memories   []*Paged[limit.State] // of all parts that count by this key, by key
	group      traffic.Group
	column     []int32  // the key of each row of the batch
	keys       int      // how many keys there are
	pairs      pairs    // for client+action
	marks      []uint64 // of each row of the group; nil: nobody needs them
	scoped     bool     // whether some candidate needs the marks
	crossed    bool     // whether a crossing needs to know by row where a key starts anew

	sights   Paged[sight] // by key
	restarts []int32      // indices into the group's requests before which a key starts anew, ascending
	anew     []bool       // the same by row, for crossings; nil: nowhere
	idle     limit.Time   // a key that was idle for longer is forgotten; or limit.Never
	turn     int32        // the key that forget looked at last
}

// A sight is when a key was seen. Its requests that came too late have times of their own, by which the limiters go;
// whether it is idle goes by their places in time, which never step back.
type sight struct {
	latest limit.Time // its latest moment since it began or began anew
	place  uint64     // of its last request, as an ordinal; 0: never seen, or forgotten
}

// sort makes the group the timelines of the batch.
func (k *keying) sort(b *traffic.Batch, t *traffic.Tables, lateness limit.Time) {
	k.fill(b, t)
	k.group.Sort(b, k.column, k.keys)
	k.sights.Grow(k.keys)
	for _, m := range k.memories {
		m.Grow(k.keys)
	}
	k.findRestarts(b, lateness)
	k.spreadRestarts(b)
	k.gatherMarks(b)
}

// take takes in a policy that counts by this key only.
func (k *keying) take(c *candidate) {
	k.candidates = append(k.candidates, c)
	for i := range c.parts {
		k.scoped = k.scoped || c.parts[i].scoped()
	}
}

// remember takes in a part that counts by this key.
func (k *keying) remember(p *part, lateness limit.Time) {
	k.memories = append(k.memories, &p.states)
	horizon := p.limiter.Horizon()
	if horizon >= limit.Never-lateness {
		k.idle = limit.Never
	} else {
		k.idle = max(k.idle, horizon+lateness)
	}
}

// fill makes the column of keys.
func (k *keying) fill(b *traffic.Batch, t *traffic.Tables) {
	switch k.key {
	case policy.ByClient:
		k.column, k.keys = b.Client, t.Clients.Len()
	case policy.ByHost:
		k.column, k.keys = b.Host, t.Hosts.Len()
	case policy.ByAction:
		k.column = k.column[:0]
		for _, action := range b.Action {
			k.column = append(k.column, int32(action))
		}
		k.keys = t.Actions.Len()
	case policy.ByClientAction:
		k.column = k.column[:0]
		for i, client := range b.Client {
			k.column = append(k.column, k.pairs.id(client, b.Action[i]))
		}
		k.keys = len(k.pairs.ids)
	case policy.BySite:
		k.column = grow(k.column[:0], b.Len())
		k.keys = 1
	}
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

// gatherMarks puts the marks in the order of the group.
func (k *keying) gatherMarks(b *traffic.Batch) {
	if !k.scoped {
		return
	}
	k.marks = k.marks[:0]
	for _, row := range k.group.Rows {
		k.marks = append(k.marks, b.Marks[row])
	}
}

// marksOf are the marks of a piece of the group, nil if nobody needs them.
func (k *keying) marksOf(start, end int32) []uint64 {
	if !k.scoped {
		return nil
	}
	return k.marks[start:end]
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

// pairs gives each pair of client and action that occurs a dense id.
type pairs struct {
	ids map[uint64]int32
}

func (p *pairs) id(client int32, action uint16) int32 {
	if p.ids == nil {
		p.ids = map[uint64]int32{}
	}
	pair := uint64(client)<<16 | uint64(action)
	id, ok := p.ids[pair]
	if !ok {
		id = int32(len(p.ids))
		p.ids[pair] = id
	}
	return id
}
