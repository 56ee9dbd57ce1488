package suggest

import (
	"cmp"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
)

// A Curve says of each limit of a shape what it would refuse, by group.
type Curve struct {
	sweep.Shape
	Points []Point // ascending; between two of them, what the lower one says holds
}

// A Point is one limit of a curve.
type Point struct {
	Limit int64 // of a window; the burst of a token bucket
	Figures
}

// Figures holds what a limit would refuse.
type Figures struct {
	Counted bool       // whether Refused is known
	Refused who.Groups // requests
	Hit     who.Groups // clients with a refused request
}

// At returns the figures of a limit, which must be at least 1. Of a token bucket they are only the clients hit.
func (c *Curve) At(n int64) Figures {
	i, found := slices.BinarySearchFunc(c.Points, n, func(p Point, n int64) int { return cmp.Compare(p.Limit, n) })
	if !found {
		i--
	}
	if i < 0 {
		return Figures{Counted: true}
	}
	f := c.Points[i].Figures
	if c.Kind == sweep.Token && f.Hit != (who.Groups{}) {
		f.Counted, f.Refused = false, who.Groups{}
	}
	return f
}

// The sweep tells of five groups, its classes, at a time. So a curve is put together from several of its answers, facets,
// each of which is about the clients of as many identities.
const facetCount = (int(who.Count) + int(request.ClassCount) - 1) / int(request.ClassCount)

// place returns in which facet, and there as which class, an identity is.
func place(is who.Identity) (facet int, class request.Class) {
	return int(is) / int(request.ClassCount), request.Class(is) % request.ClassCount
}

// Curves are the curves of a sweep by group, the clients there are, and their requests. There is a set of curves for each
// way in which requests may lie: that of the log as it is, and where its stamps are coarse the one that is worst for each limit.
func Curves(s *sweep.Sweep, labels who.Identities) (placements [][]Curve, clients, requests who.Groups) {
	var parts [facetCount]sweep.Part
	banded := false
	for f := range parts {
		parts[f] = s.Of(func(client int32) (request.Class, bool) {
			in, class := place(labels.Of(client))
			return class, in == f
		})
		banded = banded || parts[f].High != nil
	}
	for g := range who.Count {
		in, class := place(g)
		clients[g], requests[g] = parts[in].Clients[class], parts[in].Requests[class]
	}
	placements = append(placements, allTogether(&parts, func(p *sweep.Part) []sweep.Curve { return p.Curves }))
	if banded {
		placements = append(placements, allTogether(&parts, func(p *sweep.Part) []sweep.Curve { return p.High }))
	}
	return placements, clients, requests
}

// allTogether puts the facets of all curves of one placement together.
func allTogether(parts *[facetCount]sweep.Part, placed func(*sweep.Part) []sweep.Curve) (curves []Curve) {
	for i := range placed(&parts[0]) {
		var same [facetCount]*sweep.Curve
		for f := range parts {
			same[f] = &placed(&parts[f])[i]
		}
		curves = append(curves, together(same))
	}
	return curves
}

// together puts the facets of a curve together.
func together(facets [facetCount]*sweep.Curve) Curve {
	c := Curve{Shape: facets[0].Shape}
	var limits []int64
	for _, f := range facets {
		limits = mapped.Add(limits, f.Points, func(p sweep.Point) int64 { return p.Limit })
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	c.Points = make([]Point, 0, len(limits))
	var next [facetCount]int // in each facet, the first point above the limit
	for _, n := range limits {
		p := Point{Limit: n, Figures: Figures{Counted: true}}
		var at [facetCount]sweep.Point
		for f := range facets {
			points := facets[f].Points
			for next[f] < len(points) && points[next[f]].Limit <= n {
				next[f]++
			}
			if next[f] > 0 {
				at[f] = points[next[f]-1]
			}
		}
		for g := range who.Count {
			in, class := place(g)
			p.Refused[g], p.Hit[g] = at[in].Refused[class], at[in].Hit[class]
		}
		c.Points = append(c.Points, p)
	}
	return c
}
