package redis

import (
	"net/url"
	"slices"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/limit"
)

// The timelines of a batch go to Redis in rounds of some thousand requests. So no script keeps others waiting for
// long, and an answer does not take longer than a batch may. What is remembered of a key counts as requests, since a
// time in a window takes Redis as long, some microseconds. A round has at most one call of each key: a timeline that
// is cut goes on in the next. If a batch has too much to remember, its other keys are decided here, and their memory
// comes later.

const (
	mostAtOnce  = 8192           // requests and remembered times in a round, unless a single memory has more
	mostOfOne   = 2 * mostAtOnce // remembered times of a key that go to Redis: they take it a tenth of a second
	mostInBatch = 8 * mostAtOnce // remembered times that go there with a batch
)

// A round is on its way through a batch.
type round struct {
	*SharedLimiter
	policy    *sharedPolicy
	batch     *traffic.Batch
	timelines *traffic.Timelines
	memory    func(timeline int) *limit.State

	pieces     []piece
	size       int  // requests and remembered times in them
	requests   int  // requests in them
	remembered int  // remembered times in all rounds
	failed     bool // nothing more is asked
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
		r.answer.Decided[i] = true
		r.cut(i, start, end)
		start = end
	}
	r.flush()
}

// cut asks for a timeline, in several pieces if it is long, or if its times lie centuries apart.
func (r *round) cut(i int, start, end int32) {
	p := piece{timeline: i, first: true}
	var n number
	begun, scope := false, r.policy.scope
	for row := start; row < end; row++ {
		if scope != 0 && r.batch.Marks[r.timelines.Rows[row]]&scope == 0 {
			continue // the policy is not about this request
		}
		t := r.timelines.At[row]
		if next := r.numbers.first(r.batch.Sequence()[r.timelines.Rows[row]]); begun && next.place <= n.place {
			n.index++
		} else {
			n, begun = next, true
		}
		if len(p.At) > 0 && (r.size+len(p.At) >= mostAtOnce || distance(t, p.At[0]) >= reach/2) {
			r.add(p)
			if r.flush(); !r.answer.Decided[i] {
				return
			}
			p = piece{timeline: i}
		}
		if len(p.At) == 0 {
			p.Index = n.index
		}
		p.rows, p.At = append(p.rows, row), append(p.At, t)
		place := n.place
		if distance(place, p.At[0]) >= reach/2 { // a late request may have its place far away, but not centuries
			place = t
		}
		p.Places = append(p.Places, place)
	}
	if len(p.At) > 0 {
		r.add(p)
	}
	if r.size >= mostAtOnce {
		r.flush()
	}
}

// add puts a piece into the round, or into the next if what is remembered of its key is too much for this one.
func (r *round) add(p piece) {
	p.Limit, p.Key, p.Since = r.policy.limit, r.name(r.timelines.Rows[p.rows[0]]), r.numbers.kept
	if slices.Equal(p.Places, p.At) {
		p.Places = nil
	}
	times := 0
	if p.first {
		times = r.remember(&p)
	}
	if r.remembered += times; times > 0 && r.remembered > mostInBatch {
		r.answer.Decided[p.timeline] = false
		return
	}
	if times > 0 && r.size+len(p.At)+times > mostAtOnce {
		r.flush()
	}
	r.pieces = append(r.pieces, p)
	r.requests += len(p.At)
	r.size += len(p.At) + times
}

// remember has the first piece of a timeline bring what Redis has missed of its key, and returns how many times that
// are.
func (r *round) remember(p *piece) (times int) {
	key, acked := r.timelines.Keys[p.timeline], &r.policy.acked
	if r.options.Temporary && *acked.keys.At(key) <= 0 {
		r.policy.temporary = append(r.policy.temporary, p.Limit.key(p.Key))
	}
	if acked.has(key) {
		return 0
	}
	p.Alone = r.policy.lost
	if r.redis.clock == RedisClock {
		return 0
	}
	memory := r.memory(p.timeline)
	if times = memory.Ring().Len(); times > mostOfOne {
		return 0
	}
	p.Memory = memory
	return times
}

// name returns what the key of a row is called in Redis: the kind of key, and its parts behind slashes. A part has no
// slash of its own, apart from an action, which is the last one: so no two keys share a name, whatever a log says. The
// name of a client in the place of what a request lacks has an empty part before its own.
func (r *round) name(row int32) string {
	b, t := r.batch, r.options.Tables
	name, client := r.policy.by.String(), t.Clients.Name(b.Client[row])
	part := func(text string) { name += "/" + url.PathEscape(text) }
	value := func(ids []int32, names *intern.Dict) {
		if ids != nil && ids[row] != traffic.NoValue {
			part(names.Name(ids[row]))
		} else {
			name += "/"
			part(client)
		}
	}
	for _, p := range r.policy.parts {
		switch p.Kind {
		case request.PartSite:
		case request.PartClient:
			part(client)
		case request.PartNetwork, request.PartASN, request.PartCountry, request.PartOwner:
			if group, ok := t.GroupOf(p, client); ok {
				part(group)
			} else {
				part(client)
			}
		case request.PartHost:
			part(t.Hosts.Name(b.Host[row]))
		case request.PartPath:
			part(t.Paths.Name(b.Path[row]))
		case request.PartAgent:
			part(t.Agents.Name(int32(b.Agent[row])))
		case request.PartAction:
			name += "/" + t.Actions.Name(int32(b.Action[row]))
		case request.PartUser:
			value(b.User, t.Users)
		default:
			value(t.ValuesOf(b, p), t.Values)
		}
	}
	return name
}

// flush sends what there is, and takes in the answers.
func (r *round) flush() {
	r.failed = r.failed || r.behind() // also in the middle of a large batch
	calls := make([]*Call, len(r.pieces))
	for i := range r.pieces {
		calls[i] = &r.pieces[i].Call
	}
	asked := len(calls) > 0 && !r.failed
	r.failed = r.failed || asked && !r.send(calls, r.requests)
	for i := range r.pieces {
		if p := &r.pieces[i]; asked && p.Err == nil {
			r.take(p)
		} else {
			r.answer.Decided[p.timeline] = false
		}
	}
	r.pieces, r.size, r.requests = r.pieces[:0], 0, 0
}

// take takes in what was answered to a piece.
func (r *round) take(p *piece) {
	a := &r.answer
	if !a.Decided[p.timeline] {
		return
	}
	if p.first && p.Snapshot != nil {
		a.States[p.timeline] = p.Snapshot
	}
	if p.first || p.Resync || p.Snapshot != nil { // a later snapshot is not adopted, so it is asked for again
		r.policy.acked.set(r.timelines.Keys[p.timeline], p.first && !p.Resync)
	}
	for _, i := range p.Refused {
		a.Refused = append(a.Refused, p.rows[i])
	}
	for _, late := range p.Delayed {
		a.Delayed = append(a.Delayed, limit.Delayed{Index: p.rows[late.Index], By: late.By})
	}
}
