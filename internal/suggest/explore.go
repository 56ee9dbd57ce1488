package suggest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
)

// A page lets people move N, and shows what each N does to the whole log. What windows do is known of every N, from a
// sweep of the whole log. What buckets and a server's own limits refuse takes a replay, so these have fewer stops, and
// only the best of them are shown:
//
//	windows          sweep ──▶ what each N refuses of each client   ──▶ stops at round N, and where a promise is kept
//	buckets, server  sweep ──▶ where a promise is kept ──▶ replays  ──▶ stops at a few N around
//
// Of the clients that a shape hits those are listed that need the highest N: these are hit by any lower one.

// An Exploration is what many limits do to the whole log.
type Exploration struct {
	Percents []Percent       // of protected clients, ascending; none if there is no client to protect
	Shapes   []ExploredShape // those of the server first, then buckets, then windows
	Clients  []ListedClient
	Left     int // shapes for which there was no room
}

// An ExploredShape is limits that differ in their N only.
type ExploredShape struct {
	sweep.Shape
	Own    bool // whether the limits are a server's, in its own arithmetic
	Stops  []Stop
	Keeps  []int // by percent: the first stop that keeps it; −1: none does
	Listed []Listed

	family family
	curve  int
}

// A Stop is one limit, and what it does.
type Stop struct {
	N int64
	Figures
}

// A Listed client is one that some stops hit.
type Listed struct {
	Client  int     // index into Exploration.Clients
	Need    int64   // the smallest N that does not hit it, of a server the smallest stop; 0: the last hits it
	Refused []int64 // of its requests, by stop
}

// A ListedClient is a client with what is known of it.
type ListedClient struct {
	ID          int32
	Name, Agent string
	Group       who.Identity
	Requests    int64
}

const (
	// MostListed is the most clients to protect that are listed of a shape, and of others as many.
	MostListed = 20
	// MostReplayed is the most buckets that are shown, and limits of a server as many.
	MostReplayed = 8
)

// percents are shares of protected clients that people ask for.
var percents = []Percent{99_000_000, 99_500_000, 99_900_000, whole}

// Text is a limit of the shape as replay takes it, for clients that send so many times as much.
func (s *ExploredShape) Text(by Scale, n int64) (string, bool) { return s.family.scaled(by, n) }

// explore finds out what limits near those of the answer, and all windows, do to the whole log.
func (d *Advisor) explore(ctx context.Context, t *track) error {
	a := t.advice
	e := &Exploration{Percents: a.Percents()}
	placements, _, _ := Curves(t.whole, d.labels)
	curves := placements[0]
	x := explorer{Advisor: d, track: t, e: e, index: map[int32]int{}}
	own, left := a.foremost(a.Own)
	buckets, more := []*Suggestion(nil), 0
	if !slices.ContainsFunc(own, func(s *Suggestion) bool { return s.Kind == sweep.Token }) {
		var all []Suggestion
		for i := range a.Suggestions {
			if a.Suggestions[i].Kind == sweep.Token {
				all = append(all, a.Suggestions[i])
			}
		}
		buckets, more = a.foremost(all)
	}
	e.Left = left + more
	for _, s := range slices.Concat(own, buckets) {
		if c := &curves[s.curve]; len(c.Points) > 0 {
			e.Shapes = append(e.Shapes, ExploredShape{
				Shape: s.Shape, Own: s.family.own != nil, family: s.family, curve: s.curve, Stops: x.fewStops(s, c),
			})
		}
	}
	if err := x.replay(ctx, e.Shapes); err != nil {
		return err
	}
	for i := range curves {
		if c := &curves[i]; c.Kind != sweep.Token && len(c.Points) > 0 {
			e.Shapes = append(e.Shapes, x.window(c, i))
		}
	}
	for i := range e.Shapes {
		s := &e.Shapes[i]
		s.Keeps = mapped.Add(s.Keeps, e.Percents, func(p Percent) int { return a.firstKeeping(s.Stops, p) })
	}
	a.Explored = e
	return nil
}

// Percents are shares of protected clients that people ask for, ascending; none if there is no client to protect.
func (a *Advice) Percents() (shares []Percent) {
	if a.Whole.Groups.Of(a.Protected()) == 0 {
		return nil
	}
	shares = slices.Clone(percents)
	shares = mapped.Add(shares, a.Goals, func(g Goal) Percent { return g.Percent })
	slices.Sort(shares)
	return slices.Compact(shares)
}

// Keeping returns the least limit of a curve that spares each of the Percents of some clients; 0: none does.
func (a *Advice) Keeping(c *Curve, clients *who.Groups) (limits []int64) {
	for _, p := range a.Percents() {
		n, ok := Strictest([]*Curve{c}, func(f *Figures) bool { return a.SparesPercent(f, p, clients) })
		if !ok {
			n = 0
		}
		limits = append(limits, n)
	}
	return limits
}

// keeping are the least limits of a curve that keep each of the percents, as far as they can be kept.
func (x *explorer) keeping(c *Curve) []int64 {
	a := x.track.advice
	return slices.DeleteFunc(a.Keeping(c, &a.Whole.Groups), func(n int64) bool { return n == 0 })
}

// foremost are the best suggestions, the answer's among them, in their order, and how many others there are.
func (a *Advice) foremost(all []Suggestion) (best []*Suggestion, left int) {
	for i := range all {
		best = append(best, &all[i])
	}
	rank := func(s *Suggestion) int {
		switch {
		case a.Answer.Of != nil && a.Answer.Of.family == s.family:
			return 0
		case s.Why == Found:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(best, func(x, y *Suggestion) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), a.Compare(x, y))
	})
	shown := best[:min(len(best), MostReplayed)]
	slices.SortFunc(shown, func(x, y *Suggestion) int { return cmp.Compare(x.curve, y.curve) })
	return shown, len(best) - len(shown)
}

// SparesPercent reports whether a limit spares such a share of the protected ones of some clients.
func (a *Advice) SparesPercent(f *Figures, p Percent, clients *who.Groups) bool {
	return !slices.ContainsFunc(a.Goals, func(g Goal) bool {
		return f.Hit.Of(g.Who) > (Goal{g.Who, p, g.OneOf}).MayHit(clients.Of(g.Who))
	})
}

// firstKeeping is the first stop from which on all keep a promise; −1 if the last breaks it.
func (a *Advice) firstKeeping(stops []Stop, p Percent) int {
	i := len(stops)
	for i > 0 && a.SparesPercent(&stops[i-1].Figures, p, &a.Whole.Groups) {
		i--
	}
	if i == len(stops) {
		return -1
	}
	return i
}

// An explorer explores one track.
type explorer struct {
	*Advisor
	track *track
	e     *Exploration
	index map[int32]int // of clients among those of e
}

// round are round numbers up to the first that is not below last.
func round(last int64, tenths ...int64) (numbers []int64) {
	for size := int64(1); ; size *= 10 {
		for _, t := range tenths {
			if n := t * size; n%10 == 0 {
				if numbers = append(numbers, n/10); n/10 >= last {
					return numbers
				}
			}
		}
	}
}

// window is a shape whose curve says all.
func (x *explorer) window(c *Curve, i int) ExploredShape {
	last := c.Points[len(c.Points)-1].Limit
	numbers := append(round(last, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90), last)
	numbers = append(numbers, x.keeping(c)...)
	a := x.track.advice
	if a.Suggestions[i].Why == Found {
		numbers = append(numbers, a.Suggestions[i].Chosen.Limit)
	}
	if of := a.Answer.Of; of != nil && of.family == (family{shape: c.Shape}) {
		numbers = append(numbers, a.Answer.Chosen.Limit)
	}
	s := ExploredShape{Shape: c.Shape, family: family{shape: c.Shape}, curve: i}
	limits := sorted(numbers)
	s.Stops = mapped.Add(s.Stops, limits, func(n int64) Stop { return Stop{n, c.At(n)} })
	type needy struct {
		client int32
		need   int64
	}
	var sides [2][]needy // of clients to protect, and others
	x.track.whole.Needs([]int{i}, func(_ int, client int32, need int64) {
		if need < 2 {
			return
		}
		side := &sides[x.side(client)]
		at, _ := slices.BinarySearchFunc(*side, need, func(n needy, need int64) int {
			return cmp.Or(cmp.Compare(need, n.need), x.byName(n.client, client))
		})
		if at < MostListed {
			*side = slices.Insert(*side, at, needy{client, need})
			*side = (*side)[:min(len(*side), MostListed)]
		}
	})
	for _, n := range slices.Concat(sides[0], sides[1]) {
		s.Listed = append(s.Listed, Listed{x.listed(n.client), n.need, x.track.whole.RefusedTo(i, n.client, limits)})
	}
	return s
}

func sorted(numbers []int64) []int64 {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// side is 0 for clients to protect, 1 for others.
func (x *explorer) side(client int32) int {
	if x.track.advice.Protected().Has(x.labels.Of(client)) {
		return 0
	}
	return 1
}

// byName orders clients that are alike: their ids depend on which part of the log was read first.
func (x *explorer) byName(p, q int32) int {
	if p == q {
		return 0
	}
	return strings.Compare(x.Tables.Clients.Name(p), x.Tables.Clients.Name(q))
}

// listed is the index of a client among those that lists name.
func (x *explorer) listed(client int32) int {
	i, known := x.index[client]
	if !known {
		i = len(x.e.Clients)
		x.index[client] = i
		x.e.Clients = append(x.e.Clients, ListedClient{
			ID: client, Name: x.Tables.ShownClient(client), Group: x.labels.Of(client),
			Agent:    x.Tables.ShownAgent(x.Found.Clients.At(client).LastAgent),
			Requests: *x.track.advice.Whole.sent.At(client),
		})
	}
	return i
}

// fewStops are the limits of a shape that are replayed.
func (x *explorer) fewStops(s *Suggestion, c *Curve) (stops []Stop) {
	last := c.Points[len(c.Points)-1].Limit
	numbers := append(round(last, 10, 20, 50), last)
	for _, n := range x.keeping(c) {
		numbers = append(numbers, n)
		if s.family.own == nil {
			continue
		}
		// Its arithmetic differs by a little, and by more the longer a burst lasts: it rounds rates.
		numbers = append(numbers, max(1, n-2), max(1, n-1), n+1, n+2, n+3)
		for _, more := range []int64{5, 10, 20, 50, 100, 200} {
			numbers = append(numbers, n+n*more/1000)
		}
	}
	if s.Why == Found {
		numbers = append(numbers, s.Chosen.Limit)
	}
	if of := x.track.advice.Answer.Of; of != nil && of.family == s.family {
		numbers = append(numbers, x.track.advice.Answer.Chosen.Limit)
	}
	for _, n := range sorted(numbers) {
		if _, ok := s.family.text(n); ok && (s.Kind != sweep.Token || n <= s.Rate.MostBurst()) {
			stops = append(stops, Stop{N: n})
		}
	}
	return stops
}

// Shown returns where the exploration begins: at the answer, and without one at the limit that keeps the promise and
// refuses most of the target.
func (a *Advice) Shown() (shape, stop int) {
	most, own := int64(-1), slices.ContainsFunc(a.Explored.Shapes, func(s ExploredShape) bool { return s.Own })
	for i := range a.Explored.Shapes {
		s := &a.Explored.Shapes[i]
		if own && !s.Own {
			continue // the server does not have it
		}
		if of := a.Answer.Of; of != nil {
			if of.family == s.family {
				return i, max(0, slices.IndexFunc(s.Stops, func(p Stop) bool { return p.N == a.Answer.Chosen.Limit }))
			}
			continue
		}
		for k := range s.Stops {
			f := &s.Stops[k].Figures
			if refused := f.Refused.Of(a.Target); a.Keeps(f, &a.Whole.Groups) && refused > most {
				shape, stop, most = i, k, refused
			}
		}
	}
	return shape, stop
}

// Name returns what the limits of a shape have in common: 1m of windows, 10/1s of buckets.
func (s *ExploredShape) Name() string {
	if s.Own {
		return s.family.own.String()
	}
	return cmp.Or(s.PerText(), s.RateText())
}
