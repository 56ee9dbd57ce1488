package replay

import (
	"slices"

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
	scoped := slices.ContainsFunc(c.parts, func(p part) bool { return p.scoped() })
	if scoped || len(c.parts) > 1 {
		c.combination = newCombination(c.parts)
	}
	k.scoped = k.scoped || scoped
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
