package redis

import (
	"net/url"
	"slices"

	"shadow/limit"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic"
)

// The timelines of a batch go to Redis in rounds of some thousand requests, so that no script keeps others waiting for
// long, and an answer does not take longer than a batch may. What is remembered of a key counts as requests, since a time in
// a window takes Redis as long, some microseconds. A round has at most one call of each key: a timeline that is cut goes on
// in the next. When there is too much to remember for a batch, the rest of the keys are decided here, and come in a later one.

const (
	mostAtOnce  = 8192           // requests and remembered times in a round, unless a single memory has more
	mostOfOne   = 2 * mostAtOnce // remembered times of a key that go to Redis: they take it a tenth of a second
	mostInBatch = 8 * mostAtOnce // remembered times that go there with a batch
)

// A round is on its way through a batch.
type round struct {
	limiter   *SharedLimiter
	policy    *refereed
	batch     *traffic.Batch
	timelines *traffic.Timelines
	memory    func(timeline int) *limit.State

	pieces []piece
	n      int  // requests in them
	extra  int  // remembered times in them
	told   int  // remembered times in all rounds
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
		r.limiter.answer.Decided[i] = true
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
		if len(p.At) > 0 && (r.size()+len(p.At) >= mostAtOnce || distance(t, p.At[0]) >= reach/2) {
			r.add(p)
			if r.flush(); !r.limiter.answer.Decided[i] {
				return
			}
			p = piece{timeline: i}
		}
		p.take(row, t, n)
	}
	if len(p.At) > 0 {
		r.add(p)
	}
	if r.size() >= mostAtOnce {
		r.flush()
	}
}

// size is how much Redis has to do.
func (r *round) size() int { return r.n + r.extra }

// concerns reports whether the policy is about a request.
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

// add puts a piece into the round, or into the next if what is remembered of its key is too much for this one.
func (r *round) add(p piece) {
	p.Limit = r.policy.limit
	p.Key = r.name(r.timelines.Rows[p.rows[0]])
	p.Since = r.limiter.numbers.kept
	if slices.Equal(p.Places, p.At) {
		p.Places = nil
	}
	if p.first {
		r.remember(&p)
	}
	times := p.remembered()
	if r.told += times; times > 0 && r.told > mostInBatch {
		r.limiter.answer.Decided[p.timeline] = false
		return
	}
	if times > 0 && r.size()+len(p.At)+times > mostAtOnce {
		r.flush()
	}
	r.pieces = append(r.pieces, p)
	r.n += len(p.At)
	r.extra += times
}

// remember has the first piece of a timeline tell what Redis has missed of its key.
func (r *round) remember(p *piece) {
	key, heard := r.timelines.Keys[p.timeline], &r.policy.heard
	if r.limiter.options.Temporary && *heard.keys.At(key) <= 0 {
		r.policy.made = append(r.policy.made, p.Limit.key(p.Key))
	}
	if heard.all(key) {
		return
	}
	p.Alone = r.policy.lost
	if r.limiter.redis.clock == LogClock {
		p.Memory = r.memory(p.timeline)
	}
	if p.remembered() > mostOfOne {
		p.Memory = nil
	}
}

// remembered is how many times a piece brings along.
func (p *piece) remembered() int {
	if p.Memory == nil {
		return 0
	}
	return p.Memory.Ring().Len()
}

// name is what the key of a row is called in Redis: the kind of key, and its parts behind slashes. A part has no slash of
// its own, apart from an action, which is the last one: so no two keys share a name, whatever a log says.
func (r *round) name(row int32) string {
	b, t, by := r.batch, r.limiter.options.Tables, r.policy.by
	action := "/" + t.Actions.Name(int32(b.Action[row]))
	switch by {
	case request.ByAction:
		return by.String() + action
	case request.ByHost:
		return by.String() + "/" + url.PathEscape(t.Hosts.Name(b.Host[row]))
	case request.BySite:
		return by.String()
	}
	name := by.String() + r.sender(by, row)
	if by.ByActions() {
		name += action
	}
	return name
}

// sender is the part of a name that says who sent a request. A client whom no user hides has an empty part before its own.
func (r *round) sender(by request.Key, row int32) string {
	b, t := r.batch, r.limiter.options.Tables
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
	case by.ByPaths():
		return sender + "/" + url.PathEscape(t.Paths.Name(b.Path[row]))
	case by.ByAgents():
		return sender + "/" + url.PathEscape(t.Agents.Name(int32(b.Agent[row])))
	}
	return sender
}

// flush sends what there is, and takes in the answers.
func (r *round) flush() {
	a := &r.limiter.answer
	r.failed = r.failed || r.limiter.behind() // also in the middle of a large batch
	if len(r.pieces) > 0 && !r.failed {
		calls := make([]*Call, len(r.pieces))
		for i := range r.pieces {
			calls[i] = &r.pieces[i].Call
		}
		r.failed = !r.limiter.send(calls, r.n)
		for i := range r.pieces {
			r.pieces[i].answer(a, r)
		}
	} else {
		for i := range r.pieces {
			a.Decided[r.pieces[i].timeline] = false
		}
	}
	r.pieces, r.n, r.extra = r.pieces[:0], 0, 0
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
	key := r.timelines.Keys[p.timeline]
	switch {
	case p.Missed || p.Told != nil && !p.first:
		r.policy.heard.owe(key) // and will be told again
	case p.first:
		r.policy.heard.hear(key)
	}
	for _, i := range p.Refused {
		a.Refused = append(a.Refused, p.rows[i])
	}
	for _, late := range p.Delayed {
		a.Delayed = append(a.Delayed, limit.Delayed{Index: p.rows[late.Index], By: late.By})
	}
}
