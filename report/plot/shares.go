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

// DrawShares draws one or two series of shares, in percent, over a logarithmic axis of so many powers of ten. The second one is
// dotted. Each line ends with a newline.
func DrawShares(series [][]float64, decades float64, color bool) string {
	options := []asciigraph.Option{
		asciigraph.Height(sharesRows), asciigraph.LowerBound(0), asciigraph.UpperBound(inPercent),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%3.0f%%", v) }),
		asciigraph.XAxisRange(0, decades), asciigraph.XAxisTickCount(int(decades) + 1),
		asciigraph.XAxisValueFormatter(func(v float64) string { return format.Thousands(int64(math.Round(math.Pow(10, v)))) }),
		asciigraph.SeriesChars(asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·")),
	}
	if color {
		options = append(options, asciigraph.SeriesColors(asciigraph.Red, asciigraph.Green), asciigraph.AxisColor(asciigraph.Gray), asciigraph.LabelColor(asciigraph.Gray))
	}
	var b strings.Builder
	for line := range strings.Lines(asciigraph.PlotMany(series, options...)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
