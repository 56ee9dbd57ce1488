package replay

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
)

// A keyGroup is one way to tell whose bucket a request falls into, shared by all policies that count by it.
type keyGroup struct {
	traffic.Timelines
	traffic.LastSeen
	candidates []*candidate          // that count by this key only
	memories   []*Paged[limit.State] // of all limits that count by this key, by key
	titles     []string              // of the memories, see titleOf
	marks      []uint64              // of each row of the group; nil: not needed
	scoped     bool                  // whether some candidate needs the marks
	crossed    bool                  // whether a crossKey needs to know by row where a key resets
	kept       bool                  // whether others than the candidates use the memories
	brief      []bool                // by timeline: whether nothing of its key is kept, see LastSeen.Brief; nil: of all something is
	resets     []bool                // by row, for crossKeys, where a key resets; nil: nowhere
}

// sort makes the group the timelines of the batch, or takes those that there are. nil: there are none.
func (k *keyGroup) sort(b *traffic.Batch, t *traffic.Tables, sorted *traffic.Timelines) {
	if sorted != nil {
		k.Group, k.Column, k.Len = sorted.Group, sorted.Column, sorted.Len
	} else {
		k.Take(b, t)
	}
	for _, m := range k.memories {
		m.Grow(k.Len)
	}
	k.Update(b, &k.Timelines)
	if !k.kept && !k.crossed {
		k.brief = k.Brief(&k.Timelines)
	}
	k.resets = nil
	if k.crossed && len(k.Resets) > 0 {
		k.resets = make([]bool, b.Len())
		for _, index := range k.Resets {
			k.resets[k.Rows[index]] = true
		}
	}
	if k.scoped { // marks in the order of the group
		k.marks = k.marks[:0]
		for _, row := range k.Rows {
			k.marks = append(k.marks, b.Marks[row])
		}
	}
}

// take takes in a policy that counts by this key only.
func (k *keyGroup) take(c *candidate) {
	k.candidates = append(k.candidates, c)
	scoped := slices.ContainsFunc(c.limits, func(p policyLimit) bool { return p.scoped() })
	if scoped || len(c.limits) > 1 {
		c.combination = newCombination(c.policy.Combine, c.limits)
	}
	k.scoped = k.scoped || scoped
}

// marksOf returns the marks of a piece of the group, nil if they are not needed.
func (k *keyGroup) marksOf(start, end int32) []uint64 {
	if !k.scoped {
		return nil
	}
	return k.marks[start:end]
}

// forget frees what the limiters remember of keys that are idle by now.
func (k *keyGroup) forget(b *traffic.Batch, now limit.Time) {
	k.Forget(b.Len(), now, func(key int32) {
		for _, m := range k.memories {
			m.At(key).Release()
		}
	})
}
