package replay

import (
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/limit"
)

// A Harm is an Observer that tells what policies would do to people, and what they would leave to those who abuse: page
// views broken, the longest lock-out, and the most that one client still gets in an hour. Batches must have Clues.
//
// What a page view is, and which requests belong to it, says evidence.Summary. One is broken when a request that belongs to
// it is refused: that for the page itself (of something that was asked for from a page, the latest before it showed to be
// one), or for a file of it.
type Harm struct {
	Policies    []PolicyHarm
	ActionUsage *ActionUsage // what is left of one action; nil: not asked for

	tables   *traffic.Tables
	policies []policy.Policy
	group    traffic.Group
	views    Paged[evidence.Summary] // by client
	viewings []evidence.Viewing      // by row of the batch at hand
	clients  []Paged[clientHarm]
	refused  rows
}

// PolicyHarm holds the lock-out and the busiest hour of one policy.
type PolicyHarm struct {
	Lockout Streak // the longest in time, then in requests; of several the earliest
	Busiest Streak // the hour in which a client had most requests admitted that the policy may refuse; likewise
}

// PageViews returns how many page views a client had.
func (h *Harm) PageViews(client int32) int64 { return int64(h.views.At(client).Views) }

// Broken returns how many of them policy i breaks.
func (h *Harm) Broken(i int, client int32) int64 { return h.clients[i].At(client).pages }

// Clients returns how many clients there are, those without a page view among them.
func (h *Harm) Clients() int { return h.views.Len() }

// A clientHarm counts what one policy has done to one client so far.
type clientHarm struct {
	pages   int64  // page views broken
	broken  bool   // the latest one is
	pending bool   // what may be a page was refused
	lockout Streak // the present one
	longest Streak
	hour    slidingMax
}

// NewHarm returns one that has seen nothing.
func NewHarm(t *traffic.Tables, policies []policy.Policy) *Harm {
	return &Harm{
		tables: t, policies: policies, Policies: make([]PolicyHarm, len(policies)), clients: make([]Paged[clientHarm], len(policies)),
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
	h.viewings = grow(h.viewings, b.Len())
	h.group.Each(func(client, row int32, at limit.Time) {
		h.viewings[row] = h.views.At(client).View(at, b.Status[row], b.Clues[row])
	})
	for i := range h.policies {
		h.clients[i].Grow(n)
		h.refused.mark(verdicts[i].Refused, func() {
			h.group.Each(func(client, row int32, at limit.Time) { h.suffer(i, b, client, row, at) })
		})
	}
	return nil
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

// look follows the page views.
func (f *clientHarm) look(v evidence.Viewing, refused bool) {
	if v.Has(evidence.LateView) {
		f.broken = false
	}
	if v.Has(evidence.LateView) || v.Has(evidence.LateSame) {
		f.spoil(f.pending)
	}
	if v.Has(evidence.NewView) {
		f.broken = false
	}
	if v&(evidence.NewView|evidence.SameView|evidence.FileOfView) != 0 {
		f.spoil(refused)
	}
	if v.Has(evidence.MayBeView) {
		f.pending = refused
	}
}

// spoil breaks the latest page view, if something of it was refused.
func (f *clientHarm) spoil(refused bool) {
	if refused && !f.broken {
		f.broken = true
		f.pages++
	}
}

// concerns reports whether the policy may refuse a request.
func (h *Harm) concerns(i int, b *traffic.Batch, row int32) bool {
	for _, part := range h.policies[i].Parts {
		if part.Match == 0 || b.Marks[row]&bitOf(part.Match) != 0 {
			return true
		}
	}
	return false
}

// lock makes the present lock-out longer.
func (f *clientHarm) lock(client int32, at limit.Time) {
	s := &f.lockout
	if s.Requests == 0 {
		*s = Streak{Client: client, First: at, Last: at}
	}
	s.Requests++
	s.Last = max(s.Last, at)
	if longer(*s, f.longest) {
		f.longest = *s
	}
}

// Finish finds the worst of all clients. Of several that are alike it is the earliest, then the first by name.
func (h *Harm) Finish() {
	for i := range h.Policies {
		p := &h.Policies[i]
		for id := range int32(h.clients[i].Len()) {
			f := h.clients[i].At(id)
			if s := f.longest; s.Requests > 0 && (longer(s, p.Lockout) || !longer(p.Lockout, s) && earlier(s, p.Lockout, h.tables.Clients)) {
				p.Lockout = s
			}
			p.Busiest.yield(f.hour.most, h.tables.Clients)
		}
	}
}
