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
// What a page view is, and which requests belong to it, says traffic.Evidence. One is broken when a request that belongs to
// it is refused: that for the page itself (of something that was asked for from a page, the latest before it showed to be
// one), or for a file of it.
type Harm struct {
	Policies []PolicyHarm

	tables   *traffic.Tables
	policies []policy.Policy
	group    traffic.Group
	views    Paged[traffic.Evidence] // by client
	viewings []traffic.Viewing       // by row of the batch at hand
	clients  []Paged[fortune]
	refused  []bool // by row; all false between policies
	action   string // of which to tell what is left; "" for none
	taken    []Paged[taken]
}

// PolicyHarm is that of one policy.
type PolicyHarm struct {
	Lockout Stretch // the longest in time, then in requests; of several the earliest
	Busiest Stretch // the hour in which a client had most requests admitted that the policy may refuse; likewise
	Taken   Taken   // of the requests of one action, if asked for
}

// Taken is what is left of an action: the guesses of somebody who tries passwords.
type Taken struct {
	Requests, Admitted int64
	Hour, Day          Stretch // in which one client had most of them admitted; of several the earliest
}

// A Stretch is some requests of one client. Without requests it is none.
type Stretch struct {
	Client      int32
	Requests    int64
	First, Last limit.Time
}

// PageViews is how many page views a client had.
func (h *Harm) PageViews(client int32) int64 { return int64(h.views.At(client).Views) }

// Broken is how many of them policy i breaks.
func (h *Harm) Broken(i int, client int32) int64 { return h.clients[i].At(client).pages }

// Clients is how many there are, those without a page view among them.
func (h *Harm) Clients() int { return h.views.Len() }

// A fortune is what one policy has done to one client so far.
type fortune struct {
	pages   int64   // page views broken
	broken  bool    // the latest one is
	pending bool    // what may be a page was refused
	lockout Stretch // the present one
	longest Stretch
	hour    busy
}

// busy is the time of some length in which a client had most requests admitted.
type busy struct {
	most     Stretch
	admitted limit.State // its ring: when, in the last such time
}

// taken is what one client got of the action.
type taken struct{ hour, day busy }

// NewHarm returns one that has seen nothing.
func NewHarm(t *traffic.Tables, policies []policy.Policy) *Harm {
	return &Harm{
		tables: t, policies: policies, Policies: make([]PolicyHarm, len(policies)), clients: make([]Paged[fortune], len(policies)),
	}
}

// Watch has it tell what is left of an action, by its name.
func (h *Harm) Watch(action string) {
	h.action, h.taken = action, make([]Paged[taken], len(h.policies))
}

// Action is the action that is watched, as the log has it; "" for none.
func (h *Harm) Action() string {
	if id, known := h.tables.FindAction(h.action); known && h.taken != nil {
		return h.tables.Actions.Name(id)
	}
	return h.action
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
	h.view(b)
	for i := range h.policies {
		h.clients[i].Grow(n)
		for _, row := range verdicts[i].Refused {
			h.refused[row] = true
		}
		h.each(func(client, row int32, at limit.Time) { h.suffer(i, b, client, row, at) })
		h.take(i, b)
		for _, row := range verdicts[i].Refused {
			h.refused[row] = false
		}
	}
	return nil
}

// each goes through the requests, client by client.
func (h *Harm) each(do func(client, row int32, at limit.Time)) {
	var start int32
	for i, end := range h.group.Ends {
		for j := start; j < end; j++ {
			do(h.group.Keys[i], h.group.Rows[j], h.group.At[j])
		}
		start = end
	}
}

// view finds out what the requests are of page views.
func (h *Harm) view(b *traffic.Batch) {
	h.viewings = grow(h.viewings, b.Len())
	h.each(func(client, row int32, at limit.Time) {
		h.viewings[row] = h.views.At(client).View(at, b.Status[row], b.Traces[row])
	})
}

// suffer takes in what a policy did to a request.
func (h *Harm) suffer(i int, b *traffic.Batch, client, row int32, at limit.Time) {
	f, refused := h.clients[i].At(client), h.refused[row]
	f.look(h.viewings[row], refused)
	switch {
	case refused:
		f.lock(client, at)
	default:
		f.lockout.Requests = 0
		if h.concerns(i, b, row) {
			f.hour.admit(client, at, limit.Hour)
		}
	}
}

// take counts what a policy leaves of the action.
func (h *Harm) take(i int, b *traffic.Batch) {
	action, known := h.tables.FindAction(h.action)
	if h.taken == nil || !known {
		return
	}
	h.taken[i].Grow(h.tables.Clients.Len())
	left := &h.Policies[i].Taken
	h.each(func(client, row int32, at limit.Time) {
		if int32(b.Action[row]) != action {
			return
		}
		left.Requests++
		if h.refused[row] {
			return
		}
		left.Admitted++
		t := h.taken[i].At(client)
		t.hour.admit(client, at, limit.Hour)
		t.day.admit(client, at, limit.Day)
	})
}

// look follows the page views.
func (f *fortune) look(v traffic.Viewing, refused bool) {
	if v.Has(traffic.LateView) {
		f.broken = false
	}
	if v.Has(traffic.LateView) || v.Has(traffic.LateSame) {
		f.spoil(f.pending)
		f.pending = false
	}
	if v.Has(traffic.NewView) {
		f.broken = false
	}
	if v&(traffic.NewView|traffic.SameView|traffic.FileOfView) != 0 {
		f.spoil(refused)
	}
	if v.Has(traffic.MayBeView) {
		f.pending = refused
	}
}

// spoil breaks the latest page view, if something of it was refused.
func (f *fortune) spoil(refused bool) {
	if refused && !f.broken {
		f.broken = true
		f.pages++
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
func (f *busy) admit(client int32, at, length limit.Time) {
	if r := f.admitted.Ring(); r.Len() > 0 {
		at = max(at, r.Nth(r.Len()-1))
	}
	r := f.admitted.Push(at, length)
	r.Expire(at, length)
	if n := int64(r.Len()); n > f.most.Requests {
		f.most = Stretch{Client: client, Requests: n, First: r.Oldest(), Last: at}
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
			h.busier(&p.Busiest, f.hour.most)
		}
		if h.taken == nil {
			continue
		}
		for id := range int32(h.taken[i].Len()) {
			h.busier(&p.Taken.Hour, h.taken[i].At(id).hour.most)
			h.busier(&p.Taken.Day, h.taken[i].At(id).day.most)
		}
	}
}

// busier puts s in the place of a stretch with fewer requests, or with as many if it comes before.
func (h *Harm) busier(most *Stretch, s Stretch) {
	if s.Requests > most.Requests || s.Requests > 0 && s.Requests == most.Requests && h.before(s, *most) {
		*most = s
	}
}

// before orders stretches of different clients.
func (h *Harm) before(s, t Stretch) bool {
	if s.First != t.First {
		return s.First < t.First
	}
	return strings.Compare(h.tables.Clients.Name(s.Client), h.tables.Clients.Name(t.Client)) < 0
}
