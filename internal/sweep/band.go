package sweep

import (
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// A log in whole seconds does not tell how requests lay inside a second. So a sweep may look at the bounds of all
// limits as well, see limit.Bounds: of each curve there are two more then, between which it lies wherever requests
// came.

// An edge is a limit as it is, or one of its bounds.
type edge uint8

const (
	exact edge = iota
	low
	high
)

// A bander is the two sweeps of the bounds. They share the timelines of the one that they belong to.
type bander struct{ low, high *Sweep }

// bound adds the bounds of all limits, before the first batch is taken in.
func (s *Sweep) bound(slack limit.Time) {
	o := s.options
	o.Band = false
	s.band = &bander{high: s.boundBy(o, high, slack), low: s.boundBy(o, low, slack)}
	for i := range s.shapes {
		all := []*shaped{&s.shapes[i], &s.band.low.shapes[i], &s.band.high.shapes[i]}
		s.band.low.shapes[i].sides, s.band.high.shapes[i].sides = all, all
		s.band.high.shapes[i].high = true
	}
}

// boundBy has the sweep of one bound take part.
func (s *Sweep) boundBy(o Options, edge edge, slack limit.Time) *Sweep {
	of := &Sweep{seen: s.seen}
	of.init(o, edge, slack)
	s.tasks, s.seen = slices.Concat(s.tasks, of.tasks), of.seen
	return of
}

// A Band holds the bounds of the curves.
type Band struct {
	Movable   int64   // counted requests that are stamped in whole seconds
	Low, High []Curve // the bounds of Result.Curves; nil: the stamps tell when requests came
}

// band is nil unless one is wanted.
func (s *Sweep) bandOf(stats *ingest.Stats, who []member) *Band {
	if !s.options.Band {
		return nil
	}
	b := &Band{Movable: stats.Whole}
	if s.band != nil {
		b.Low, b.High = s.band.low.curves(who), s.band.high.curves(who)
	}
	return b
}

// A Banded is one limit as logged, at least and at most. Without a band all three are the same.
type Banded struct{ Logged, Low, High Point }

// Banded returns what curve i says of a limit, which must be at least 1.
func (r *Result) Banded(i int, n int64) Banded {
	b := Banded{Logged: r.Curves[i].At(n)}
	b.Low, b.High = b.Logged, b.Logged
	if r.banded() {
		b.Low, b.High = r.Band.Low[i].At(n), r.Band.High[i].At(n)
	}
	return b
}

func (r *Result) banded() bool { return r.Band != nil && r.Band.Low != nil }

// Counted reports whether the range of refused requests is known.
func (b *Banded) Counted() bool { return b.Logged.Counted && b.Low.Counted && b.High.Counted }

// Range returns the least and the most of a figure.
func (b *Banded) Range(figure func(*Point) int64) [2]int64 {
	logged, from, to := figure(&b.Logged), figure(&b.Low), figure(&b.High)
	return [2]int64{min(logged, from, to), max(logged, from, to)}
}

// Limits returns the limits at which curve i or one of its bounds changes, ascending. Where clients share token
// buckets, it is not known for every burst which clients it hits: bursts for which a curve lacks them are left out.
func (r *Result) Limits(i int) (limits []int64) {
	curves := []*Curve{&r.Curves[i]}
	if r.banded() {
		curves = append(curves, &r.Band.Low[i], &r.Band.High[i])
	}
	for _, c := range curves {
		limits = mapped.Add(limits, c.Points, func(p Point) int64 { return p.Limit })
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	if len(curves) > 1 && r.Curves[i].Kind == Token && r.By.Shared() {
		limits = slices.DeleteFunc(limits, func(n int64) bool {
			points := r.Banded(i, n)
			return !points.Counted()
		})
	}
	return limits
}
