package replay

import (
	"errors"
	"slices"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/ingest"
)

// Engines that have judged different keys have counted different requests, so what they have counted adds up. A Sum is what
// one of them has counted, and what others have left is added to it by names:
//
//	engine of shard 1 ──▶ Save ──▶ bytes ──┐
//	engine of shard 2 ──▶ Save ──▶ bytes ──┼──▶ Add ──▶ Result
//	engine of shard 3 ──▶ Save ──▶ bytes ──┘
//
// It keeps whatever a Result is computed of: refusals by the minute, each delay, the clients that each variant hits.

// A Sum is what one or several engines have counted.
type Sum struct {
	tables   *traffic.Tables
	tallies  *traffic.Tallies
	overTime *Stretches
	policies []*candidate

	// Lasts are where the last request of each client stands, by client id, where several engines may have judged requests of one.
	Lasts *Paged[Place]
}

// A Place is that of a request in the order of time. The zero Place is before all.
type Place struct {
	Known  bool
	Seq    limit.Time
	Last   bool // it stands behind others of its moment, see traffic.Batch.Compare
	Source uint32
	Line   int64
}

// Before reports whether p comes before q.
func (p Place) Before(q Place) bool {
	switch {
	case p.Known != q.Known:
		return q.Known
	case p.Seq != q.Seq:
		return p.Seq < q.Seq
	case p.Last != q.Last:
		return q.Last
	case p.Source != q.Source:
		return p.Source < q.Source
	}
	return p.Line < q.Line
}

// Sum is what the engine has counted so far.
func (e *Engine) Sum() *Sum {
	e.tallies.Grow(e.options.Tables)
	return &Sum{tables: e.options.Tables, tallies: &e.tallies, overTime: &e.overTime, policies: e.candidates}
}

// NewSum has counted nothing by so many policies. Names go to tables.
func NewSum(t *traffic.Tables, policies int) *Sum {
	s := &Sum{tables: t, tallies: new(traffic.Tallies), overTime: new(Stretches), Lasts: new(Paged[Place])}
	for range policies {
		s.policies = append(s.policies, new(candidate))
	}
	return s
}

// SumOf is a sum without policies.
func SumOf(t *traffic.Tables, tallies *traffic.Tallies) *Sum {
	return &Sum{tables: t, tallies: tallies, overTime: new(Stretches)}
}

// Requests is how many there are.
func (s *Sum) Requests() int64 { return s.tallies.Requests }

// Save writes the sum.
func (s *Sum) Save(to *traffic.Encoder) {
	t := s.tallies
	t.Grow(s.tables)
	to.Int(t.Requests)
	var clients, agents []int32
	for id := range int32(t.Clients.Len()) {
		if c := t.Clients.At(id); c.Requests() > 0 {
			clients, agents = append(clients, id), append(agents, c.LastAgent)
		}
	}
	to.Uint(uint64(len(clients)))
	to.Clients(clients)
	to.Agents(agents)
	for _, id := range clients {
		for _, n := range t.Clients.At(id).ByClass {
			to.Int(n)
		}
		var p Place
		if s.Lasts != nil && int(id) < s.Lasts.Len() {
			p = *s.Lasts.At(id)
		}
		to.Uint(flag(p.Known) | flag(p.Last)<<1)
		if p.Known {
			to.Int(int64(p.Seq))
			to.Uint(uint64(p.Source))
			to.Int(p.Line)
		}
	}
	saveCounts(to, t.Actions)
	to.Int(int64(s.overTime.Length()))
	to.Uint(uint64(len(s.overTime.counts)))
	for at, n := range s.overTime.All() {
		to.Int(int64(at))
		to.Int(n)
	}
	to.Uint(uint64(len(s.policies)))
	for _, c := range s.policies {
		to.Uint(uint64(len(c.variants)))
		for _, one := range append([]*candidate{c}, c.variants...) {
			one.saveSum(to)
		}
	}
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// saveCounts writes counts by action.
func saveCounts(to *traffic.Encoder, counts []int64) {
	var ids []int32
	for id, n := range counts {
		if n != 0 {
			ids = append(ids, int32(id))
		}
	}
	to.Uint(uint64(len(ids)))
	to.Actions(ids)
	for _, id := range ids {
		to.Int(counts[id])
	}
}

// saveSum writes what a candidate has counted.
func (c *candidate) saveSum(to *traffic.Encoder) {
	to.Uint(flag(c.waits()))
	for _, n := range []int64{c.total, c.bytes, c.upstream, c.degraded.Requests, c.degraded.Refused} {
		to.Int(n)
	}
	hits := slices.Collect(c.hits.All())
	ids := make([]int32, len(hits))
	for i, h := range hits {
		ids[i] = h.Client
	}
	to.Uint(uint64(len(ids)))
	to.Clients(ids)
	for _, h := range hits {
		to.Int(h.Refused)
		to.Int(int64(h.First))
		to.Int(int64(h.Last))
	}
	saveCounts(to, c.byAction)
	to.Int(int64(c.minutes.past.start))
	to.Int(c.minutes.past.n)
	to.Uint(uint64(len(c.minutes.hours)))
	for at, page := range c.minutes.hours {
		to.Int(int64(at))
		for _, n := range page {
			to.Uint(uint64(n))
		}
	}
	d := &c.delays
	to.Uint(uint64(d.coarse))
	to.Int(d.n)
	to.Int(int64(d.total))
	to.Uint(uint64(len(d.counts)))
	for by, n := range d.counts {
		to.Int(int64(by))
		to.Int(n)
	}
}

var errSum = errors.New("what a shard came to makes no sense")

// Add adds what Save has written.
func (s *Sum) Add(from *traffic.Decoder) {
	t := s.tallies
	t.Requests += from.Int()
	n := from.Count()
	clients, agents := from.Clients(n), from.Agents(n)
	if from.Err() != nil {
		return
	}
	t.Grow(s.tables)
	s.Lasts.Grow(s.tables.Clients.Len())
	for i, id := range clients {
		c := t.Clients.At(id)
		known := c.Requests() > 0
		for class := range request.ClassCount {
			c.ByClass[class] += from.Int()
		}
		place := Place{}
		bits := from.Uint()
		if place.Known, place.Last = bits&1 == 1, bits&2 == 2; place.Known {
			place.Seq, place.Source, place.Line = limit.Time(from.Int()), uint32(from.Uint()), from.Int()
		}
		if last := s.Lasts.At(id); !known || last.Before(place) {
			c.LastAgent, *last = agents[i], place
		}
	}
	addCounts(from, s.tables, &t.Actions)
	length := limit.Time(from.Int())
	for range from.Count() {
		at := limit.Time(from.Int())
		s.overTime.AddStretch(at, length, from.Int())
	}
	if from.Count() != len(s.policies) {
		from.Fail(errSum)
		return
	}
	for _, c := range s.policies {
		n := from.Count()
		for len(c.variants) < n && n < maxVariants {
			c.variants = append(c.variants, new(candidate))
		}
		if n != len(c.variants) {
			from.Fail(errSum)
			return
		}
		for _, one := range append([]*candidate{c}, c.variants...) {
			one.addSum(from, s.tables)
		}
	}
}

// maxVariants is more than a policy has.
const maxVariants = 1 << 10

// addCounts adds counts by action.
func addCounts(from *traffic.Decoder, t *traffic.Tables, counts *[]int64) {
	ids := from.Actions(from.Count())
	*counts = grow(*counts, t.Actions.Len())
	for _, id := range ids {
		(*counts)[id] += from.Int()
	}
}

// addSum adds what saveSum has written.
func (c *candidate) addSum(from *traffic.Decoder, t *traffic.Tables) {
	c.summed = from.Uint() == 1
	for _, to := range []*int64{&c.total, &c.bytes, &c.upstream, &c.degraded.Requests, &c.degraded.Refused} {
		*to = sum(*to, from.Int())
	}
	for _, id := range from.Clients(from.Count()) {
		n, first := from.Int(), limit.Time(from.Int())
		c.hits.Add(id, n, first, limit.Time(from.Int()))
	}
	addCounts(from, t, &c.byAction)
	c.addMinutes(from)
	coarse, n, total := uint(from.Uint()), from.Int(), from.Int()
	d := &c.delays
	if coarse > 62 {
		from.Fail(errSum)
		return
	}
	if d.counts == nil {
		d.counts = map[limit.Time]int64{}
	}
	for d.coarse < coarse {
		d.coarsen()
	}
	d.n += n
	d.total = limit.Time(sum(int64(d.total), total))
	for range from.Count() {
		by := limit.Time(from.Int())
		d.counts[d.round(by)] += from.Int()
		for len(d.counts) > maxDelays {
			d.coarsen()
		}
	}
}

// addMinutes adds refusals by the minute. Of hours that have been closed only the worst minute is known.
func (c *candidate) addMinutes(from *traffic.Decoder) {
	m := &c.minutes
	past := peak{limit.Time(from.Int()), from.Int()}
	if past.n > m.past.n || past.n == m.past.n && past.n > 0 && past.start < m.past.start {
		m.past = past
	}
	for range from.Count() {
		at := limit.Time(from.Int())
		if from.Err() != nil || at%limit.Hour != 0 {
			from.Fail(errSum)
			return
		}
		m.turn(at)
		for i := range m.page {
			m.page[i] += uint32(from.Uint())
		}
	}
}

// Result is what the sum comes to, for the policies that were judged.
func (s *Sum) Result(stats ingest.Stats, policies []policy.Policy) *Result {
	s.tallies.Grow(s.tables)
	r := &Result{
		Stats: stats, Tables: s.tables, Clients: &s.tallies.Clients, Actions: s.tallies.Actions, OverTime: s.overTime,
	}
	for i, c := range s.policies {
		if i < len(policies) {
			c.policy = policies[i]
		}
		r.Policies = append(r.Policies, c.tally(s.tallies.Requests, len(r.Actions)))
	}
	return r
}

// Tallies are those of all requests.
func (s *Sum) Tallies() *traffic.Tallies { return s.tallies }

// Tables have the names.
func (s *Sum) Tables() *traffic.Tables { return s.tables }
