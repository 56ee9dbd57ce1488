package html

import (
	"fmt"
	"slices"
	"strconv"

	"shadow/limit"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/plot"
)

// A chart of columns as SVG, so that it needs no script. All that lies in it is placed by percentages: it is as wide as
// there is room, and its texts keep their size.

// A chart is what the template writes.
type chart struct {
	Name, Title string // of what, as code, and what of it
	Words       string // what it shows, for those who cannot see it
	Class       string // of columns
	Ticks       []chartTick
	Marks       []string // below the columns: of the first, of the one in the middle and of the last
	Bars        []chartBar
}

type chartTick struct{ At, Text string }

type chartBar struct {
	X, Y, Width, Height string
	Gap                 bool
	Text                string // "": none
}

// A column is one of a chart.
type column struct {
	value float64
	gap   bool   // there is no value
	text  string // that names it, with its value
	mark  string // below it, where there is room
}

const (
	mostTicks  = 3    // above 0
	leastShown = 0.02 // of the height, for what is more than nothing
)

// draw draws columns. least is what the axis reaches at least; apart leaves room between columns.
func (c *chart) draw(columns []column, least float64, apart bool) {
	for i := range columns {
		least = max(least, columns[i].value)
	}
	ticks := plot.Ticks(least, mostTicks)
	top := ticks[len(ticks)-1].Value
	for _, t := range ticks {
		c.Ticks = append(c.Ticks, chartTick{percentOf(1-t.Value/top, 1), t.Text})
	}
	n := float64(len(columns))
	width := 1.0
	if apart {
		width = 0.9
	}
	for i, column := range columns {
		height := column.value / top
		switch {
		case column.gap:
			height = 1
		case column.value <= 0:
			height = 0
		default:
			height = max(height, leastShown)
		}
		c.Bars = append(c.Bars, chartBar{
			X: percentOf(float64(i), n), Width: percentOf(width, n), Gap: column.gap, Text: column.text,
			Y: percentOf(1-height, 1), Height: percentOf(height, 1),
		})
	}
	last := len(columns) - 1
	for _, i := range slices.Compact([]int{0, last / 2, last}) {
		c.Marks = append(c.Marks, columns[i].mark)
	}
}

func percentOf(part, whole float64) string {
	return strconv.FormatFloat(float64(int64(10_000*part/whole+0.5))/100, 'f', -1, 64) + "%"
}

// curveChart draws a curve over the time of day.
func curveChart(title string, p *plot.Curve) *chart {
	layout := report.NewSpan(limit.Time(p.Start), limit.Time(p.Start)+p.Length).Layouts().Second
	if p.Length < 10*limit.Second {
		layout = "15:04:05.0"
	}
	columns := make([]column, len(p.Values))
	for i, v := range p.Values {
		at := p.Start + format.Moment(float64(p.Length)*float64(i)/float64(len(p.Values)-1))
		columns[i] = column{value: v, mark: at.Format(layout)}
	}
	c := &chart{Title: title, Class: "all"}
	c.draw(columns, p.Top, false)
	most := slices.Max(p.Values)
	c.Words = fmt.Sprintf("%s: from %s to %s, at most %s at %s", title, columns[0].mark, columns[len(columns)-1].mark,
		format.Amount(most), columns[slices.Index(p.Values, most)].mark)
	return c
}
