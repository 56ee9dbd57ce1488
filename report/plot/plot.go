// Package plot draws curves with characters: values over time or over a limit come in, lines of text go out.
package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"shadow/limit"
	"shadow/report/format"
)

// A Curve is drawn over time, drawn with characters:
//
//	10 ┤        ╭────
//	 8 ┤     ╭──╯
//	 6 ┤  ╭──╯
//	 4 ┤╭─╯
//	 2 ┤│
//	 0 ┼╯
//	   └┬────┬────┬──
//	   0s   10s  20s
//
// Both axes are linear, and their labels are round numbers, if the length is one.
type Curve struct {
	Values []float64  // at moments spread evenly over length, the first at 0, the last at the end; 2 at least
	Length limit.Time // more than 0
	Top    float64    // what the vertical axis must reach
	Rows   int        // that the curve has at most
	Clock  bool       // whether the axis shows the time of day, from start on
	Start  format.Moment
	color  bool
}

// A Drawing is what can be drawn as lines of text.
type Drawing interface {
	// Draw returns the lines without trailing space.
	Draw(color bool) []string
}

// The widths of a plot.
const (
	Columns    = 80 // where there is no terminal
	plotMargin = 14 // columns left of the curve, and half a label right of it
	LeastCurve = 20
	mostCurve  = 240
)

// Moments returns how many values a plot wants on a terminal of so many columns, 0 if there is none.
func Moments(width int) int {
	if width == 0 {
		width = Columns
	}
	return min(max(width-plotMargin, LeastCurve), mostCurve)
}

// Draw returns the lines of the plot, without trailing space.
func (p Curve) Draw(color bool) []string {
	p.color = color
	top, rows := niceTop(max(p.Top, slices.Max(p.Values)), p.Rows)
	options := []asciigraph.Option{
		asciigraph.Height(rows), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%2s", short(v, top)) }),
	}
	if !p.Clock {
		options = append(options, p.lengthAxis()...)
	}
	lines := draw([][]float64{p.Values}, options, color, asciigraph.Green)
	if p.Clock {
		lines = append(lines, p.clockAxis(lines)...)
	}
	return lines
}

// lengthAxis is an axis from 0 to the length.
func (p Curve) lengthAxis() []asciigraph.Option {
	unit := axisUnit(p.Length)
	end := float64(p.Length) / float64(unit.length)
	return []asciigraph.Option{
		asciigraph.XAxisRange(0, end), asciigraph.XAxisTickCount(ticks(end) + 1),
		asciigraph.XAxisValueFormatter(func(v float64) string { return format.Significant(v) + unit.name }),
	}
}

// niceTop returns the end of an axis from 0 that reaches top in at most so many steps of 1, 2 or 5 times a power of
// ten, and how many those are.
func niceTop(top float64, most int) (end float64, steps int) {
	top = max(top, 1e-6)
	step := math.Pow(10, math.Floor(math.Log10(top/float64(most))))
	for _, times := range []float64{1, 2, 5, 10} {
		if steps = int(math.Ceil(top/(step*times) - 1e-9)); steps <= most {
			return step * times * float64(steps), steps
		}
	}
	return top, most
}

// A Tick is a value of an axis.
type Tick struct {
	Value float64
	Text  string
}

// Ticks returns the values of an axis of counts from 0 to top or above it, in at most so many steps.
func Ticks(top float64, most int) (ticks []Tick) {
	steps := max(int(math.Ceil(min(top, float64(most)))), 1)
	end := float64(steps)
	if top > end {
		end, steps = niceTop(top, most)
	}
	for i := range steps + 1 {
		value := end * float64(i) / float64(steps)
		ticks = append(ticks, Tick{value, short(value, end)})
	}
	return ticks
}

// A timeUnit is what an axis of time counts in.
type timeUnit struct {
	name   string
	length limit.Time
}

var timeUnits = []timeUnit{
	{"d", limit.Day},
	{"h", limit.Hour},
	{"min", limit.Minute},
	{"s", limit.Second},
	{"ms", limit.Millisecond},
	{"us", limit.Microsecond},
}

// axisUnit is the largest unit that the axis has three times or more, as a whole number if there is such a unit.
func axisUnit(length limit.Time) timeUnit {
	for _, unit := range timeUnits {
		if n := length / unit.length; length%unit.length == 0 && 3 <= n && n <= 10_000 {
			return unit
		}
	}
	for _, unit := range timeUnits {
		if length/unit.length >= 3 {
			return unit
		}
	}
	return timeUnits[len(timeUnits)-1]
}

// ticks is into how many parts an axis is cut so that the labels have the fewest digits, five if that does as well.
func ticks(end float64) int {
	best, least := 0, math.MaxInt
	for _, n := range []int{5, 6, 4, 8, 7, 3} {
		text := format.Significant(end / float64(n))
		digits := len(strings.Trim(text, "0."))
		if strings.Contains(text, ".") {
			digits += 2
		}
		if digits < least {
			best, least = n, digits
		}
	}
	return best
}

// short writes a number of an axis that ends at top in few columns: 1,500 of 5,000; 80k of 100k; 0.5M of 2M.
func short(v, top float64) string {
	v = math.Round(v/top*1e9) / 1e9 * top // next to nothing is nothing
	if top < 100_000 {
		if whole := math.Round(v); math.Abs(v-whole) < 1e-6*top {
			return format.Thousands(int64(whole))
		}
		return format.Significant(v)
	}
	unit, size := 0, 1e3
	for top >= 1e3*size && unit < len(format.SizeUnits)-1 {
		size *= 1e3
		unit++
	}
	if v == 0 {
		return "0"
	}
	return format.Significant(v/size) + format.SizeUnits[unit:unit+1]
}

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
func (p Shares) Draw(color bool) []string {
	options := []asciigraph.Option{
		asciigraph.Height(sharesRows), asciigraph.LowerBound(0), asciigraph.UpperBound(inPercent),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%3.0f %%", v) }),
		asciigraph.XAxisRange(0, p.Decades), asciigraph.XAxisTickCount(int(p.Decades) + 1),
		asciigraph.XAxisValueFormatter(func(v float64) string {
			return format.Thousands(int64(math.Round(math.Pow(10, v))))
		}),
		asciigraph.SeriesChars(asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·")),
	}
	return draw(p.Series, options, color, asciigraph.Red, asciigraph.Green)
}

// draw returns the lines of a plot without trailing space, the series in colours if there are to be any.
func draw(series [][]float64, options []asciigraph.Option, color bool, colors ...asciigraph.AnsiColor) (lines []string) {
	if color {
		options = append(options, asciigraph.SeriesColors(colors...), asciigraph.AxisColor(asciigraph.Gray),
			asciigraph.LabelColor(asciigraph.Gray))
	}
	for line := range strings.Lines(asciigraph.PlotMany(series, options...)) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}
