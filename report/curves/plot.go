package curves

import (
	"fmt"
	"math"

	"shadow/limit"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/plot"
	"shadow/sweep"
)

// A curve as a plot: the shares of requests refused and of clients hit, in percent, over the limit, whose axis is
// logarithmic, since between 1 and 10 as much happens as between 10 and 100.

func (s *Report) plot(w document.Writer, c *sweep.Curve) {
	moments := plot.Moments(s.view.Width)
	series, legend := [][]float64{s.shares(c, moments, s.refusedShare)}, "clients hit"
	if s.byBrowsers() {
		series, legend = append(series, s.shares(c, moments, s.browserShare)), "browser clients hit"
	} else {
		series = append(series, s.shares(c, moments, s.clientShare))
	}
	title := fmt.Sprintf("%s per %s, by the limit: ─ requests refused, · %s", c.Kind, c.PerText(), legend)
	var notes []string
	if more := s.unplotted(c); more != "" {
		notes = append(notes, more)
	}
	w.Plot(title, plot.Shares{Series: series, Decades: decades(c)}, notes...)
}

// unplotted says how to see the curves that are not drawn, "" if all are.
func (s *Report) unplotted(drawn *sweep.Curve) string {
	others, another := 0, ""
	for i := range s.curves {
		if c := &s.curves[i]; c != drawn && len(c.Points) > 0 {
			others++
			if c.Kind == drawn.Kind && (another == "" || c.Per == limit.Hour) {
				another = "--per " + c.PerText()
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
func (s *Report) shares(c *sweep.Curve, moments int, share func(*sweep.Point) float64) []float64 {
	values := make([]float64, moments)
	for i := range values {
		n := math.Pow(10, decades(c)*float64(i)/float64(moments-1))
		p := c.At(int64(math.Round(n)))
		values[i] = share(&p)
	}
	return values
}

func (s *Report) refusedShare(p *sweep.Point) float64 {
	return format.PercentOf(p.Refused.Sum(), s.Requests)
}

func (s *Report) clientShare(p *sweep.Point) float64 { return format.PercentOf(p.Hit.Sum(), s.Clients) }

func (s *Report) browserShare(p *sweep.Point) float64 {
	return format.PercentOf(p.HitBrowsers(), s.browsers())
}
