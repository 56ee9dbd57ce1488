package html

import (
	"encoding/json"
	"html/template"
	"math"
	"slices"
	"sort"

	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
	"shadow/report/format"
)

// What the charts of a page draw, as an island of JSON: no script, and without "<", as encoding/json writes "<".
// Numbers that come one after the other are written as their differences: most are short.

// data is the island.
type data struct {
	Classes  []string    `json:"classes"`
	Judged   int64       `json:"judged"`   // requests
	Requests []int64     `json:"requests"` // of all, by class; 0 throughout: not known
	Clients  []int64     `json:"clients"`
	Curves   []curveData `json:"curves"`
	First    int         `json:"first"` // the curve to show first
	Times    *times      `json:"times"` // null: there are none
}

// A htmlCurve is a curve, thinned.
type curveData struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Before  string `json:"before"`  // what the limit is called, before and after N
	After   string `json:"after"`   //
	Changes int64  `json:"changes"` // at how many limits it changes
	Points  int    `json:"points"`  // of those, that have come here
	Columns int    `json:"columns"` // of pixels on which it is drawn without loss; 0: any number

	Limits  []int64   `json:"limits"`  // differences
	Counted []int     `json:"counted"` // indices of points whose Refused is known; null: all
	Refused [][]int64 `json:"refused"` // by class, then by point or by Counted: differences; null: none at all
	Hit     [][]int64 `json:"hit"`     // by class, then by point: differences; null: none at all
}

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

// dataOf is the island of a page, and the curves as it has them.
func (p *Page) dataOf(room room) (template.JS, error) {
	d := data{Classes: []string{}, Curves: []curveData{}, Requests: []int64{}, Clients: []int64{}}
	if c := p.Curves; c != nil {
		d.Judged = c.Judged
		for _, class := range c.classes() {
			d.Classes = append(d.Classes, class.name)
			d.Requests = append(d.Requests, class.of(&c.ByClass, c.hidden().Requests))
			d.Clients = append(d.Clients, class.of(&c.Clients, c.hidden().Clients))
		}
		for _, curve := range c.shown(room) {
			if curve == c.first() {
				d.First = len(d.Curves)
			}
			d.Curves = append(d.Curves, c.htmlCurve(curve, room.points))
		}
	}
	if p.Times != nil {
		d.Times = timesOf(p.Times, room)
	}
	text, err := json.Marshal(d)
	return template.JS(text), err //nolint:gosec // JSON, without "<"
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

func (c *Curves) htmlCurve(curve *sweep.Curve, most int) curveData {
	points := curve.Points
	for len(points) > 1 && points[len(points)-1].Limit > mostExact {
		points = points[:len(points)-1]
	}
	thin := thinned(points, most, c.worthKeeping(curve, points))
	h := curveData{
		Group: KindTitle(curve.Kind), Name: shapeTitle(&curve.Shape), Points: len(curve.Points),
		Columns: thin.columns,
	}
	h.Changes = c.changes(curve)
	h.Before, h.After = aroundLimit(&curve.Shape)
	h.Limits = make([]int64, len(thin.points))
	counted := make([]int, 0, len(thin.points))
	for i := range thin.points {
		h.Limits[i] = thin.points[i].Limit
		if thin.points[i].Counted {
			counted = append(counted, i)
		}
	}
	differences(h.Limits)
	if len(counted) < len(thin.points) {
		h.Counted = counted
	}
	for _, class := range c.classes() {
		h.Hit = append(h.Hit, columnOfPoints(thin.points, func(p *sweep.Point) (int64, bool) {
			return class.of(&p.Hit, p.Hidden.Clients), true
		}))
		h.Refused = append(h.Refused, columnOfPoints(thin.points, func(p *sweep.Point) (int64, bool) {
			return class.of(&p.Refused, p.Hidden.Requests), p.Counted
		}))
	}
	return h
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
