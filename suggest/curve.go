package suggest

import (
	"cmp"
	"slices"

	"shadow/request"
	"shadow/sweep"
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

// Figures are what a limit would refuse.
type Figures struct {
	Counted bool   // whether Refused is known
	Refused Groups // requests
	Hit     Groups // clients with a refused request
}

// At is what the curve says of a limit, which must be at least 1. Of a token bucket it says which clients it hits only.
func (c *Curve) At(n int64) Figures {
	i, found := slices.BinarySearchFunc(c.Points, n, func(p Point, n int64) int { return cmp.Compare(p.Limit, n) })
	if !found {
		i--
	}
	if i < 0 {
		return Figures{Counted: true}
	}
	f := c.Points[i].Figures
	if c.Kind == sweep.Token && f.Hit != (Groups{}) {
		f.Counted, f.Refused = false, Groups{}
	}
	return f
}

// A facet is one of the sweep's answers that a curve is put together from: those of some clients, by their class.
type facet uint8

const (
	plain facet = iota
	shared
	disguised
	search
	facetCount
)

// place says in which facet and class a group lies, and back.
func place(g Group) (facet, request.Class) {
	switch g {
	case Shared:
		return shared, request.Browser
	case Disguised:
		return disguised, request.Browser
	case Search:
		return search, request.Crawler
	}
	for class, group := range groupOf {
		if group == g {
			return plain, request.Class(class)
		}
	}
	return plain, request.Unknown
}

// Curves are the curves of a sweep by group, the clients there are, and their requests. There is a set of curves for each
// way in which requests may lie: that of the log as it is, and where its stamps are coarse the one that is worst for each limit.
func Curves(s *sweep.Sweep, labels Labels) (placements [][]Curve, clients, requests Groups) {
	var parts [facetCount]sweep.Part
	banded := false
	for f := range parts {
		parts[f] = s.Of(func(client int32) (request.Class, bool) {
			in, class := place(labels.Of(client))
			return class, in == facet(f)
		})
		banded = banded || parts[f].High != nil
	}
	for g := range GroupCount {
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
	for i := range placed(&parts[plain]) {
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
	c := Curve{Shape: facets[plain].Shape}
	var limits []int64
	for _, f := range facets {
		for _, p := range f.Points {
			limits = append(limits, p.Limit)
		}
	}
	slices.Sort(limits)
	for _, n := range slices.Compact(limits) {
		p := Point{Limit: n, Figures: Figures{Counted: true}}
		for g := range GroupCount {
			in, class := place(g)
			at := facets[in].At(n)
			p.Refused[g], p.Hit[g] = at.Refused[class], at.Hit[class]
		}
		c.Points = append(c.Points, p)
	}
	return c
}
