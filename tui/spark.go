package tui

import (
	"math"
	"slices"
	"strings"
)

// A sparkline has a character for each value: a blank where nothing is known, a line at the bottom for zero, and else a
// bar whose height is that of the value beside the greatest one:
//
//	  __▁▂▃▄▅▆▇█▂_

var bars = []rune("▁▂▃▄▅▆▇█")

// spark draws values from 0 to peak.
func spark(values []float64, peak float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteByte(' ')
		case v == 0:
			b.WriteByte('_')
		default:
			level := int(math.Ceil(v / peak * float64(len(bars))))
			b.WriteRune(bars[min(max(level, 1), len(bars))-1])
		}
	}
	return b.String()
}

// peakOf is the greatest value, 0 if there is none above.
func peakOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return max(0, slices.Max(values))
}
