package html

import (
	"fmt"
	"math"
	"slices"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report/format"
	"shadow/report/table"
)

// protected are the clients that limits should not affect: people, or all clients where there are none.
func (c *Curves) protected() (clients int64, hit func(*sweep.Point) int64, who string) {
	if people := c.Browsers(); people > 0 {
		return people, (*sweep.Point).HitBrowsers, "browsers"
	}
	return c.Clients.Sum(), (*sweep.Point).HitAny, "clients"
}

// whoText says what a browser is where there are any.
func (c *Curves) whoText() string {
	switch {
	case c.Clients[request.Browser] == 0:
		return ""
	case c.Hidden == nil && c.From != "":
		return "Browsers are clients that say they are: claims are counted, as of that run it is not known who its " +
			"clients are."
	case c.Hidden == nil:
		return "Browsers are clients that say they are: claims are counted, as it is not known who the clients are."
	case c.Hidden.Clients == 0:
		return "Of the browsers none does what no browser does."
	}
	return fmt.Sprintf("Browsers are clients that behave like one; %s of %s that claim to be one do not.",
		format.Thousands(c.Hidden.Clients), format.Thousands(c.Clients[request.Browser]))
}

// safe says which limits affect next to no people, by the curve that is looked at first.
func (c *Curves) safe() (sentences []string) {
	if c == nil || c.first() == nil {
		return nil
	}
	curve, last := c.first(), int64(0)
	clients, hit, who := c.protected()
	for _, share := range []int64{1000, 999, 990} {
		at := curve.Protecting(clients, share, hit)
		if at == nil || at.Limit == last {
			continue
		}
		last = at.Limit
		affects := "none"
		if share < 1000 {
			affects = "at most " + format.ShareText(1000-share)
		}
		sentences = append(sentences, fmt.Sprintf("%s affects %s of the %s, and refuses %s of all requests.",
			curve.Limit(at.Limit), affects, who, format.Percentage(format.PercentOf(at.Refused.Sum(), c.Judged))))
	}
	if sentences == nil {
		return nil
	}
	sentences = append(sentences, c.whoText(), c.From)
	return slices.DeleteFunc(sentences, func(text string) bool { return text == "" })
}

func shapeTitle(s *sweep.Shape) string {
	switch s.Kind {
	case sweep.Token:
		return "refilled at " + s.Rate.String()
	case sweep.UnderWay:
		return "N at once"
	}
	return "N per " + s.PerText()
}

// protectingTable tells of each curve the smallest limit that protects some share of the clients, and what it refuses.
func (c *Curves) protectingTable(curves []*sweep.Curve) *table.Page {
	t := table.New(table.Words("limit"), table.Words("clients"))
	t.Title = KindTitle(curves[0].Kind)
	for _, share := range sweep.ProtectedShares() {
		t.Head(table.Numbers("N for "+format.ShareText(share), "refuses %")...)
	}
	add := func(curve *sweep.Curve, whose string, clients int64, hit func(*sweep.Point) int64) {
		key := format.Plain(int64(curve.Per)) // to sort by
		if curve.Kind == sweep.Token {
			key = fmt.Sprintf("%g", float64(curve.Rate.Count)/float64(curve.Rate.Per))
		}
		row := []table.Cell{table.Shown(shapeTitle(&curve.Shape), key), table.Text(whose)}
		for _, share := range sweep.ProtectedShares() {
			if p := curve.Protecting(clients, share, hit); p != nil {
				row = append(row, table.Count(p.Limit), c.refusedCell(p))
			} else {
				row = append(row, table.None, table.None)
			}
		}
		t.Add(row...)
	}
	for _, curve := range curves {
		if people := c.Browsers(); 0 < people && people < c.Clients.Sum() {
			add(curve, "browsers", people, (*sweep.Point).HitBrowsers)
		}
		add(curve, "all", c.Clients.Sum(), (*sweep.Point).HitAny)
	}
	return t.Page(len(t.Rows), "", 0)
}

func (c *Curves) refusedCell(p *sweep.Point) table.Cell {
	if !p.Counted {
		return table.None
	}
	return table.Share(format.PercentOf(p.Refused.Sum(), c.Judged))
}

// heatMaps returns two for curves of a kind: what is refused, and which people are hit, by limit × window.
func (c *Curves) heatMaps(curves []*sweep.Curve) []*table.Page {
	people, hit, who := c.protected()
	hitCell := func(p *sweep.Point) table.Cell { return table.Share(format.PercentOf(hit(p), people)) }
	return []*table.Page{
		heatMap("% of requests refused", curves, c.refusedCell), heatMap("% of "+who+" hit", curves, hitCell),
	}
}

// heatMap returns a table of what some limits of each curve do.
func heatMap(of string, curves []*sweep.Curve, cell func(*sweep.Point) table.Cell) *table.Page {
	var t table.Of[*sweep.Curve]
	t.Title = KindTitle(curves[0].Kind) + ": " + of
	t.Head(table.Words("N"), func(c **sweep.Curve) table.Cell { return table.Text(shapeTitle(&(*c).Shape)) })
	for _, n := range heatLimits(curves) {
		t.Head(table.Number(format.Thousands(n)), func(c **sweep.Curve) table.Cell {
			p := (*c).At(n)
			return cell(&p)
		})
	}
	page := t.Fill(curves).Page(len(curves), "", 0)
	page.Class = "heat"
	return page
}

// mostHeat is the most columns that a map has.
const mostHeat = 16

// heatLimits are round limits from 1 to where nothing is refused; of token buckets those whose refusals were counted.
func heatLimits(curves []*sweep.Curve) (limits []int64) {
	last := int64(1)
	for _, curve := range curves {
		last = max(last, curve.Points[len(curve.Points)-1].Limit)
	}
	if curves[0].Kind == sweep.Token {
		return countedBursts(curves)
	}
	for size := int64(1); len(limits) < mostHeat; size *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if limits = append(limits, n*size); n*size >= last || len(limits) == mostHeat {
				return limits
			}
		}
	}
	return limits
}

// countedBursts are the bursts whose refusals all curves know, as far as there is room.
func countedBursts(curves []*sweep.Curve) (bursts []int64) {
	in := map[int64]int{}
	for _, curve := range curves {
		for i := range curve.Points {
			if curve.Points[i].Counted {
				in[curve.Points[i].Limit]++
			}
		}
	}
	for burst, n := range in {
		if n >= (len(curves)+1)/2 {
			bursts = append(bursts, burst)
		}
	}
	slices.Sort(bursts)
	return bursts[:min(len(bursts), mostHeat)]
}

// Plotted returns the curve to draw: that of the first kind, and of the window nearest to a minute; no token bucket, as
// not every burst was counted.
func Plotted(curves []*sweep.Curve) (nearest *sweep.Curve) {
	far := func(c *sweep.Curve) float64 { return math.Abs(math.Log(float64(c.Per) / 60e6)) }
	for _, c := range curves {
		if c.Kind == curves[0].Kind && c.Kind != sweep.Token && (nearest == nil || far(c) < far(nearest)) {
			nearest = c
		}
	}
	return nearest
}

func (c *Curves) about() string {
	text := fmt.Sprintf("%s from %s, counted by %s", format.Count(c.Judged, "request"),
		format.Count(c.Clients.Sum(), "client"), c.By)
	if c.Action != "" {
		text += ", of action " + name(c.Action)
	}
	text += "."
	if c.Hidden != nil {
		text += " " + c.whoText()
	}
	if c.From != "" {
		text += " " + c.From
	}
	return text
}

// missing tells of curves that have no room on the page, and of those that have lost points on their way here.
func (c *Curves) missing(shown []*sweep.Curve) (notes []string) {
	some, lost := len(c.shown(len(c.Curves))), int64(0)
	if some > len(shown) {
		notes = append(notes, fmt.Sprintf("The first %d of %d curves; --output json has all.", len(shown), some))
	}
	for _, curve := range shown {
		if c.changes(curve) > int64(len(curve.Points)) {
			lost++
		}
	}
	if lost > 0 {
		notes = append(notes, fmt.Sprintf("Of %s the database has a selection of points, all exact. Between two of them "+
			"the map shows the lower, which refuses no less, and the smallest N is the smallest of those.",
			format.Count(lost, "curve")))
	}
	return notes
}
