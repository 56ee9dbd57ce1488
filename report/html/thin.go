package html

import (
	"math"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/sweep"
)

// A curve may have a point for each of hundreds of thousands of limits, and a drawing has some thousand columns of
// pixels. Between two of its points a curve is flat, and it never rises; so within one column of pixels, what is
// drawn is a line from where the curve came in down to its last point there. That last point is all that is kept of a
// column:
//
//	───┐                   ───┐
//	   └┐      │ column │     │
//	    └─┐    │        │     │        the same pixels
//	      └──  │        │     └──
//
// So a thinned curve, drawn on as many columns as it was thinned for, is the same picture, whichever of its figures
// is drawn and however much it is stretched upwards. The points that are kept are exact.

// thinned returns at most so many points, among them those at must, which are indices, as far as there is room for
// them; and on how many columns the drawing is the same, 0 where all points are kept.
func thinned(points []sweep.Point, most int, must []int) (some []sweep.Point, columns int) {
	if len(points) <= most {
		return points, 0
	}
	slices.Sort(must)
	must = slices.Compact(must)
	must = must[:min(len(must), most/4)]
	places := placesOf(points)
	left := most - len(must)
	columns = 16 * most
	kept := columnEnds(places, columns, left)
	for kept == nil {
		columns = max(columns*4/5, left)
		kept = columnEnds(places, columns, left)
	}
	kept = append(kept, must...)
	slices.Sort(kept)
	some = mapped.Add(some, slices.Compact(kept), func(i int) sweep.Point { return points[i] })
	return some, columns
}

// placesOf returns the places of points on a logarithmic axis: from 0 at the first to 1 at the last.
func placesOf(points []sweep.Point) []float64 {
	first := float64(points[0].Limit)
	length := math.Log(float64(points[len(points)-1].Limit) / first)
	return mapped.Of(points, func(p sweep.Point) float64 { return math.Log(float64(p.Limit)/first) / length })
}

// columnEnds are the last points in each column of a drawing, nil if there are more than so many.
func columnEnds(places []float64, columns, most int) (kept []int) {
	before := 0
	for i, place := range places {
		column := min(int(place*float64(columns)), columns-1)
		if column != before {
			kept = append(kept, i-1)
		}
		if before = column; len(kept) >= most {
			return nil
		}
	}
	return append(kept, len(places)-1)
}
