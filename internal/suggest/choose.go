package suggest

import (
	"slices"
	"sort"

	"shadow/internal/traffic/who"
)

// Strictest is the smallest limit at which every curve keeps a promise; false if none does. The curves must be of one
// shape: the log as it is, and, where stamps are coarse, other ways in which its requests may have lain. A limit that
// breaks the promise in one of them is not chosen.
//
// A higher limit hits no client that a lower one does not, so each curve breaks the promise up to some limit and keeps it
// from there on: the answer is the highest of these.
func Strictest(curves []*Curve, keeps func(*Figures) bool) (n int64, ok bool) {
	for _, c := range curves {
		i := sort.Search(len(c.Points), func(i int) bool { return keeps(&c.Points[i].Figures) })
		if i == len(c.Points) {
			return 0, false
		}
		n = max(n, c.Points[i].Limit)
	}
	return n, n > 0
}

// steps lists how far runners-up are off a limit, in percent of it.
var steps = []int64{10, 25, 50}

// stricter are limits a little below n, the nearest first. There are none below 1.
func stricter(n int64) (limits []int64) {
	below := n
	for _, step := range steps {
		if below = min(below-1, n-n*step/100); below >= 1 {
			limits = append(limits, below)
		}
	}
	return limits
}

// looser are limits a little above n.
func looser(n int64) (limits []int64) {
	above := n
	for _, step := range steps {
		above = max(above+1, n+n*step/100)
		limits = append(limits, above)
	}
	return limits
}

// Knee is the limit above which loosening protects few additional clients: the point of the curve that lies farthest below the straight
// line from its beginning, the limit 1, to its end, the lowest limit that hits as few of the clients as any; of several
// the lowest. It is what Kneedle finds on a curve of whole numbers, which needs no smoothing (Satopaa, Albrecht, Irwin and
// Raghavan, Finding a "Kneedle" in a Haystack, ICDCS Workshops 2011). False if the curve falls in one step or is straight.
func (c *Curve) Knee(some who.Set) (n int64, ok bool) {
	if len(c.Points) == 0 {
		return 0, false
	}
	first, last := c.Points[0], c.Points[len(c.Points)-1]
	end := slices.IndexFunc(c.Points, func(p Point) bool { return p.Hit.Of(some) == last.Hit.Of(some) })
	last = c.Points[end]
	width, height := last.Limit-first.Limit, first.Hit.Of(some)-last.Hit.Of(some)
	// Both are below 2³², and clients below 2³¹, so the products fit.
	farthest := int64(0)
	for _, p := range c.Points[:end] {
		distance := (last.Limit-p.Limit)*height - (p.Hit.Of(some)-last.Hit.Of(some))*width
		if distance > farthest {
			n, farthest = p.Limit, distance
		}
	}
	return n, farthest > 0
}
