package replay

import (
	"strings"

	"shadow/limit"
	"shadow/policy"
	"shadow/traffic"
)

// A Harm is an Observer that tells what policies would do to people, and what they would leave to those who abuse: page
// views broken, the longest lock-out, and the most that one client still gets in an hour. Batches must have Traces.
//
// A page view is a GET for something else than a file of a page, answered with a status from 200 to 399. The files that
// the client asks for belong to its latest page view, for pageTime. A page view is broken when its own request or one of
// its files is refused.
type Harm struct {
	Policies []PolicyHarm
	Taken    *Taken // what is left of one action; nil: nobody asked

	tables   *traffic.Tables
	policies []policy.Policy
	group    traffic.Group
	views    Paged[pageView] // by client: the latest
	clients  []Paged[fortune]
	refused  []bool // by row; all false between policies
}

// PolicyHarm is that of one policy.
type PolicyHarm struct {
	Lockout Stretch // the longest in time, then in requests; of several the earliest
	Busiest Stretch // the hour in which a client had most requests admitted that the policy may refuse; likewise
}

// A Stretch is some requests of one client. Without requests it is none.
type Stretch struct {
	Client      int32
	Requests    int64
	First, Last limit.Time
}

// pageTime is how long after a page view files belong to it.
const pageTime = 10 * limit.Second

// A pageView is the latest page view of a client.
type pageView struct {
	at limit.Time
	n  int64 // how many there have been
}

// PageViews is how many page views a client had.
func (h *Harm) PageViews(client int32) int64 { return h.views.At(client).n }

// Broken is how many of them policy i breaks.
func (h *Harm) Broken(i int, client int32) int64 { return h.clients[i].At(client).pages }

// Clients is how many there are, those without a page view among them.
func (h *Harm) Clients() int { return h.views.Len() }

// A fortune is what one policy has done to one client so far.
type fortune struct {
	pages    int64   // page views broken
	broken   bool    // the latest one is
	lockout  Stretch // the present one
	longest  Stretch
	busiest  Stretch
	admitted limit.State // its ring: when, in the last hour
}

// NewHarm returns one that has seen nothing.
func NewHarm(t *traffic.Tables, policies []policy.Policy) *Harm {
	return &Harm{
		tables: t, policies: policies, Policies: make([]PolicyHarm, len(policies)), clients: make([]Paged[fortune], len(policies)),
	}
}

// Observe implements Observer.
func (h *Harm) Observe(b *traffic.Batch, verdicts []Verdicts) error {
	if b.Warm {
		return nil
	}
	n := h.tables.Clients.Len()
	h.group.Sort(b, b.Client, n)
	h.views.Grow(n)
	h.refused = grow(h.refused, b.Len())
	for i := range h.policies {
		h.clients[i].Grow(n)
		for _, row := range verdicts[i].Refused {
			h.refused[row] = true
		}
		h.each(b, func(client int32, view pageView, row int32, at limit.Time) {
			h.suffer(i, b, client, view, row, at)
		})
		for _, row := range verdicts[i].Refused {
			h.refused[row] = false
		}
	}
	h.turn(b)
	return nil
}

// each goes through the requests, with the page view that each belongs to or is.
func (h *Harm) each(b *traffic.Batch, do func(client int32, view pageView, row int32, at limit.Time)) {
	var start int32
	for i, end := range h.group.Ends {
		client := h.group.Keys[i]
		view := *h.views.At(client)
		for j := start; j < end; j++ {
			row, at := h.group.Rows[j], h.group.At[j]
			if isPage(b, row) {
				view = pageView{at, view.n + 1}
			}
			do(client, view, row, at)
		}
		start = end
	}
}

// turn remembers the page views.
func (h *Harm) turn(b *traffic.Batch) {
	h.each(b, func(client int32, view pageView, _ int32, _ limit.Time) { *h.views.At(client) = view })
}

func isPage(b *traffic.Batch, row int32) bool {
	return b.Traces[row].Traits.Has(traffic.Stepped|traffic.Asked) && b.Status[row] >= 200 && b.Status[row] < 400
}

// suffer takes in what a policy did to a request.
func (h *Harm) suffer(i int, b *traffic.Batch, client int32, view pageView, row int32, at limit.Time) {
	f := h.clients[i].At(client)
	page, refused := isPage(b, row), h.refused[row]
	if page {
		f.broken = false
	}
	file := b.Traces[row].Traits.Has(traffic.FetchedAsset) && view.n > 0 && at-view.at <= pageTime
	if refused && (page || file) && !f.broken {
		f.broken = true
		f.pages++
	}
	switch {
	case refused:
		f.lock(client, at)
	default:
		f.lockout.Requests = 0
		if h.concerns(i, b, row) {
			f.admit(client, at)
		}
	}
}

// concerns tells whether the policy may refuse a request.
func (h *Harm) concerns(i int, b *traffic.Batch, row int32) bool {
	for _, part := range h.policies[i].Parts {
		if part.Match == 0 || b.Marks[row]&bitOf(part.Match) != 0 {
			return true
		}
	}
	return false
}

// lock makes the present lock-out longer.
func (f *fortune) lock(client int32, at limit.Time) {
	s := &f.lockout
	if s.Requests == 0 {
		*s = Stretch{Client: client, First: at, Last: at}
	}
	s.Requests++
	s.Last = max(s.Last, at)
	if longer(*s, f.longest) {
		f.longest = *s
	}
}

// admit counts a request that was admitted. One that came too late counts as if it came with the latest.
func (f *fortune) admit(client int32, at limit.Time) {
	if r := f.admitted.Ring(); r.Len() > 0 {
		at = max(at, r.Nth(r.Len()-1))
	}
	r := f.admitted.Push(at, limit.Hour)
	r.Expire(at, limit.Hour)
	if n := int64(r.Len()); n > f.busiest.Requests {
		f.busiest = Stretch{Client: client, Requests: n, First: r.Oldest(), Last: at}
	}
}

// longer tells whether s lasts longer than t, or as long with more requests.
func longer(s, t Stretch) bool {
	if x, y := s.Last-s.First, t.Last-t.First; t.Requests > 0 && x != y {
		return x > y
	}
	return s.Requests > t.Requests
}

// Finish finds the worst of all clients. Of several that are alike it is the earliest, then the first by name.
func (h *Harm) Finish() {
	for i := range h.Policies {
		p := &h.Policies[i]
		for id := range int32(h.clients[i].Len()) {
			f := h.clients[i].At(id)
			if s := f.longest; s.Requests > 0 && (longer(s, p.Lockout) || !longer(p.Lockout, s) && h.before(s, p.Lockout)) {
				p.Lockout = s
			}
			if s := f.busiest; s.Requests > p.Busiest.Requests || s.Requests > 0 && s.Requests == p.Busiest.Requests && h.before(s, p.Busiest) {
				p.Busiest = s
			}
		}
	}
}

// before orders stretches of different clients.
func (h *Harm) before(s, t Stretch) bool {
	if s.First != t.First {
		return s.First < t.First
	}
	return strings.Compare(h.tables.Clients.Name(s.Client), h.tables.Clients.Name(t.Client)) < 0
}
