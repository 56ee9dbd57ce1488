package replay

import (
	"iter"
	"maps"
	"slices"

	"shadow/limit"
	"shadow/policy"
)

// Details are what a policy's figures are found from that do not add up themselves: the worst minute of a run is none of the worst
// minutes of its parts. Where several Engines judge requests of one run, their Details add up. The zero value is empty.
type Details struct {
	minutes minutes
	delays  delays
}

// Details are those of policy i. They must not be used while the Engine is. Of a log that is longer than two years,
// Options.Minutes has all minutes kept.
func (e *Engine) Details(i int) *Details {
	c := e.candidates[i]
	return &Details{c.minutes, c.delays}
}

// Minutes are the minutes in which requests were refused, and how many, in order.
func (d *Details) Minutes() iter.Seq2[limit.Time, int64] {
	return func(yield func(limit.Time, int64) bool) {
		for _, now := range slices.Sorted(maps.Keys(d.minutes.hours)) {
			for i, n := range d.minutes.hours[now] {
				if n > 0 && !yield(now+limit.Time(i)*limit.Minute, int64(n)) {
					return
				}
			}
		}
	}
}

// AddMinute counts n requests that were refused in a minute.
func (d *Details) AddMinute(at limit.Time, n int64) { d.minutes.add(at, uint32(n)) }

// WorstMinute is the earliest of the minutes with the highest count.
func (d *Details) WorstMinute() (at limit.Time, refused int64) {
	p := d.minutes.worst()
	return p.start, p.n
}

// Delays are how long requests were kept waiting, and how many for so long, in order. They are rounded up to multiples of
// 1<<coarse microseconds, the total is exact.
func (d *Details) Delays() (coarse uint, total limit.Time, all iter.Seq2[limit.Time, int64]) {
	return d.delays.coarse, d.delays.total, func(yield func(limit.Time, int64) bool) {
		for _, by := range slices.Sorted(maps.Keys(d.delays.counts)) {
			if !yield(by, d.delays.counts[by]) {
				return
			}
		}
	}
}

// AddDelays counts requests of other Details: how coarse those are, their total, and then, with each call of add, some of them.
func (d *Details) AddDelays(coarse uint, total limit.Time) (add func(by limit.Time, n int64)) {
	to := &d.delays
	for to.coarse < coarse {
		to.coarsen()
	}
	to.total = limit.Time(sum(int64(to.total), int64(total)))
	if to.counts == nil {
		to.counts = map[limit.Time]int64{}
	}
	return func(by limit.Time, n int64) {
		to.n += n
		to.counts[to.round(by)] += n
		for len(to.counts) > maxDelays {
			to.coarsen()
		}
	}
}

// DelayTally is what a policy tells of delays that can keep requests waiting.
func (d *Details) DelayTally() *Delays {
	p := d.delays.percentiles(50, 99)
	return &Delays{Requests: d.delays.n, Total: d.delays.total, P50: p[0], P99: p[1]}
}

// A Variant is an approximation under other assumptions than those that its policy is reported by.
type Variant struct {
	Refused int64
	Hits    *Hits
}

// Variants are those of policy i; none if it is judged exactly.
func (e *Engine) Variants(i int) (all []Variant) {
	for _, v := range e.candidates[i].variants {
		all = append(all, Variant{v.total, &v.hits})
	}
	return all
}

// VariantsOf is how many variants a policy has.
func VariantsOf(p policy.Policy) int { return len(variantsOf(p)) - 1 }

// MayDelay reports whether a policy may keep requests waiting.
func MayDelay(p policy.Policy) bool {
	return slices.ContainsFunc(p.Parts, func(part policy.Part) bool { _, may := part.Limiter.(limit.Delayer); return may })
}

// RangeOf is what an approximation comes to that refuses as t says, or, under other assumptions, as its variants.
func RangeOf(t *PolicyTally, variants []Variant) *Range {
	hit := int64(t.Hits.Len())
	r := &Range{Refused: [2]int64{t.Refused, t.Refused}, ClientsHit: [2]int64{hit, hit}, hits: []*Hits{&t.Hits}}
	for _, v := range variants {
		r.hits = append(r.hits, v.Hits)
		widen(&r.Refused, v.Refused)
		widen(&r.ClientsHit, int64(v.Hits.Len()))
	}
	return r
}
