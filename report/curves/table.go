package curves

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"shadow/internal/escape"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/format"
	"shadow/report/html"
	"shadow/report/plot"
	"shadow/report/table"
)

// The curves for people: for each kind a table of the limits that affect none of so many clients, with what they
// refuse of all requests, and one curve as a plot.

// Text writes the tables of the curves.
func (s *Report) Text(w *document.Writer) {
	if s.of != nil {
		s.policies(w)
		return
	}
	s.Begin(w, "Every limit at once", document.Fact{Label: "curves", Text: s.subject()})
	var kinds [sweep.KindCount][]int // indices of curves that have points
	var some []*sweep.Curve
	for kind := range sweep.KindCount {
		for i := range s.result.Curves {
			if c := &s.result.Curves[i]; c.Kind == kind && len(c.Points) > 0 {
				kinds[kind], some = append(kinds[kind], i), append(some, c)
			}
		}
	}
	drawn := html.Plotted(some)
	for kind := range sweep.KindCount {
		if len(kinds[kind]) == 0 || s.Requests == 0 {
			continue
		}
		text := kindTexts[kind]
		if kind == sweep.Token && len(s.result.Uncounted()) > 0 {
			text += "; a–b: somewhere between, not counted (--exact counts it)"
		}
		w.Topic(2, kind.String(), text)
		w.Table(s.percentileTable(kind, kinds[kind]))
		if drawn != nil && drawn.Kind == kind && w.Page == nil {
			s.plot(w, drawn, some)
		}
	}
	s.model().WriteEnd(w)
}

// subject says what the curves are about, what a browser is, and where the finest share is that of all clients.
func (s *Report) subject() string {
	text := fmt.Sprintf("of %s from %s, counted by %s", format.Count(s.Requests, "request"),
		format.Count(s.Clients, "client"), s.result.By)
	if s.Action != "" {
		text += ", of action " + escape.Visible(s.Action)
	}
	text += "; below, the smallest N that protects such a share of the clients, and the percentage of all requests " +
		"that it refuses"
	browsers := s.result.Browsers()
	switch {
	case !s.byBrowsers():
	case s.ByEvidence == nil:
		text += "; browsers are clients that say so"
	case s.ByEvidence.Doubted.Clients == 0:
		text += "; all clients that claim to be browsers may be"
	default:
		text += fmt.Sprintf("; browsers are clients that behave like one: %s of %s that claim it", format.Thousands(browsers),
			format.Thousands(browsers+s.ByEvidence.Doubted.Clients))
	}
	const enough = 1000 // 99.9 % of fewer are all of them
	switch {
	case s.Clients < enough:
		text += fmt.Sprintf("; 99.9 %% of %s is all of them", format.Count(s.Clients, "client"))
	case s.byBrowsers() && browsers < enough:
		text += fmt.Sprintf("; 99.9 %% of %s is all of them", format.Count(browsers, "browser"))
	}
	return text
}

// byBrowsers reports whether browsers are worth a row of their own.
func (s *Report) byBrowsers() bool {
	n := s.result.Browsers()
	return 0 < n && n < s.Clients
}

var kindTexts = [sweep.KindCount]string{
	"rolling: at most N admitted in any span of that length",
	"at most N in each window on the epoch's grid",
	"rolling: refused while more than N came in the last span of that length, refused ones too",
	"a bucket of N tokens that refills at a rate",
	"at most N under way at once, from their beginning to their end",
}

// percentileTable has a row or two per curve.
func (s *Report) percentileTable(kind sweep.Kind, curves []int) *table.Table {
	t := table.New(table.Words([sweep.KindCount]string{"per", "per", "per", "rate", "limit"}[kind]))
	t.Join(table.Words("protects"))
	for _, share := range sweep.ProtectedShares() {
		t.Head(table.Number(format.ShareText(share)))
		t.Join(table.Number("refuses"))
	}
	for _, i := range curves {
		if s.byBrowsers() {
			t.Add(s.percentileRow(i, "browsers", s.result.Browsers(), (*sweep.Point).HitBrowsers)...)
		}
		t.Add(s.percentileRow(i, "all", s.Clients, (*sweep.Point).HitAny)...)
	}
	return t
}

// percentileRow is one curve by the clients of some class.
func (s *Report) percentileRow(i int, name string, clients int64, hit func(*sweep.Point) int64) []table.Cell {
	c := &s.result.Curves[i]
	var edges []*sweep.Curve
	if s.banded() {
		edges = []*sweep.Curve{&s.result.Band.Low[i], &s.result.Band.High[i]}
	}
	row := table.Texts(cmp.Or(c.PerText()+c.RateText(), c.Shape.String()), name)
	for _, share := range sweep.ProtectedShares() {
		p := c.Protecting(clients, share, hit)
		if p == nil {
			row = append(row, table.None, table.None)
			continue
		}
		text, limits := format.Thousands(p.Limit), [2]int64{p.Limit, p.Limit}
		for _, edge := range edges {
			if q := edge.Protecting(clients, share, hit); q != nil {
				limits = report.RangeOf(limits[0], q.Limit, limits[1])
			}
		}
		if limits[0] < limits[1] {
			text += format.Between(limits)
		}
		row = append(row, table.Text(text), table.Text(s.refusedText(c, edges, p)))
	}
	return row
}

// refusedText formats the refused share with its range; where it was not counted, the bounds that it lies between.
func (s *Report) refusedText(c *sweep.Curve, edges []*sweep.Curve, p *sweep.Point) string {
	percents := func(r [2]int64) string {
		return format.Percents([2]float64{format.PercentOf(r[0], s.Requests), format.PercentOf(r[1], s.Requests)})
	}
	if !p.Counted {
		least, most := c.Within(p)
		if most < 0 {
			return "≥" + percents([2]int64{least, least}) + " %"
		}
		return percents([2]int64{least, most}) + " %"
	}
	refused := p.Refused.Sum()
	r := [2]int64{refused, refused}
	text := percents(r) + " %"
	for _, edge := range edges {
		if q := edge.At(p.Limit); q.Counted {
			r = report.RangeOf(r[0], q.Refused.Sum(), r[1])
		}
	}
	if r[0] < r[1] {
		text += " (" + percents(r) + ")"
	}
	return text
}

// plot draws a curve: the shares of requests refused and of clients hit, in percent, over the limit, whose axis is
// logarithmic, since between 1 and 10 as much happens as between 10 and 100. It says how to see the others.
func (s *Report) plot(w *document.Writer, c *sweep.Curve, all []*sweep.Curve) {
	legend, hit, clients := "clients hit", (*sweep.Point).HitAny, s.Clients
	if s.byBrowsers() {
		legend, hit, clients = "browser clients hit", (*sweep.Point).HitBrowsers, s.result.Browsers()
	}
	moments := plot.Moments(s.View.Width)
	// up to the first limit that refuses nothing
	decades := max(1, math.Ceil(math.Log10(float64(c.Points[len(c.Points)-1].Limit))))
	series := [][]float64{make([]float64, moments), make([]float64, moments)}
	for i := range moments {
		p := c.At(int64(math.Round(math.Pow(10, decades*float64(i)/float64(moments-1)))))
		series[0][i], series[1][i] = format.PercentOf(p.Refused.Sum(), s.Requests), format.PercentOf(hit(&p), clients)
	}
	another := ""
	for _, other := range all {
		if other != c && other.Kind == c.Kind && (another == "" || other.Per == limit.Hour) {
			another = "--per " + other.PerText() + " draws that window instead, "
		}
	}
	var notes []string
	if len(all) > 1 {
		notes = append(notes, fmt.Sprintf("One of %d curves: %s--output html draws all of them", len(all), another))
	}
	of := strings.TrimSuffix(c.Kind.String()+" per "+c.PerText(), " per ")
	title := fmt.Sprintf("%s, by the limit: ─ requests refused, · %s", of, legend)
	w.Plot(title, plot.Shares{Series: series, Decades: decades}, notes...)
}
