package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"shadow/report/format"
)

const (
	sharesRows = 10  // of the plot
	inPercent  = 100 // the vertical axis
)

// Shares are one or two series of shares, in percent, over a logarithmic axis. The second one is dotted.
type Shares struct {
	Series  [][]float64
	Decades float64 // of the axis
}

// Draw returns the lines of the plot, without trailing space.
func (p Shares) Draw(color bool) (lines []string) {
	options := []asciigraph.Option{
		asciigraph.Height(sharesRows), asciigraph.LowerBound(0), asciigraph.UpperBound(inPercent),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%3.0f%%", v) }),
		asciigraph.XAxisRange(0, p.Decades), asciigraph.XAxisTickCount(int(p.Decades) + 1),
		asciigraph.XAxisValueFormatter(func(v float64) string { return format.Thousands(int64(math.Round(math.Pow(10, v)))) }),
		asciigraph.SeriesChars(asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·")),
	}
	if color {
		options = append(options, asciigraph.SeriesColors(asciigraph.Red, asciigraph.Green), asciigraph.AxisColor(asciigraph.Gray), asciigraph.LabelColor(asciigraph.Gray))
	}
	for line := range strings.Lines(asciigraph.PlotMany(p.Series, options...)) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}
