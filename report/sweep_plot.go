package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"shadow/limit"
	"shadow/sweep"
)

// A curve as a plot: the shares of requests refused and of clients hit, in percent, over the limit, whose axis is
// logarithmic, since between 1 and 10 as much happens as between 10 and 100.

const (
	sweepRows = 10  // of the plot
	inPercent = 100 // the vertical axis
)

func (s *Sweep) plot(t *terminal, c *sweep.Curve) {
	width := t.width
	moments := PlotMoments(width)
	series, legends := [][]float64{s.shares(c, moments, s.refusedShare)}, []string{"requests refused"}
	colors := []asciigraph.AnsiColor{asciigraph.Red, asciigraph.Green}
	if s.byBrowsers() {
		series, legends = append(series, s.shares(c, moments, s.browserShare)), append(legends, "browser clients hit")
	} else {
		series, legends = append(series, s.shares(c, moments, s.clientShare)), append(legends, "clients hit")
	}
	options := []asciigraph.Option{
		asciigraph.Height(sweepRows), asciigraph.LowerBound(0), asciigraph.UpperBound(inPercent),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%3.0f%%", v) }),
		asciigraph.XAxisRange(0, decades(c)), asciigraph.XAxisTickCount(int(decades(c)) + 1),
		asciigraph.XAxisValueFormatter(func(v float64) string { return thousands(int64(math.Round(math.Pow(10, v)))) }),
		asciigraph.SeriesChars(asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·")),
	}
	if t.color {
		options = append(options, asciigraph.SeriesColors(colors...), asciigraph.AxisColor(asciigraph.Gray), asciigraph.LabelColor(asciigraph.Gray))
	}
	fmt.Fprintf(t, "\n%s\n", t.paint(dim, fmt.Sprintf("%s per %s, by the limit: ─ %s, · %s", c.Kind, perText(&c.Shape), legends[0], legends[1])))
	for line := range strings.Lines(asciigraph.PlotMany(series, options...)) {
		t.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if more := s.unplotted(c); more != "" {
		fmt.Fprintf(t, "%s\n", t.paint(dim, more))
	}
}

// unplotted says how to see the curves that are not drawn, "" if all are.
func (s *Sweep) unplotted(drawn *sweep.Curve) string {
	others, another := 0, ""
	for i := range s.curves {
		if c := &s.curves[i]; c != drawn && len(c.Points) > 0 {
			others++
			if c.Kind == drawn.Kind && (another == "" || c.Per == limit.Hour) {
				another = "--per " + perText(&c.Shape)
			}
		}
	}
	switch {
	case others == 0:
		return ""
	case another != "":
		another += " draws that window instead, "
	}
	return fmt.Sprintf("One of %d curves: %s--output html draws all of them", others+1, another)
}

// decades is how many powers of ten the axis of limits spans: up to the first that refuses nothing.
func decades(c *sweep.Curve) float64 {
	last := c.Points[len(c.Points)-1].Limit
	return max(1, math.Ceil(math.Log10(float64(last))))
}

// shares is a figure of the curve at limits spread evenly over the logarithmic axis.
func (s *Sweep) shares(c *sweep.Curve, moments int, share func(*sweep.Point) float64) []float64 {
	values := make([]float64, moments)
	for i := range values {
		n := math.Pow(10, decades(c)*float64(i)/float64(moments-1))
		p := c.At(int64(math.Round(n)))
		values[i] = share(&p)
	}
	return values
}

func (s *Sweep) refusedShare(p *sweep.Point) float64 { return percentOf(p.Refused.Sum(), s.Requests) }
func (s *Sweep) clientShare(p *sweep.Point) float64  { return percentOf(p.Hit.Sum(), s.Clients) }
func (s *Sweep) browserShare(p *sweep.Point) float64 {
	return percentOf(p.HitBrowsers(), s.browsers())
}
