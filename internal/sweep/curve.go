package sweep

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
)

// Classes are numbers by class of client.
type Classes [request.ClassCount]int64

// Sum returns the sum of all classes.
func (c Classes) Sum() (sum int64) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// Of is the sum of some classes.
func (c Classes) Of(classes []request.Class) (sum int64) {
	for _, class := range classes {
		sum += c[class]
	}
	return sum
}

// Doubted are figures of clients that claim to be browsers, and do what contradicts that. They are among those of browsers.
type Doubted struct{ Requests, Clients int64 }

// A Result is what a sweep found. Names of clients, actions and agents are in Tables.
type Result struct {
	Stats   ingest.Stats
	Tables  *traffic.Tables
	Tallies *traffic.Tallies // of all requests
	By      request.Key
	Action  string   // what the curves are limited to; "" if to nothing
	Judged  int64    // requests that the curves are about
	Clients Classes  // clients that they are from
	ByClass Classes  // requests by the class of their client
	Hidden  *Doubted // of these; nil: clients are not classified
	Curves  []Curve
	Band    *Band // nil: not wanted
}

// A Curve says of each limit of a shape what it would refuse.
type Curve struct {
	Shape
	Points []Point // ascending; between two of them, what the lower one says holds
}

// A Point is one limit of a curve.
type Point struct {
	Limit   int64   // of a window; the burst of a token bucket
	Counted bool    // whether Refused is known
	Refused Classes // requests, by the class of their client
	Hit     Classes // clients with a refused request
	Hidden  Doubted // of these: requests refused to, and clients hit, that are doubted browsers
}

// At returns the point of a limit, which must be at least 1. Of a burst not chosen, it has only the clients hit.
func (c *Curve) At(n int64) Point {
	i, found := slices.BinarySearchFunc(c.Points, n, func(p Point, n int64) int { return cmp.Compare(p.Limit, n) })
	if !found {
		i--
	}
	if i < 0 {
		return Point{Limit: n, Counted: true}
	}
	p := c.Points[i]
	if c.Kind == Token && !found && p.Hit != (Classes{}) {
		p.Counted, p.Refused, p.Hidden.Requests = false, Classes{}, 0
	}
	p.Limit = n
	return p
}

// Result returns what the sweep has found so far.
func (s *Sweep) Result(stats ingest.Stats) *Result {
	s.tallies.Grow(s.options.Tables)
	tallies := s.tallies // of its own, so that the rest of the sweep can go
	r := &Result{Stats: stats, Tables: s.options.Tables, Tallies: &tallies, By: s.options.By, Action: s.options.Action}
	who := s.population()
	s.sieve.find(who)
	if s.options.Doubted != nil {
		r.Hidden = &Doubted{}
	}
	for _, c := range who {
		r.Judged += c.requests
		r.Clients[c.class]++
		r.ByClass[c.class] += c.requests
		if c.doubted {
			r.Hidden.Clients++
			r.Hidden.Requests += c.requests
		}
	}
	r.Curves = s.curves(who)
	r.Band = s.bandOf(&stats, who)
	return r
}

func (s *Sweep) curves(who []member) []Curve {
	curves := make([]Curve, len(s.shapes))
	each(s.options.Workers, len(s.shapes), func(i int) { curves[i] = s.shapes[i].curve(who) })
	return curves
}

// A member is a client that the curves are about.
type member struct {
	requests int64
	id       int32
	slot     int32 // see sieve
	class    request.Class
	doubted  bool
}

func (s *Sweep) population() (who []member) {
	for id := range int32(s.tallies.Clients.Len()) {
		tally := s.tallies.Clients.At(id)
		requests := tally.Requests()
		if s.sieve.filters {
			requests = 0
			if int(id) < s.judged.Len() {
				requests = *s.judged.At(id)
			}
		}
		if requests > 0 {
			class := tally.Class()
			doubted := class == request.Browser && s.options.Doubted != nil && s.options.Doubted(id)
			who = append(who, member{id: id, class: class, requests: requests, doubted: doubted})
		}
	}
	return who
}

// A shaped holds the source of the figures of a curve: needs, or for token buckets rate.
type shaped struct {
	shape  Shape
	needs  histogram
	rate   *tokenRate
	bursts []int64
	sides  []*shaped // of a bound: the limits as they are, and both bounds
	high   bool      // which bound it is
	groups bool      // whether needs is byGroup, and the groups are the classes of all members
}

// A bound hits those clients that all three hit, or that one of the three does. Where clients share a key, a refusal
// more of one of them may be one less of another.

// need is the smallest limit that does not hit a client, of those that needOf tells by its slot.
func (s *shaped) need(client int32, needOf func(*shaped, int32) uint32) uint32 {
	if client == noSlot {
		return 1
	}
	need := needOf(s, client)
	for _, other := range s.sides {
		if s.high {
			need = max(need, needOf(other, client))
		} else {
			need = min(need, needOf(other, client))
		}
	}
	return need
}

// mostNeeded returns what the requests of a client need at most.
func mostNeeded(s *shaped, client int32) uint32 { return s.needs.most(client) }

// burstNeeded is the smallest burst that refuses a client nothing.
func burstNeeded(s *shaped, client int32) uint32 { return *s.rate.needs.At(client) }

// hits reports whether a chosen burst hits a client.
func (s *shaped) hits(client int32, burst int) bool {
	for _, other := range s.sides {
		if (other.rate.refused(client, burst) > 0) == s.high {
			return s.high
		}
	}
	if s.sides == nil {
		return s.rate.refused(client, burst) > 0
	}
	return !s.high
}

func (s *shaped) curve(who []member) Curve {
	switch {
	case len(who) == 0:
		return Curve{Shape: s.shape}
	case s.rate != nil:
		return Curve{Shape: s.shape, Points: s.tokenPoints(who)}
	case s.groups:
		return Curve{Shape: s.shape, Points: pointsByGroup(s.needs.(byGroup))}
	}
	return Curve{Shape: s.shape, Points: s.windowPoints(who)}
}

// windowPoints sums up the histograms of the clients.
func (s *shaped) windowPoints(who []member) []Point {
	most := uint32(1)
	for _, c := range who {
		if c.slot != noSlot {
			most = max(most, s.needs.most(c.slot), s.need(c.slot, mostNeeded))
		}
	}
	// steps[n] is what the limit n admits and n−1 does not.
	steps := make([]step, most+1)
	s.needs.eachOf(who, func(of *member, need uint32, requests int64) { steps[need].admit(of, requests) })
	for _, c := range who {
		steps[s.need(c.slot, mostNeeded)].protect(&c)
	}
	return pointsOf(steps)
}

// byGroup is a histogram that sums up by group.
type byGroup interface {
	// addTo adds to steps what the clients that some names need, nil for all: of those in one place all, or none.
	addTo(steps []step, some []bool) []step
}

// pointsByGroup are the points of a histogram whose groups are classes.
func pointsByGroup(needs byGroup) []Point {
	room := stepRooms.Get().(*[]step)
	defer stepRooms.Put(room)
	*room = needs.addTo(append((*room)[:0], make([]step, 2)...), nil)
	steps := *room
	for len(steps) > 2 && steps[len(steps)-1].empty() {
		steps = steps[:len(steps)-1]
	}
	return pointsOf(steps)
}

// stepRooms are slices of steps that are not needed any more.
var stepRooms = sync.Pool{New: func() any { return new([]step) }}

// pointsOf are the points of a curve that falls by some steps. Steps[1] is what the least limit admits.
func pointsOf(steps []step) (points []Point) {
	most, n := int64(len(steps)-1), 1
	for i := range steps[2:] {
		if !steps[2+i].empty() {
			n++
		}
	}
	points = make([]Point, 0, n)
	p := Point{Limit: most, Counted: true}
	for n := most; n >= 1; n-- {
		p.Limit = n
		// What a limit changes nothing about goes without a point.
		if n == 1 || !steps[n].empty() {
			points = append(points, p)
		}
		for class := range request.ClassCount {
			p.Refused[class] += steps[n].requests[class]
			p.Hit[class] += steps[n].clients[class]
		}
		p.Hidden.Requests += steps[n].hidden.Requests
		p.Hidden.Clients += steps[n].hidden.Clients
	}
	slices.Reverse(points)
	return points
}

// A step is by what a curve falls at one limit, by class.
type step struct {
	requests, clients Classes
	hidden            Doubted
}

func (s *step) empty() bool { return *s == step{} }

func (s *step) admit(c *member, requests int64) {
	s.requests[c.class] += requests
	if c.doubted {
		s.hidden.Requests += requests
	}
}

func (s *step) protect(c *member) {
	s.clients[c.class]++
	if c.doubted {
		s.hidden.Clients++
	}
}

// tokenPoints has a point for each burst at which the clients hit change, and one for each chosen burst.
func (s *shaped) tokenPoints(who []member) []Point {
	at := map[int64]*Point{1: {Limit: 1}}
	point := func(burst int64) *Point {
		if at[burst] == nil {
			at[burst] = &Point{Limit: burst}
		}
		return at[burst]
	}
	chosen := make([]*Point, len(s.bursts))
	for i, burst := range s.bursts {
		chosen[i] = point(burst)
		chosen[i].Counted = true
	}
	s.count(chosen, who)
	most := max(1, s.rate.need(s.rate.top))
	if most <= s.shape.Rate.MostBurst() {
		point(most).Counted = true
	}
	if s.rate.shared {
		for burst, p := range at { // which clients other bursts hit is not known
			if !p.Counted {
				delete(at, burst)
			}
		}
		return inOrder(at)
	}
	falls := map[int64]*step{}
	for _, c := range who {
		need := int64(s.need(c.slot, burstNeeded))
		fall := falls[need]
		if fall == nil {
			fall = new(step)
			if falls[need] = fall; need <= s.shape.Rate.MostBurst() {
				point(need)
			}
		}
		fall.protect(&c)
	}
	points := inOrder(at)
	spread(points, falls)
	return points
}

// count counts what the chosen bursts refuse. Which clients they hit is told by what each needs, unless they share keys.
func (s *shaped) count(chosen []*Point, who []member) {
	if len(chosen) == 0 {
		return
	}
	for _, c := range who {
		if c.slot == noSlot || !s.rate.shared && *s.rate.refusals.At(c.slot) == 0 {
			continue
		}
		for i, p := range chosen {
			n := s.rate.refused(c.slot, i)
			p.Refused[c.class] += n
			if c.doubted {
				p.Hidden.Requests += n
			}
			if s.rate.shared && s.hits(c.slot, i) {
				p.Hit[c.class]++
				if c.doubted {
					p.Hidden.Clients++
				}
			}
		}
	}
}

func inOrder(at map[int64]*Point) (points []Point) {
	for _, p := range at {
		points = append(points, *p)
	}
	slices.SortFunc(points, func(x, y Point) int { return cmp.Compare(x.Limit, y.Limit) })
	return points
}

// spread tells each point how many clients need more than its burst.
func spread(points []Point, falls map[int64]*step) {
	needs := slices.Sorted(maps.Keys(falls))
	var hit step
	for i := len(points) - 1; i >= 0; i-- {
		p := &points[i]
		for len(needs) > 0 && needs[len(needs)-1] > p.Limit {
			fall := falls[needs[len(needs)-1]]
			for class, n := range fall.clients {
				hit.clients[class] += n
			}
			hit.hidden.Clients += fall.hidden.Clients
			needs = needs[:len(needs)-1]
		}
		p.Hit, p.Hidden.Clients = hit.clients, hit.hidden.Clients
		if hit.empty() {
			p.Counted = true // a limit that hits no client refuses nothing
		}
	}
}
