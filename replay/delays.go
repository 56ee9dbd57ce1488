package replay

import (
	"maps"
	"slices"

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
	d.n++
	d.total = limit.Time(sum(int64(d.total), int64(by)))
	d.count(by, 1)
}

func (d *delays) count(by limit.Time, n int64) {
	if d.counts == nil {
		d.counts = map[limit.Time]int64{}
	}
	d.counts[d.round(by)] += n
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
