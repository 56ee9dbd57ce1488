package html

import (
	"slices"
	"testing"

	"shadow/limit"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/report/reporttest"
)

// A column is as high as its value, but little is not nothing, and a gap is seen.
func TestColumns(t *testing.T) {
	c := &chart{}
	c.draw([]column{{value: 0}, {value: 1}, {value: 1000}, {gap: true}}, 0, false)
	var heights []string
	for _, b := range c.Bars {
		heights = append(heights, b.Height)
	}
	if want := []string{"0%", "2%", "100%", "100%"}; !slices.Equal(heights, want) {
		t.Errorf("%v, want %v", heights, want)
	}
	c = &chart{}
	c.draw([]column{{value: 1}}, 8, false)
	if got := c.Ticks[len(c.Ticks)-1].Text; got != "10" || c.Bars[0].Height != "10%" || len(c.Marks) != 1 {
		t.Errorf("an axis that reaches 8 ends at %s, of %s, with %d marks", got, c.Bars[0].Height, len(c.Marks))
	}
}

// The axis of a curve has as much of a time as tells its ends apart.
func TestCurveIsAChart(t *testing.T) {
	for length, want := range map[limit.Time]string{
		4 * limit.Second: "of x: from 12:26:40.1 to 12:26:44.1, at most 7.5 at 12:26:42.1",
		2 * limit.Hour:   "of x: from 12:26:40 to 14:26:40, at most 7.5 at 13:26:40",
		2 * limit.Day:    "of x: from 11-01 12:26:40 to 11-03 12:26:40, at most 7.5 at 11-02 12:26:40",
	} {
		c := curveChart("of x", &plot.Curve{Values: []float64{1, 7.5, 2}, Length: length, Start: format.Moment(reporttest.Noon)})
		if c.Words != want {
			t.Errorf("%v: %q, want %q", length, c.Words, want)
		}
	}
}
