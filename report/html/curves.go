package html

import (
	"fmt"
	"slices"
	"sort"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report/format"
)

// Of the curves, tables tell without any script: the smallest limit that affects none of so many clients, and a map of
// limit × window, the darker the more is refused.

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

// show adds what the page shows of the curves, if anything.
func (c *Curves) show(v *view, room room) {
	if c == nil {
		return
	}
	shown := c.shown(room.drawn(120))
	if len(shown) == 0 {
		return
	}
	explored := c.explored(shown, room.drawn(MostPoints))
	first := &explored.Shapes[explored.First]
	e := &explorer{Stored: explored, Limit: first.limit(explored.FirstStop), Groups: groupTable("class", nil, nil, 0)}
	e.About = c.about() + " The figures are exact, and those of a real replay of these requests with that limit. " +
		"One that goes on from the night before (--resume) remembers that night, and may refuse a little more."
	_, _, v.Island.Protects = c.protected()
	v.Island.Stored, v.Island.Answer = explored.stored(0), Start{Limit: e.Limit}
	v.show(e, "explorer.js", "stored.js")
	s := v.begin("curves", "The smallest N that affects no clients", "Smallest N")
	s.add("text", "Each column is a share of clients that no request is refused of, and what that N refuses of all "+
		"requests.")
	heat := v.begin("map", "Map: limit × window", "Map")
	for kind := range sweep.KindCount {
		of := slices.DeleteFunc(slices.Clone(shown), func(curve *sweep.Curve) bool { return curve.Kind != kind })
		if len(of) > 0 {
			t := c.protectingTable(of)
			s.add("fold", &fold{Class: "kind", Title: t.Title, Open: len(s.Blocks) == 1, Blocks: []block{{"table", t}}})
		}
		if len(of) > 1 {
			if len(heat.Blocks) == 0 {
				heat.add("text", "The stronger the colour, the more is refused, or hit.")
			}
			heat.add("maps", c.heatMaps(of))
		}
	}
	for _, text := range c.missing(shown) {
		s.add("note", text)
	}
}

// shown returns the first curves by kind that have something to show.
func (c *Curves) shown(most int) (curves []*sweep.Curve) {
	for kind := range sweep.KindCount {
		for i := range c.Curves {
			if c.Curves[i].Kind == kind && len(c.Curves[i].Points) > 0 && len(curves) < most {
				curves = append(curves, &c.Curves[i])
			}
		}
	}
	return curves
}

// explored returns what the limits of some curves do. The first one is that of the first curve which hits few enough
// clients for something to be seen.
func (c *Curves) explored(curves []*sweep.Curve, most int) *Explored {
	classes, groups := c.groups()
	e := &Explored{Groups: groups, Requests: c.Judged}
	for i, curve := range curves {
		e.Shapes = append(e.Shapes, c.shape(curve, classes, most))
		if curve == c.first() {
			e.First = i
		}
	}
	e.FirstStop = max(0, slices.IndexFunc(e.Shapes[e.First].Stops, func(n int64) bool {
		p := curves[e.First].At(n)
		return p.HitAny()*20 <= c.Clients.Sum()
	}))
	return e
}

// first returns the curve to show first: that of the window nearest to a minute.
func (c *Curves) first() *sweep.Curve { return Plotted(c.shown(len(c.Curves))) }

// mostExact is the largest integer up to which JavaScript has all of them.
const mostExact = 1 << 53

// shape returns a curve, thinned.
func (c *Curves) shape(curve *sweep.Curve, classes []pageClass, most int) Shape {
	points := curve.Points
	for len(points) > 1 && points[len(points)-1].Limit > mostExact {
		points = points[:len(points)-1]
	}
	thin, columns := thinned(points, most, c.worthKeeping(curve, points))
	s := Shape{Kind: KindTitle(curve.Kind), Title: shapeTitle(&curve.Shape), Stepped: true}
	s.Note = c.note(curve, len(thin), columns)
	s.Before, s.After = aroundLimit(&curve.Shape)
	s.Hit, s.Refused = make([]Column, len(classes)), make([]Column, len(classes))
	s.Counted = []int{}
	for i := range thin {
		p := &thin[i]
		s.Stops = append(s.Stops, p.Limit)
		if p.Counted {
			s.Counted = append(s.Counted, i)
		}
		for g, class := range classes {
			s.Hit[g] = append(s.Hit[g], class.of(&p.Hit, p.Hidden.Clients))
			if p.Counted {
				s.Refused[g] = append(s.Refused[g], class.of(&p.Refused, p.Hidden.Requests))
			}
		}
	}
	if len(s.Counted) == len(s.Stops) {
		s.Counted = nil
	}
	return s
}

// note tells what the slider passes over.
func (c *Curves) note(curve *sweep.Curve, shown, columns int) string {
	stops, changes := format.Thousands(int64(shown)), c.changes(curve)
	switch {
	case changes > int64(len(curve.Points)):
		return fmt.Sprintf("This curve changes at %s limits; the database keeps a selection. The slider stops at %s of "+
			"them. Each is exact.", format.Thousands(changes), stops)
	case columns > 0:
		return fmt.Sprintf("The slider stops at %s of the %s limits at which this curve changes. Each is exact, and up to "+
			"%s pixels wide the drawing is that of all; --output json has every one.", stops, format.Thousands(changes),
			format.Thousands(int64(columns)))
	}
	return fmt.Sprintf("The slider stops at each of the %s limits at which this curve changes; between two of them the "+
		"lower one holds.", stops)
}

// changes is at how many limits one of the curves changes.
func (c *Curves) changes(curve *sweep.Curve) int64 {
	n := int64(len(curve.Points))
	for i := range c.Changes {
		if i < len(c.Curves) && curve == &c.Curves[i] {
			n = max(n, c.Changes[i])
		}
	}
	return n
}

// worthKeeping are points that people ask for: those that leave some share of clients alone, and of token buckets
// those whose refusals were counted. Who is hit never grows with the limit.
func (c *Curves) worthKeeping(curve *sweep.Curve, points []sweep.Point) (indices []int) {
	for _, share := range sweep.ProtectedShares() {
		all, people := sweep.MayHit(c.Clients.Sum(), share), sweep.MayHit(c.Browsers(), share)
		for _, i := range []int{
			sort.Search(len(points), func(i int) bool { return points[i].HitAny() <= all }),
			sort.Search(len(points), func(i int) bool { return points[i].HitBrowsers() <= people }),
		} {
			if i < len(points) {
				indices = append(indices, i)
			}
		}
	}
	for i := range points {
		if curve.Kind == sweep.Token && points[i].Counted {
			indices = append(indices, i)
		}
	}
	return indices
}

// aroundLimit returns what stands before and after N in the text of a limit, as Shape.Limit writes it.
func aroundLimit(s *sweep.Shape) (before, after string) {
	switch s.Kind {
	case sweep.Token:
		return "token:" + s.Rate.String() + ",burst=", ""
	case sweep.UnderWay:
		return "conn:", ""
	case sweep.WindowAll:
		return "window:", "/" + limit.FormatPeriod(s.Per) + ",charge=all"
	}
	return s.Kind.String() + ":", "/" + limit.FormatPeriod(s.Per)
}

// The classes of a page's charts: those of clients, and where it is known who is doubted, these as a class of their
// own beside the browsers that are not.

// A pageClass is one of them.
type pageClass struct {
	request.Class
	doubted bool
}

func (k pageClass) name() string {
	if k.doubted {
		return "doubted"
	}
	return k.String()
}

// of returns a number of the class. hidden is what the doubted have of the browsers'.
func (k pageClass) of(numbers *sweep.Classes, hidden int64) int64 {
	switch {
	case k.doubted:
		return hidden
	case k.Class == request.Browser:
		return max(0, numbers[k.Class]-hidden) // 0: requests that are not known
	}
	return numbers[k.Class]
}

// groups returns the classes that have clients, and the groups that they are.
func (c *Curves) groups() (classes []pageClass, groups []Group) {
	var hidden sweep.Doubted
	if c.Hidden != nil {
		hidden = *c.Hidden
	}
	for class := range request.ClassCount {
		for _, doubted := range []bool{false, true} {
			k := pageClass{class, doubted}
			n := k.of(&c.Clients, hidden.Clients)
			if n == 0 || doubted && class != request.Browser {
				continue
			}
			classes = append(classes, k)
			groups = append(groups, Group{
				Name: k.name(), Clients: n, Requests: k.of(&c.ByClass, hidden.Requests),
				Protected: class == request.Browser && !doubted,
			})
		}
	}
	return classes, groups
}
