package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/report/document"
	"shadow/report/format"
)

// Of each curve the slider has the limits, and the map the least of them that leave a share of people unhurt.

// Curves holds what a sweep found.
type Curves struct {
	*sweep.Result
	From string // where they come from, if that is not where the rest of the page does: a sentence
	// Changes are at how many limits each curve changes, if it has lost points on its way here, as in the database;
	// nil: none has.
	Changes []int64
}

// KindTitle returns what a page calls limits of a kind.
func KindTitle(k sweep.Kind) string {
	return [sweep.KindCount]string{
		"Rolling window", "Fixed window", "Rolling window, refused requests count too",
		"Token bucket", "Requests under way at once",
	}[k]
}

// mostCurves is the most curves that a page shows.
const mostCurves = 120

// show adds what the page shows of the curves, if anything.
func (c *Curves) show(v *view, room room) {
	if c == nil {
		return
	}
	all := c.shown()
	some := all[:min(len(all), room.drawn(mostCurves))]
	if len(some) == 0 {
		return
	}
	explored := c.explored(some, room.drawn(MostPoints))
	first := &explored.Shapes[explored.First]
	e := &explorer{Stored: explored, Limit: first.limit(explored.FirstStop), Groups: groupTable("class", nil, nil, 0)}
	e.About = c.about() + " The figures are exact, and those of a real replay of these requests with that limit. " +
		"One that goes on from the night before (--resume) remembers that night, and may refuse a little more."
	for _, share := range sweep.ProtectedShares() {
		e.Percents = append(e.Percents, strings.TrimSuffix(format.ShareText(share), " %"))
	}
	v.Island.Percents = e.Percents
	_, _, v.Island.Protects = c.protected()
	v.Island.Stored, v.Island.Answer = explored.stored(0), Start{Limit: e.Limit}
	v.show(e, "explorer.js", "stored.js")
	if len(some) < len(all) {
		s := v.Sections[len(v.Sections)-1]
		s.add("note", fmt.Sprintf("The first %d of %d curves; --output json has all.", len(some), len(all)))
	}
}

// shown returns the curves that have something to show, by kind.
func (c *Curves) shown() (curves []*sweep.Curve) {
	for i := range c.Curves {
		if len(c.Curves[i].Points) > 0 {
			curves = append(curves, &c.Curves[i])
		}
	}
	slices.SortStableFunc(curves, func(a, b *sweep.Curve) int { return cmp.Compare(a.Kind, b.Kind) })
	return curves
}

// first returns the curve to show first, nil if there is none.
func (c *Curves) first() *sweep.Curve { return Plotted(c.shown()) }

// explored returns what the limits of some curves do. The first one is that of the first curve which hits few enough
// clients for something to be seen.
func (c *Curves) explored(curves []*sweep.Curve, most int) *Explored {
	classes := c.classes()
	e := &Explored{Requests: c.Judged, First: max(0, slices.Index(curves, c.first()))}
	for _, class := range classes {
		e.Groups = append(e.Groups, class.Group)
	}
	for _, curve := range curves {
		e.Shapes = append(e.Shapes, c.shape(curve, classes, most))
	}
	e.FirstStop = max(0, slices.IndexFunc(e.Shapes[e.First].Stops, func(n int64) bool {
		p := curves[e.First].At(n)
		return p.HitAny()*20 <= c.Clients.Sum()
	}))
	return e
}

// mostExact is the largest integer up to which JavaScript has all of them.
const mostExact = 1 << 53

// shape returns a curve, thinned. Points that people ask for are kept: those that leave some share of clients unhurt, and
// of token buckets those whose refusals were counted. Who is hit never grows with the limit.
func (c *Curves) shape(curve *sweep.Curve, classes []pageClass, most int) Shape {
	points := curve.Points
	for len(points) > 1 && points[len(points)-1].Limit > mostExact {
		points = points[:len(points)-1]
	}
	clients, hit, _ := c.protected()
	var keeping, must []int
	for _, share := range sweep.ProtectedShares() {
		may := sweep.MayHit(clients, share)
		keeping = append(keeping, sort.Search(len(points), func(i int) bool { return hit(&points[i]) <= may }))
	}
	for i := range points {
		if slices.Contains(keeping, i) || curve.Kind == sweep.Token && points[i].Counted && len(must) < most/4 {
			must = append(must, i)
		}
	}
	thin := thinned(points, most, must)
	s := Shape{Kind: KindTitle(curve.Kind), Title: shapeTitle(&curve.Shape), Stepped: true, Note: c.note(curve, len(thin), most)}
	s.Before, s.After, _ = strings.Cut(curve.Limit(mostExact), format.Plain(mostExact))
	s.Hit, s.Refused = make([]Column, len(classes)), make([]Column, len(classes))
	s.Counted = []int{}
	for i := range thin {
		p := &thin[i]
		s.Stops = append(s.Stops, p.Limit)
		if p.Counted {
			s.Counted = append(s.Counted, i)
		}
		for g, class := range classes {
			s.Hit[g] = append(s.Hit[g], class.hit(p))
			if p.Counted {
				s.Refused[g] = append(s.Refused[g], class.refused(p))
			}
		}
	}
	if len(s.Counted) == len(s.Stops) {
		s.Counted = nil
	}
	for _, i := range keeping {
		keeps := -1
		if i < len(points) {
			keeps = slices.Index(s.Stops, points[i].Limit)
		}
		s.Keeps = append(s.Keeps, keeps)
	}
	return s
}

// note tells what the slider passes over.
func (c *Curves) note(curve *sweep.Curve, shown, columns int) string {
	stops, changes := format.Thousands(int64(shown)), int64(len(curve.Points))
	for i, n := range c.Changes {
		if curve == &c.Curves[i] {
			changes = max(changes, n)
		}
	}
	switch {
	case changes > int64(len(curve.Points)):
		return fmt.Sprintf("This curve changes at %s limits; the database keeps a selection. The slider stops at %s of "+
			"them. Each is exact, and the least N is the least of those.", format.Thousands(changes), stops)
	case shown < len(curve.Points):
		return fmt.Sprintf("The slider stops at %s of the %s limits at which this curve changes. Each is exact, and up to "+
			"%s pixels wide the drawing is that of all; --output json has every one.", stops, format.Thousands(changes),
			format.Thousands(int64(columns)))
	}
	return fmt.Sprintf("The slider stops at each of the %s limits at which this curve changes; between two of them the "+
		"lower one holds.", stops)
}

// A pageClass is a class of clients as a page shows it: those of a log, and where it is known who is doubted, these as a
// class of their own beside the browsers that are not.
type pageClass struct {
	Group
	hit, refused func(*sweep.Point) int64
}

// classes returns those that have clients.
func (c *Curves) classes() (classes []pageClass) {
	add := func(name string, clients, requests int64, hit, refused func(*sweep.Point) int64) {
		if clients > 0 {
			group := Group{Name: name, Clients: clients, Requests: max(0, requests)} // 0: requests that are not known
			group.Protected = name == request.Browser.String() || c.Browsers() == 0
			classes = append(classes, pageClass{group, hit, refused})
		}
	}
	doubted := cmp.Or(c.Hidden, new(sweep.Doubted))
	for class := range request.ClassCount {
		if class != request.Browser {
			add(class.String(), c.Clients[class], c.ByClass[class],
				func(p *sweep.Point) int64 { return p.Hit[class] }, func(p *sweep.Point) int64 { return p.Refused[class] })
			continue
		}
		add(class.String(), c.Browsers(), c.ByClass[class]-doubted.Requests, (*sweep.Point).HitBrowsers,
			func(p *sweep.Point) int64 { return max(0, p.Refused[class]-p.Hidden.Requests) })
		add("doubted", doubted.Clients, doubted.Requests, func(p *sweep.Point) int64 { return p.Hidden.Clients },
			func(p *sweep.Point) int64 { return p.Hidden.Requests })
	}
	return classes
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
	case c.Hidden == nil:
		return "Browsers are clients that say they are, as it is not known who the clients are."
	case c.Hidden.Clients == 0:
		return "Of the browsers none does what no browser does."
	}
	return fmt.Sprintf("Browsers are clients that behave like one; %s of %s that claim to be one do not.",
		format.Thousands(c.Hidden.Clients), format.Thousands(c.Clients[request.Browser]))
}

// safe says which limits affect next to no people, by the curve that is looked at first.
func (c *Curves) safe() (facts document.Facts) {
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
		facts.Add(curve.Limit(at.Limit), fmt.Sprintf("affects %s of the %s, and refuses %s of all requests", affects, who,
			format.Percentage(format.PercentOf(at.Refused.Sum(), c.Judged))))
	}
	return facts
}

// shapeTitle returns what a limit is per.
func shapeTitle(s *sweep.Shape) string {
	switch s.Kind {
	case sweep.Token:
		return "refilled at " + s.Rate.String()
	case sweep.UnderWay:
		return "N at once"
	}
	return "N per " + s.PerText()
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
	for _, more := range []string{c.whoText(), c.From} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}
