package replay

import (
	"iter"
	"maps"
	"slices"

	"shadow/internal/policy"
	"shadow/limit"
)

// maxDelays is the most different delays that are told apart, in about 5 MB.
const maxDelays = 1 << 16

// Delays counts the requests that a policy kept waiting, by how long. Delays are told apart to the microsecond; should
// there be more than maxDelays different ones, then to the next power of two that leaves fewer, rounded up. The zero
// value is empty.
type delays struct {
	counts map[limit.Time]int64
	coarse uint       // delays are rounded up to multiples of 1<<coarse microseconds
	n      int64      // requests
	total  limit.Time // exact
}

// add counts a request that was kept waiting.
func (d *delays) add(by limit.Time) {
	if d.counts == nil {
		d.counts = map[limit.Time]int64{}
	}
	d.n++
	d.total = limit.Time(sum(int64(d.total), int64(by)))
	d.counts[d.round(by)]++
	for len(d.counts) > maxDelays {
		d.coarsen()
	}
}

// round rounds up, unless that goes beyond all numbers.
func (d *delays) round(by limit.Time) limit.Time {
	return limit.Time(min(uint64(by)+1<<d.coarse-1, uint64(limit.Never))) >> d.coarse << d.coarse
}

// coarsen makes delays differ by twice as much at least.
func (d *delays) coarsen() {
	d.coarse++
	fewer := make(map[limit.Time]int64, len(d.counts))
	for by, n := range d.counts {
		fewer[d.round(by)] += n
	}
	d.counts = fewer
}

// percentiles returns the percentiles of nearest rank: the smallest delay that is not exceeded by so many percent of
// the requests.
func (d *delays) percentiles(percents ...int64) []limit.Time {
	found := make([]limit.Time, len(percents))
	if d.n == 0 {
		return found
	}
	ordered := slices.Sorted(maps.Keys(d.counts))
	for i, percent := range percents {
		rank := d.n/100*percent + (d.n%100*percent+99)/100
		for _, by := range ordered {
			if rank -= d.counts[by]; rank <= 0 {
				found[i] = by
				break
			}
		}
	}
	return found
}

// Delays returns how long requests were kept waiting, and how many for so long, in order. They are rounded up to
// multiples of 1<<coarse microseconds, the total is exact.
func (d *Details) Delays() (coarse uint, total limit.Time, all iter.Seq2[limit.Time, int64]) {
	return d.delays.coarse, d.delays.total, func(yield func(limit.Time, int64) bool) {
		for _, by := range slices.Sorted(maps.Keys(d.delays.counts)) {
			if !yield(by, d.delays.counts[by]) {
				return
			}
		}
	}
}

// AddDelays counts requests of other Details: how coarse those are, their total, and then, with each call of add, some
// of them.
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

// DelayTally returns the delays of a policy that can keep requests waiting.
func (d *Details) DelayTally() *Delays {
	p := d.delays.percentiles(50, 99)
	return &Delays{Requests: d.delays.n, Total: d.delays.total, P50: p[0], P99: p[1]}
}

// MayDelay reports whether a policy may keep requests waiting.
func MayDelay(p policy.Policy) bool {
	return slices.ContainsFunc(p.Parts, func(part policy.Part) bool { _, may := part.Limiter.(limit.Delayer); return may })
}
