package html

import (
	"math"
	"slices"

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

// thinned returns the points that a drawing on so many columns needs, on a logarithmic axis, to be that of all; and those
// at must, which are indices in order.
func thinned(points []sweep.Point, columns int, must []int) (some []sweep.Point) {
	if len(points) <= columns {
		return points
	}
	first := float64(points[0].Limit)
	length := math.Log(float64(points[len(points)-1].Limit) / first)
	column := func(i int) int {
		return min(int(math.Log(float64(points[i].Limit)/first)/length*float64(columns)), columns-1)
	}
	for i := range points {
		_, wanted := slices.BinarySearch(must, i)
		if wanted || i == len(points)-1 || column(i) != column(i+1) {
			some = append(some, points[i])
		}
	}
	return some
}
