package share

import (
	"net/url"
	"slices"

	"shadow/limit"
	"shadow/replay"
	"shadow/traffic"
)

// The timelines of a batch go to Redis in rounds of some thousand requests, so that no script keeps others waiting for
// long, and an answer does not take longer than a batch may. A round has at most one call of each key: a timeline that is
// cut goes on in the next.

const mostAtOnce = 8192 // requests in a round

// A round is on its way through a batch.
type round struct {
	referee   *Referee
	policy    *refereed
	batch     *traffic.Batch
	timelines *traffic.Timelines
	memory    func(timeline int) *limit.State

	pieces []piece
	n      int  // requests in them
	failed bool // nothing more is asked
}

// A piece is a call for the next requests of a timeline.
type piece struct {
	Call
	timeline int
	first    bool    // whether it is the timeline's first
	rows     []int32 // where the requests are among the rows of the timelines
}

// judge asks for all timelines.
func (r *round) judge() {
	var start int32
	for i, end := range r.timelines.Ends {
		r.referee.answer.Decided[i] = true
		r.cut(i, start, end)
		start = end
	}
	r.flush()
}

// cut asks for a timeline, in several pieces if it is long, or if its times lie centuries apart.
func (r *round) cut(i int, start, end int32) {
	p := piece{timeline: i, first: true}
	var n numbered
	for row := start; row < end; row++ {
		if !r.concerns(row) {
			continue
		}
		t := r.timelines.At[row]
		n.next(r, row)
		if len(p.At) > 0 && (r.n+len(p.At) >= mostAtOnce || distance(t, p.At[0]) >= reach/2) {
			r.add(p)
			r.flush()
			p = piece{timeline: i}
		}
		p.take(row, t, n)
	}
	if len(p.At) > 0 {
		r.add(p)
	}
	if r.n >= mostAtOnce {
		r.flush()
	}
}

// concerns tells whether the policy is about a request.
func (r *round) concerns(row int32) bool {
	scope := r.policy.scope
	return scope == 0 || r.batch.Marks[r.timelines.Rows[row]]&scope != 0
}

// take adds a request. The place of one that came too late may be far from its time, but no further than makes sense.
func (p *piece) take(row int32, t limit.Time, n numbered) {
	if len(p.At) == 0 {
		p.Index = n.index
	}
	p.rows = append(p.rows, row)
	p.At = append(p.At, t)
	if distance(n.place, p.At[0]) >= reach/2 {
		n.place = t
	}
	p.Places = append(p.Places, n.place)
}

// add puts a piece into the round.
func (r *round) add(p piece) {
	p.Limit = r.policy.limit
	p.Key = r.name(r.timelines.Rows[p.rows[0]])
	p.Since = r.referee.numbers.kept
	if slices.Equal(p.Places, p.At) {
		p.Places = nil
	}
	synced := *r.policy.synced.At(r.timelines.Keys[p.timeline])
	if synced == 0 && p.first && r.referee.options.Temporary {
		r.policy.made = append(r.policy.made, p.Limit.key(p.Key))
	}
	if synced != r.policy.outage && p.first {
		p.Alone = r.policy.lost
		if r.referee.redis.clock == LogClock {
			p.Memory = r.memory(p.timeline)
		}
	}
	r.pieces = append(r.pieces, p)
	r.n += len(p.At)
}

// name is what the key of a row is called in Redis: the kind of key, and its parts behind slashes. A part has no slash of
// its own, apart from an action, which is the last one: so no two keys share a name, whatever a log says.
func (r *round) name(row int32) string {
	b, t, by := r.batch, r.referee.options.Tables, traffic.Key(r.policy.by)
	action := "/" + t.Actions.Name(int32(b.Action[row]))
	switch by {
	case traffic.ByAction:
		return by.String() + action
	case traffic.ByHost:
		return by.String() + "/" + url.PathEscape(t.Hosts.Name(b.Host[row]))
	case traffic.BySite:
		return by.String()
	}
	name := by.String() + r.sender(by, row)
	if by.ByAction() {
		name += action
	}
	return name
}

// sender is the part of a name that says who sent a request. A client whom no user hides has an empty part before its own.
func (r *round) sender(by traffic.Key, row int32) string {
	b, t := r.batch, r.referee.options.Tables
	client := t.Clients.Name(b.Client[row])
	if network, ok := traffic.NetworkOf(by, client); ok {
		client = network.String()
	}
	sender := "/" + url.PathEscape(client)
	switch {
	case by.ByUsers() && b.User != nil && b.User[row] != traffic.NoUser:
		return "/" + url.PathEscape(t.Users.Name(b.User[row]))
	case by.ByUsers():
		return "/" + sender
	case by.ByAgents():
		return sender + "/" + url.PathEscape(t.Agents.Name(int32(b.Agent[row])))
	}
	return sender
}

// flush sends what there is, and takes in the answers.
func (r *round) flush() {
	a := &r.referee.answer
	r.failed = r.failed || r.referee.behind() // also in the middle of a large batch
	if len(r.pieces) > 0 && !r.failed {
		calls := make([]*Call, len(r.pieces))
		for i := range r.pieces {
			calls[i] = &r.pieces[i].Call
		}
		r.failed = !r.referee.send(calls, r.n)
		for i := range r.pieces {
			r.pieces[i].answer(a, r)
		}
	} else {
		for i := range r.pieces {
			a.Decided[r.pieces[i].timeline] = false
		}
	}
	r.pieces, r.n = r.pieces[:0], 0
}

// answer takes in what was answered to a piece.
func (p *piece) answer(a *replay.Answer, r *round) {
	if p.Err != nil {
		a.Decided[p.timeline] = false
		return
	}
	if !a.Decided[p.timeline] {
		return
	}
	if p.Told != nil && p.first {
		a.States[p.timeline] = p.Told
	}
	if !p.Missed {
		*r.policy.synced.At(r.timelines.Keys[p.timeline]) = r.policy.outage
	}
	for _, i := range p.Refused {
		a.Refused = append(a.Refused, p.rows[i])
	}
	for _, late := range p.Delayed {
		a.Delayed = append(a.Delayed, limit.Delayed{Index: p.rows[late.Index], By: late.By})
	}
}
