package report

import (
	"math"
	"slices"

	"shadow/sweep"
)

// A curve may have a point for each of hundreds of thousands of limits, and a drawing has some thousand columns of
// pixels. Between two of its points a curve is flat, and it never rises; so within one column of pixels, what is drawn is
// a line from where the curve came in down to its last point there. That last point is all that is kept of a column:
//
//	───┐                   ───┐
//	   └┐      │ column │     │
//	    └─┐    │        │     │        the same pixels
//	      └──  │        │     └──
//
// So a thinned curve, drawn on as many columns as it was thinned for, is the same picture, whichever of its figures is drawn and
// however much it is stretched upwards. The points that are kept are exact.

// A thinning is what is left of a curve.
type thinning struct {
	points  []sweep.Point
	columns int // on which the drawing is the same; 0: all points are kept
}

// thinned keeps at most so many points, among them those at must, which are indices, as far as there is room for them.
func thinned(points []sweep.Point, most int, must []int) thinning {
	if len(points) <= most {
		return thinning{points: points}
	}
	slices.Sort(must)
	must = slices.Compact(must)
	must = must[:min(len(must), most/4)]
	columns := most - len(must)
	kept := columnEnds(points, columns)
	for more := columns + columns/8 + 1; more < 16*most; more += more / 8 {
		ends := columnEnds(points, more)
		if len(ends) > most-len(must) {
			break
		}
		kept, columns = ends, more
	}
	kept = append(kept, must...)
	slices.Sort(kept)
	t := thinning{columns: columns}
	for _, i := range slices.Compact(kept) {
		t.points = append(t.points, points[i])
	}
	return t
}

// columnEnds are the last points in each column of a drawing whose axis of limits is logarithmic.
func columnEnds(points []sweep.Point, columns int) (kept []int) {
	for i := range points {
		if i == len(points)-1 || columnOf(points, i+1, columns) != columnOf(points, i, columns) {
			kept = append(kept, i)
		}
	}
	return kept
}

// columnOf is in which column, from 0, a point is drawn.
func columnOf(points []sweep.Point, i, columns int) int {
	first, last := float64(points[0].Limit), float64(points[len(points)-1].Limit)
	return int(float64(columns) * math.Log(float64(points[i].Limit)/first) / math.Log(last/first))
}
