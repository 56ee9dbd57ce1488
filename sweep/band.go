package sweep

import (
	"slices"

	"shadow/traffic"
)

// A log in whole seconds does not tell how requests lay inside a second, so a sweep may look at them a second time, where
// a traffic.Spread places them. Of each curve there are two then, and the band is what lies between.

// A bander feeds a sweep of its own with the spread placement.
type bander struct {
	spread traffic.Spread
	sweep  *Sweep
}

// newBander is nil unless a band is wanted.
func newBander(o Options) *bander {
	if !o.Band {
		return nil
	}
	o.Band = false
	inner := New(o)
	inner.bare = true
	return &bander{sweep: inner}
}

// take takes in what can be placed once a batch is known. Without stamps in whole seconds there is nothing to place.
func (x *bander) take(b *traffic.Batch) {
	if x != nil && b.Stamps != nil {
		_ = x.spread.Take(b, x.pass) // pass has nothing to complain about
	}
}

func (x *bander) pass(b *traffic.Batch) error {
	x.sweep.Take(b)
	return nil
}

// result adds the curves of the spread placement, if a band is wanted and there is one. What was held back for others to pass
// is taken in, so this is the end.
func (x *bander) result(r *Result, who []member) {
	if x == nil {
		return
	}
	_ = x.spread.Flush(x.pass)
	r.Band = &Band{Movable: x.spread.Movable, Moved: x.spread.Moved}
	if r.Band.Movable > 0 {
		r.Band.Curves = x.sweep.curves(who)
	}
}

// A Band is what was found at the spread placement.
type Band struct {
	Movable int64   // counted requests that a spread may move, see traffic.Spread
	Moved   int64   // counted requests that it moves; as logged they lie at the start of their second
	Curves  []Curve // those of Result.Curves at the spread placement; nil: there is no band
}

// A Banded is one limit at both placements: as logged, and spread. Without a band both are the same.
type Banded [2]Point

// Banded is what curve i says of a limit, which must be at least 1, at both placements.
func (r *Result) Banded(i int, n int64) Banded {
	logged := r.Curves[i].At(n)
	if r.Band == nil || r.Band.Curves == nil {
		return Banded{logged, logged}
	}
	return Banded{logged, r.Band.Curves[i].At(n)}
}

// Counted tells whether it is known at both placements what is refused.
func (b *Banded) Counted() bool { return b[0].Counted && b[1].Counted }

// Limits are those at which curve i changes at either placement, ascending. Where clients share token buckets it is not
// known of every burst whom it hits: those of which it is not known at both placements are left out.
func (r *Result) Limits(i int) (limits []int64) {
	for _, p := range r.Curves[i].Points {
		limits = append(limits, p.Limit)
	}
	if r.Band == nil || r.Band.Curves == nil {
		return limits
	}
	for _, p := range r.Band.Curves[i].Points {
		limits = append(limits, p.Limit)
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	if r.Curves[i].Kind == Token && r.By.Shared() {
		limits = slices.DeleteFunc(limits, func(n int64) bool {
			points := r.Banded(i, n)
			return !points.Counted()
		})
	}
	return limits
}
