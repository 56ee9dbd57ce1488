package sweep

import (
	"slices"

	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// beyond counts the requests of the target that came in less time than a limit must admit.
type beyond struct {
	bound       *Bound
	peaks       *peaks
	views       []beyondView // the first is that of the key; the others are of keys that put other clients together otherwise
	alone       bool         // whether a key is of one client
	always      int64        // what comes behind so many requests of a key, any limit may refuse
	part, parts int32        // keys that are looked at

	keys  intern.PagedSlice[beyondKey]
	times arena[limit.Time]
	met   map[uint64]bool // of a key and a client of the target; nil: each key belongs to one client
}

// A beyondView is what limits must admit by some keys.
type beyondView struct {
	most   []BoundStep // where so many came in less time, a limit may refuse the last; of the last in any time
	tried  []BoundStep // the same, but for numbers that were not tried
	counts []*beyondCount
}

// A beyondCount counts for one key.
type beyondCount struct {
	same    []bool // by client: whether it counts; nil: all do
	result  *BoundResult
	clients intern.PagedSlice[uint8] // the bits inMost and inTried
}

// A beyondKey is what came of a key since it began.
type beyondKey struct {
	last  limit.Time
	block uint32 // in times: the requests, if any limit must admit so many
	n     uint32
	class uint8
}

// mostMet is the most pairs of a key and a client that are remembered: of more the fullest key has so many at least.
const mostMet = 1 << 20

const (
	inMost = 1 << iota
	inTried
)

func (y *beyond) begin(part, parts int32) {
	y.alone = !y.bound.options.By.Shared()
	if !y.alone {
		y.met = map[uint64]bool{}
	}
	if y.part, y.parts = part, parts; part > 0 {
		return
	}
	if base := y.bound.base; base != nil {
		y.peaks.join(base.goals)
	}
	y.bound.result.Steps = y.peaks.steps()
	y.view(y.peaks, &beyondCount{result: &y.bound.result})
	for _, share := range y.bound.shares {
		y.view(share.of.peaks, &beyondCount{same: share.same, result: &share.result})
	}
}

// view counts by what limits must admit, which may be the same for several keys.
func (y *beyond) view(peaks *peaks, count *beyondCount) {
	var v beyondView
	before := int64(1)
	for _, s := range append(peaks.steps(), BoundStep{peaks.most + 1, limit.Never}) {
		v.tried = addStep(v.tried, s)
		v.most = addStep(v.most, BoundStep{before + 1, s.Within})
		before = s.Requests
	}
	y.always = max(y.always, v.always())
	i := slices.IndexFunc(y.views, func(known beyondView) bool {
		return slices.Equal(known.tried, v.tried) && slices.Equal(known.most, v.most)
	})
	if i < 0 {
		i, y.views = len(y.views), append(y.views, v)
	}
	y.views[i].counts = append(y.views[i].counts, count)
}

// always returns how many requests of a key come before what any limit may refuse.
func (v *beyondView) always() int64 { return v.tried[len(v.tried)-1].Requests }

// addStep adds a step, unless nothing comes in less than its time, or fewer requests have the same one.
func addStep(steps []BoundStep, s BoundStep) []BoundStep {
	if s.Within == 0 || len(steps) > 0 && steps[len(steps)-1].Within == s.Within {
		return steps
	}
	return append(steps, s)
}

func (y *beyond) grow(keys, clients int) {
	y.keys.Grow(keys)
	for i := range y.views {
		for _, count := range y.views[i].counts {
			count.clients.Grow(clients)
		}
	}
}

func (y *beyond) wants(client int32) bool { return y.bound.in(y.bound.options.Target, client) }

// judge looks at the requests of a key.
func (y *beyond) judge(s *segment) {
	if s.key%y.parts != y.part || y.alone && !y.wants(s.client()) {
		return
	}
	k := y.keys.At(s.key)
	if k.n == 0 {
		k.last = s.at[0]
	}
	before := int32(-1)
	for i, t := range s.at {
		k.last = max(k.last, t) // a request out of order counts as the last one
		at := y.add(k)
		client := s.clients[s.rows[i]]
		if s.warm || !y.alone && !y.wants(client) {
			continue
		}
		if !y.alone && client != before && len(y.met) < mostMet {
			before = client
			y.met[uint64(s.key)<<32|uint64(client)] = true
		}
		for j := range y.views {
			y.views[j].count(at, client)
		}
	}
}

// add adds a request at the key's latest moment, and returns all so far; nil: so many that each further one counts.
func (y *beyond) add(k *beyondKey) []limit.Time {
	if int64(k.n)+1 >= y.always {
		if int64(k.n) < y.always && k.n > 0 {
			y.times.give(k.class, k.block)
			k.n++
		}
		return nil
	}
	k.class, k.block = y.times.extend(k.class, k.block, k.n)
	k.n++
	at := y.times.at(k.class, k.block)[:k.n]
	at[k.n-1] = k.last
	return at
}

// count counts the last of the requests of a key, if any limit may refuse it.
func (v *beyondView) count(at []limit.Time, client int32) {
	reach := uint8(inMost | inTried)
	if at != nil && int64(len(at)) < v.always() {
		switch {
		case !reaches(v.most, at):
			return
		case !reaches(v.tried, at):
			reach = inMost
		}
	}
	for _, c := range v.counts {
		if c.same != nil && !c.same[client] {
			continue
		}
		of := c.clients.At(client)
		c.result.Most.add(reach, *of, inMost)
		c.result.Tried.add(reach, *of, inTried)
		*of |= reach
	}
}

// reaches reports whether, for some step, so many of the latest requests came in less than its time. From step to step
// both grow, and so does the time in which requests came: where it is too long, steps that allow no more are skipped.
func reaches(steps []BoundStep, at []limit.Time) bool {
	now, took := at[len(at)-1], limit.Time(0)
	steps = steps[:min(len(steps), len(at))] // each step has more requests than the one before
	for {
		from, to := 0, len(steps) // the first step with more time than it took is looked for
		for from < to {
			if middle := (from + to) / 2; steps[middle].Within > took {
				to = middle
			} else {
				from = middle + 1
			}
		}
		if to == len(steps) || steps[to].Requests > int64(len(at)) {
			return false
		}
		if took = now - at[len(at)-int(steps[to].Requests)]; took < steps[to].Within {
			return true
		}
		steps = steps[to+1:]
	}
}

// add adds a request that counts in reach, of a client whose requests so far counted in before, if in is one of these.
func (r *Reach) add(reach, before, in uint8) {
	if reach&in == 0 {
		return
	}
	r.Requests++
	if before&in == 0 {
		r.Clients++
	}
}

// sum adds what was found of other requests, of other clients.
func (r *Reach) sum(other Reach) {
	r.Requests += other.Requests
	r.Clients += other.Clients
}

// release has a key begin again.
func (y *beyond) release(key int32) {
	k := y.keys.At(key)
	if k.n > 0 && int64(k.n) < y.always {
		y.times.give(k.class, k.block)
	}
	*k = beyondKey{}
}

func (y *beyond) end() { y.finish() }

func (y *beyond) finish() {
	clients, fullest := map[int32]int64{}, &y.bound.result.Fullest
	for both := range y.met {
		key := int32(both >> 32)
		if clients[key]++; clients[key] > 1 {
			*fullest = max(*fullest, clients[key])
		}
	}
	y.met = nil
	y.keys, y.times = intern.PagedSlice[beyondKey]{}, arena[limit.Time]{}
}
