package replay

import (
	"strconv"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
)

// What an Engine remembers of the keys can be carried over: to the next process, to the next night, or to tables
// without the names that are not needed any more. Tallies are not carried over; they belong to a run.
//
// What is kept for a limit finds its way back by the limit's text, its key and its scopes. A limit that is new begins with
// nothing, and what was kept for one that is gone is dropped.

// Save writes what the limits remember of the keys that are not to be forgotten.
func (e *Engine) Save(to *traffic.Encoder) {
	to.Int(int64(e.now))
	to.Uint(uint64(len(e.keyGroups)))
	for _, k := range e.keyGroups {
		to.Text(k.By.String())
		to.Uint(uint64(len(k.titles)))
		for _, title := range k.titles {
			to.Text(title)
		}
		live := k.Live(e.now)
		to.Uint(uint64(len(live)))
		k.Timelines.Save(live, to)
		k.LastSeen.Save(live, to)
		for _, m := range k.memories {
			for _, key := range live {
				to.State(m.At(key))
			}
		}
	}
}

// Restore reads what Save has written, into an Engine that has seen nothing.
func (e *Engine) Restore(from *traffic.Decoder) {
	e.now = limit.Time(from.Int())
	for range from.Count() {
		by, err := request.ParseKey(from.Text())
		if err != nil {
			from.Fail(err)
			return
		}
		k := e.keyGroupOf(by)
		titles := make([]string, from.Count())
		for i := range titles {
			titles[i] = from.Text()
		}
		e.restoreKeys(k, memoriesFor(k, titles), from)
	}
}

// keyGroupOf returns the group for a key if policies count by it.
func (e *Engine) keyGroupOf(by request.Key) *keyGroup {
	for _, k := range e.keyGroups {
		if k.By == by {
			return k
		}
	}
	return &keyGroup{Timelines: traffic.Timelines{By: by}}
}

// memoriesFor returns the memories that have the titles, nil for those that none has.
func memoriesFor(k *keyGroup, titles []string) []*Paged[limit.State] {
	memories := make([]*Paged[limit.State], len(titles))
	for i, title := range titles {
		for j, known := range k.titles {
			if known == title {
				memories[i] = k.memories[j]
			}
		}
	}
	return memories
}

func (e *Engine) restoreKeys(k *keyGroup, memories []*Paged[limit.State], from *traffic.Decoder) {
	keys := k.Timelines.Restore(from.Count(), from)
	n := k.Count(e.options.Tables)
	k.LastSeen.Restore(keys, n, from)
	for _, m := range k.memories {
		m.Grow(n)
	}
	for _, m := range memories {
		for _, key := range keys {
			s := from.State()
			if from.Err() != nil {
				return
			}
			if m == nil {
				s.Release()
				continue
			}
			m.At(key).Release()
			*m.At(key) = s
		}
	}
}

// Keys returns how many keys the limits remember, each once for all that count by the same.
func (e *Engine) Keys() (n int) {
	for _, k := range e.keyGroups {
		n += len(k.Live(e.now))
	}
	return n
}

// Known returns how many keys have a number, whether anything is remembered of them or not: memory grows with it, until
// what is remembered is carried over to tables without the others.
func (e *Engine) Known() (n int) {
	for _, k := range e.keyGroups {
		n += k.Count(e.options.Tables)
	}
	return n
}

// Trim forgets keys of each kind of which more than most are remembered: those that were idle for longest, until an eighth
// less than most are left. It returns how many: they begin again when they come back.
func (e *Engine) Trim(most int) (forgotten int) {
	for _, k := range e.keyGroups {
		if k.Count(e.options.Tables) <= most {
			continue
		}
		live := k.Live(e.now)
		if len(live) <= most {
			continue
		}
		k.LastSeen.Trim(live, most-most/8, func(key int32) {
			forgotten++
			for _, m := range k.memories {
				m.At(key).Release()
			}
		})
	}
	return forgotten
}

// titleOf returns the text by which a limit's memory is found again: several policies may have the same limit, and one
// the same limit twice. What a limit remembers among others was reached in the way in which they combine.
func titleOf(p policy.Policy, i, variant int) string {
	part := p.Parts[i]
	title := strings.Join([]string{
		p.Name, strconv.Itoa(i), strconv.Itoa(variant), part.Spec.String(), part.MatchText, part.CountText,
	}, "\x00")
	if p.Combine != policy.Together {
		title += "\x00" + p.Combine.String()
	}
	return title
}
