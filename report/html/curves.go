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

// Of the curves, tables tell without any script: the smallest limit that affects none of so many clients, and a map of
// limit × window, the darker the more is refused.

// KindTitle returns what a page calls limits of a kind.
func KindTitle(k sweep.Kind) string {
	return [sweep.KindCount]string{
		"Rolling window", "Fixed window", "Rolling window, refused requests count too",
		"Token bucket",
	}[k]
}

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
		return "Browsers are clients that say they are: claims are counted, as of that run it is not known who its clients are."
	case c.Hidden == nil:
		return "Browsers are clients that say they are: claims are counted, as it is not known who the clients are."
	case c.Hidden.Clients == 0:
		return "Of the browsers none does what no browser does."
	}
	return fmt.Sprintf("Browsers are clients that behave like one; %s of %s that claim to be one do not.",
		format.Thousands(c.Hidden.Clients), format.Thousands(c.Clients[request.Browser]))
}

func shapeTitle(s *sweep.Shape) string {
	if s.Kind == sweep.Token {
		return "refilled at " + s.Rate.String()
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

// A heatMap is limit × window: for each curve of a kind, what some limits do.
type heatMap struct {
	Title string
	Of    string // what the figures are of
	Head  []string
	Rows  []heatRow
}

type heatRow struct {
	Head  string
	Cells []table.PageCell
}

// heatMaps are two for each kind with two curves or more: what is refused, and which people are hit.
func (c *Curves) heatMaps(curves []*sweep.Curve) []heatMap {
	limits := heatLimits(curves)
	title := KindTitle(curves[0].Kind)
	people, hit, who := c.protected()
	maps := []heatMap{
		{Title: title, Of: "% of requests refused"},
		{Title: title, Of: "% of " + who + " hit"},
	}
	for i := range maps {
		for _, n := range limits {
			maps[i].Head = append(maps[i].Head, format.Thousands(n))
		}
	}
	for _, curve := range curves {
		requests, clients := heatRow{Head: shapeTitle(&curve.Shape)}, heatRow{Head: shapeTitle(&curve.Shape)}
		for _, n := range limits {
			p := curve.At(n)
			requests.Cells = append(requests.Cells, c.refusedCell(&p).Heated())
			clients.Cells = append(clients.Cells, table.Share(format.PercentOf(hit(&p), people)).Heated())
		}
		maps[0].Rows, maps[1].Rows = append(maps[0].Rows, requests), append(maps[1].Rows, clients)
	}
	return maps
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

// What a page shows of curves: which ones, by kind, and what is left out of them.

type curvesView struct {
	Explorer   *explorerView
	Heat       [][]heatMap // by kind
	Protecting []*table.Page
	Left       string // what is left out
	Kept       string // what the database has left out
}

// A curveGroup is the curves of a kind, for the field that chooses one.
type curveGroup struct {
	Kind   string
	Curves []curveName
}

type curveName struct {
	Index    int
	Name     string
	Selected bool
}

// view returns what the page shows of the curves, nil if nothing.
func (c *Curves) view(room room) *curvesView {
	if c == nil {
		return nil
	}
	shown := c.shown(room)
	if len(shown) == 0 {
		return nil
	}
	v := &curvesView{Explorer: &explorerView{
		Grouped: "class", Limit: c.start().Limit, About: c.about() + " The figures are exact, and those of a real replay of these requests " +
			"with that limit. One that goes on from the night before (--resume) remembers that night, and may refuse a little more.",
	}}
	v.Left, v.Kept = c.missing(shown)
	for kind := range sweep.KindCount {
		var of []*sweep.Curve
		group := curveGroup{Kind: KindTitle(kind)}
		for i, curve := range shown {
			if curve.Kind == kind {
				of = append(of, curve)
				group.Curves = append(group.Curves, curveName{i, shapeTitle(&curve.Shape), curve == c.first()})
			}
		}
		if len(of) == 0 {
			continue
		}
		v.Explorer.Kinds = append(v.Explorer.Kinds, group)
		v.Protecting = append(v.Protecting, c.protectingTable(of))
		if len(of) > 1 {
			v.Heat = append(v.Heat, c.heatMaps(of))
		}
	}
	return v
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
func (c *Curves) missing(shown []*sweep.Curve) (curves, points string) {
	some, lost := 0, int64(0)
	for i := range c.Curves {
		if len(c.Curves[i].Points) > 0 {
			some++
		}
	}
	if some > len(shown) {
		curves = fmt.Sprintf("The first %d of %d curves; --output json has all.", len(shown), some)
	}
	for _, curve := range shown {
		if c.changes(curve) > int64(len(curve.Points)) {
			lost++
		}
	}
	if lost > 0 {
		points = fmt.Sprintf("Of %s the database has a selection of points, all exact. Between two of them the map shows "+
			"the lower, which refuses no less, "+
			"and the smallest N is the smallest of those.", format.Count(lost, "curve"))
	}
	return curves, points
}
