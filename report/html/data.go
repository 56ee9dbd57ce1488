package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"sort"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report/format"
)

// What the charts of a report draw.

// times are requests and refusals over time.
type times struct {
	Start    float64    `json:"start"` // Unix seconds
	Step     float64    `json:"step"`  // seconds
	Length   string     `json:"length"`
	Requests []int64    `json:"requests"` // null: not known
	Policies []refusals `json:"policies"`
}

type refusals struct {
	Policy  string  `json:"policy"`
	Refused []int64 `json:"refused"`
}

// dataOf is the island of a page.
func (p *Page) dataOf(room room) (template.JS, error) {
	d := island{Percents: []string{}}
	if c := p.Curves; c != nil && len(c.shown(room)) > 0 {
		_, _, d.Protects = c.protected()
		d.Stored, d.Answer = c.stored(room)
	}
	if p.Times != nil {
		d.Times = timesOf(p.Times, room)
	}
	return d.text()
}

// stored returns what the limits of the curves do, and the one to show first.
func (c *Curves) stored(room room) (*stored, start) {
	d := &stored{Requests: c.Judged, Groups: []Group{}, Shapes: []shapeData{}, Clients: [][]any{}, Agents: []string{}}
	var groups []pageClass // those that have clients
	for _, class := range c.classes() {
		clients := class.of(&c.Clients, c.hidden().Clients)
		if clients == 0 {
			continue
		}
		groups = append(groups, class)
		d.Groups = append(d.Groups, Group{
			Name: class.name, Clients: clients, Requests: class.of(&c.ByClass, c.hidden().Requests),
			Protected: class.name == request.Browser.String(),
		})
	}
	for _, curve := range c.shown(room) {
		d.Shapes = append(d.Shapes, c.shape(curve, groups, room.points))
	}
	return d, c.start()
}

// start is the first limit of the first curve that hits few enough clients for something to be seen.
func (c *Curves) start() start {
	curve := c.first()
	for i := range curve.Points {
		if p := &curve.Points[i]; p.HitAny()*20 <= c.Clients.Sum() {
			return start{Limit: curve.Limit(p.Limit)}
		}
	}
	return start{Limit: curve.Limit(curve.Points[0].Limit)}
}

// shown are the curves that have something to show and room on the page: of those of a kind, the first ones.
func (c *Curves) shown(room room) (curves []*sweep.Curve) {
	for kind := range sweep.KindCount {
		for i := range c.Curves {
			if c.Curves[i].Kind == kind && len(c.Curves[i].Points) > 0 && len(curves) < room.curves {
				curves = append(curves, &c.Curves[i])
			}
		}
	}
	return curves
}

// first returns the curve to show first: that of the window nearest to a minute.
func (c *Curves) first() *sweep.Curve {
	var windows []*sweep.Curve
	for i := range c.Curves {
		if len(c.Curves[i].Points) > 0 {
			windows = append(windows, &c.Curves[i])
		}
	}
	return Plotted(windows)
}

// mostExact is the largest integer up to which JavaScript has all of them.
const mostExact = 1 << 53

// shape is a curve, thinned.
func (c *Curves) shape(curve *sweep.Curve, groups []pageClass, most int) shapeData {
	points := curve.Points
	for len(points) > 1 && points[len(points)-1].Limit > mostExact {
		points = points[:len(points)-1]
	}
	thin := thinned(points, most, c.worthKeeping(curve, points))
	h := shapeData{
		Shape: KindTitle(curve.Kind) + " " + shapeTitle(&curve.Shape), Stepped: true, Keeps: []int64{}, Note: c.note(curve, &thin),
		Stops: make([]int64, len(thin.points)),
	}
	h.Before, h.After = aroundLimit(&curve.Shape)
	counted := make([]int, 0, len(thin.points))
	for i := range thin.points {
		h.Stops[i] = thin.points[i].Limit
		if thin.points[i].Counted {
			counted = append(counted, i)
		}
	}
	differences(h.Stops)
	if len(counted) < len(thin.points) {
		h.Counted = counted
	}
	for _, class := range groups {
		h.Hit = append(h.Hit, columnOfPoints(thin.points, func(p *sweep.Point) (int64, bool) {
			return class.of(&p.Hit, p.Hidden.Clients), true
		}))
		h.Refused = append(h.Refused, columnOfPoints(thin.points, func(p *sweep.Point) (int64, bool) {
			return class.of(&p.Refused, p.Hidden.Requests), p.Counted
		}))
	}
	return h
}

// note tells what the slider passes over.
func (c *Curves) note(curve *sweep.Curve, thin *thinning) string {
	stops, changes := format.Thousands(int64(len(thin.points))), c.changes(curve)
	switch {
	case changes > int64(len(curve.Points)):
		return fmt.Sprintf("This curve changes at %s limits; the database keeps a selection. The slider stops at %s of them. Each is exact.",
			format.Thousands(changes), stops)
	case thin.columns > 0:
		return fmt.Sprintf("The slider stops at %s of the %s limits at which this curve changes. Each is exact, and up to %s pixels wide "+
			"the drawing is that of all; --output json has every one.", stops, format.Thousands(changes), format.Thousands(int64(thin.columns)))
	}
	return fmt.Sprintf("The slider stops at each of the %s limits at which this curve changes; between two of them the lower one holds.", stops)
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

// columnOfPoints are the differences of a figure, nil if it is 0 throughout.
func columnOfPoints(points []sweep.Point, figure func(*sweep.Point) (n int64, known bool)) []int64 {
	column, some := make([]int64, 0, len(points)), false
	for i := range points {
		if n, known := figure(&points[i]); known {
			column = append(column, n)
			some = some || n != 0
		}
	}
	if !some {
		return nil
	}
	differences(column)
	return column
}

// differences replaces each number but the first by its difference from the one before.
func differences(numbers []int64) {
	for i := len(numbers) - 1; i > 0; i-- {
		numbers[i] -= numbers[i-1]
	}
}

// aroundLimit returns what stands before and after N in the text of a limit, as Shape.Limit writes it.
func aroundLimit(s *sweep.Shape) (before, after string) {
	switch s.Kind {
	case sweep.Token:
		return "token:" + s.Rate.String() + ",burst=", ""
	case sweep.WindowAll:
		return "window:", "/" + limit.FormatPeriod(s.Per) + ",charge=all"
	}
	return s.Kind.String() + ":", "/" + limit.FormatPeriod(s.Per)
}

func timesOf(t *Times, room room) *times {
	t = t.joined(room.steps, room)
	d := &times{
		Start: format.InSeconds(limit.Time(t.Start)), Step: format.InSeconds(t.Step), Length: format.Brief(t.Step),
		Requests: t.Requests,
	}
	for _, p := range t.Policies {
		d.Policies = append(d.Policies, refusals{name(p.Policy), p.Refused})
	}
	return d
}

// The classes of a page's charts: those of clients, and where it is known who is doubted, these as a class of their
// own beside the browsers that are not.

// A pageClass is one of them.
type pageClass struct {
	name string
	// what is its own; hidden is what the doubted have of the browsers'
	of func(numbers *sweep.Classes, hidden int64) int64
}

func (c *Curves) classes() (classes []pageClass) {
	for class := range request.ClassCount {
		own := func(numbers *sweep.Classes, _ int64) int64 { return numbers[class] }
		if class != request.Browser || c.Hidden == nil {
			classes = append(classes, pageClass{class.String(), own})
			continue
		}
		// 0: requests that are not known
		rest := func(numbers *sweep.Classes, hidden int64) int64 { return max(0, numbers[class]-hidden) }
		classes = append(classes, pageClass{class.String(), rest},
			pageClass{"doubted", func(_ *sweep.Classes, hidden int64) int64 { return hidden }})
	}
	return classes
}

// hidden returns the doubted, none where clients are not classified.
func (c *Curves) hidden() sweep.Doubted {
	if c.Hidden == nil {
		return sweep.Doubted{}
	}
	return *c.Hidden
}

// A curve may have a point for each of hundreds of thousands of limits, and a drawing has some thousand columns of
// pixels. Between two of its points a curve is flat, and it never rises; so within one column of pixels, what is
// drawn is a line from where the curve came in down to its last point there. That last point is all that is kept of a
// column:
//
//	───┐                   ───┐
//	   └┐      │ column │     │
//	    └─┐    │        │     │        the same pixels
//	      └──  │        │     └──
//
// So a thinned curve, drawn on as many columns as it was thinned for, is the same picture, whichever of its figures
// is drawn and however much it is stretched upwards. The points that are kept are exact.

// A thinning is what is left of a curve.
type thinning struct {
	points  []sweep.Point
	columns int // on which the drawing is the same; 0: all points are kept
}

// thinned keeps at most so many points, among them those at must, which are indices, as far as there is room for them.
func thinned(points []sweep.Point, most int, must []int) thinning {
	if len(points) <= most {
		return thinning{points: points}
	}
	slices.Sort(must)
	must = slices.Compact(must)
	must = must[:min(len(must), most/4)]
	places := placesOf(points)
	columns := most - len(must)
	kept := columnEnds(places, columns, columns)
	for more := columns + columns/4 + 1; more < 16*most; more += more / 4 {
		ends := columnEnds(places, more, most-len(must))
		if ends == nil {
			break
		}
		kept, columns = ends, more
	}
	kept = append(kept, must...)
	slices.Sort(kept)
	t := thinning{columns: columns}
	for _, i := range slices.Compact(kept) {
		t.points = append(t.points, points[i])
	}
	return t
}

// placesOf returns the places of points on a logarithmic axis: from 0 at the first to 1 at the last.
func placesOf(points []sweep.Point) []float64 {
	first := float64(points[0].Limit)
	length := math.Log(float64(points[len(points)-1].Limit) / first)
	places := make([]float64, len(points))
	for i := range points {
		places[i] = math.Log(float64(points[i].Limit)/first) / length
	}
	return places
}

// columnEnds are the last points in each column of a drawing, nil if there are more than so many.
func columnEnds(places []float64, columns, most int) (kept []int) {
	before := 0
	for i, place := range places {
		column := min(int(place*float64(columns)), columns-1)
		if column != before {
			kept = append(kept, i-1)
		}
		if before = column; len(kept) >= most {
			return nil
		}
	}
	return append(kept, len(places)-1)
}
