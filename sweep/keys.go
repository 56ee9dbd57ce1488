package sweep

import (
	"math"
	"runtime"
	"slices"

	"shadow/limit"
	"shadow/request"
	"shadow/traffic"
	"shadow/traffic/evidence"
	"shadow/traffic/ingest"
	"shadow/traffic/intern"
	"shadow/traffic/match"
)

// Which key separates the target from the protected? Every key has its own curve over the same
// requests, and all of them count the same people, visitors (see evidence.Visitor), whatever shares a bucket:
//
//	         ┌─▶ timelines by client       ──▶ windows of 1m, 1h ──▶ histograms by visitor ─┐
//	batch ──▶├─▶ timelines by client+agent ──▶ …                                            ├─▶ curves by class
//	         └─▶ timelines by user         ──▶ …                                            ─┘

// Keys draws curves of rolling windows by several keys in one pass. It can also be told what any limits refuse.
type Keys struct {
	Once bool // what Again returns takes in one batch, so that no key has to be remembered

	options  KeysOptions
	visitors *evidence.Visitors
	known    []request.Class // by visitor, where curves are drawn of requests that were taken in before; else nil
	classes  []request.Class // known of those that draw them
	places   []int32         // by visitor: known, as grouped takes it
	who      []member        // the population, and how many claims of it are contradicted; nil: not asked for yet
	doubted  int64
	judged   intern.PagedSlice[int64] // by visitor: requests that the curves are about
	part     part
	valued   intern.PagedSlice[uint8]       // by client: bit i: some request of it has traffic.Batch.Values[i]
	groups   map[request.Key]*visitorGroups // as far as they are kept
	clients  clientCounts
	sweeps   []*keySweep
	order    []*keySweep                // those that take longest first, so that none of them is left for the end
	refused  []intern.PagedSlice[int64] // by limit of KeysOptions.Limits, by visitor
	now      limit.Time                 // the latest place in time that was seen
	action   match.ActionIDs            // that the curves are about, as far as they are known
	work     func(i int)
	rooms    chan *room    // one for each worker, for all passes
	batch    traffic.Batch // that is being taken in, with visitors in the place of clients
	whole    *traffic.Batch
}

// A room is what a key needs while it takes in a batch, and then another key can have.
type room struct {
	sorted, sifted traffic.Group
	rows, column   []int32 // what its base does not judge, and their ids
}

// KeysOptions say which keys to hold against each other.
type KeysOptions struct {
	Tables   *traffic.Tables
	Keys     []request.Key
	Periods  []limit.Time    // of windows
	Limits   int             // further limits, of which Refuse tells what they refuse
	Action   string          // only requests of this action; "" for all
	Lateness limit.Time      // a key whose time steps back by more resets
	Evidence *evidence.Rules // for batches with traces; nil: claims are believed

	// Side says as which class a visitor is counted, by that of its agent and whether its evidence contradicts that. Nil: a
	// contradicted browser is unknown, everybody else what it claims.
	Side func(claim request.Class, contradicted bool) request.Class

	// Attacks reports whether a client attacks the site, once all have been seen: its claims to be browsers count as
	// contradicted. Nil: nobody does.
	Attacks func(client int32) bool

	Stop func() error // asked before each batch: an error ends the run; nil: never asked
}

// A keySweep is one key.
type keySweep struct {
	timelines traffic.Timelines
	sieve     sieve
	tasks     []*task
	shapes    []shaped // one for each period
	bound     *Bound   // takes in the same requests; nil: none does
	alike              // what others take in for it
}

// NewKeys returns Keys that have seen nothing.
func NewKeys(o KeysOptions) *Keys {
	k := &Keys{options: o, visitors: new(evidence.Visitors), now: math.MinInt64, action: match.ActionIDs{-1, -1}}
	k.refused, k.rooms = make([]intern.PagedSlice[int64], o.Limits), make(chan *room, runtime.GOMAXPROCS(0))
	for range cap(k.rooms) {
		k.rooms <- new(room)
	}
	k.begin()
	return k
}

// begin makes what draws the curves.
func (k *Keys) begin() {
	k.work = k.judge
	for _, by := range k.options.Keys {
		k.sweeps = append(k.sweeps, k.newKeySweep(by))
	}
	k.order = k.sweeps
}

// Again returns Keys that draw curves by some keys of the same requests once more. k must have seen all: then it is known
// of which class visitors are, and curves are drawn by class.
func (k *Keys) Again(keys []request.Key, periods []limit.Time) *Keys {
	a := &Keys{options: k.options, visitors: k.visitors, action: k.action, now: math.MinInt64, rooms: k.rooms}
	if k.classes == nil {
		k.classes, k.places = make([]request.Class, k.visitors.Len()), make([]int32, k.visitors.Len())
		who, _ := k.population()
		for _, m := range who {
			k.classes[m.id], k.places[m.id] = m.class, int32(m.class)
		}
		k.visitors.Forget() // the population is known
	}
	a.known, a.places, a.Once = k.classes, k.places, k.Once
	a.options.Keys, a.options.Periods, a.options.Limits = keys, periods, 0
	a.begin()
	if k.groups == nil {
		k.groups = map[request.Key]*visitorGroups{}
	}
	a.valued, a.groups = k.valued, k.groups
	a.findAlike()
	return a
}

// Join has Bounds for the same keys look once at requests that several of these put together. Next must not have been
// called.
func (k *Keys) Join(bounds *Bounds) {
	for _, s := range k.sweeps[len(bounds.all):] {
		o := bounds.all[0].options
		o.By = s.timelines.By
		bounds.all = append(bounds.all, NewBound(o))
	}
	for i, s := range k.sweeps {
		if s.base != nil {
			bounds.all[slices.Index(k.sweeps, s.base)].shareWith(bounds.all[i], s.sameClients(k))
		}
	}
}

// Share has Bounds for the same keys, which were joined, take in what k takes in and counts: it is sorted once for both.
func (k *Keys) Share(bounds *Bounds) {
	for i, bound := range bounds.all {
		k.sweeps[i].bound = bound
	}
}

func (k *Keys) newKeySweep(by request.Key) *keySweep {
	s, o := &keySweep{timelines: traffic.Timelines{By: by}}, &k.options
	s.sieve.filters, s.sieve.once = o.Action != "", k.Once
	for _, per := range o.Periods {
		needs := newHistogram(request.BySite, nil) // visitors may share a key, and a visitor may have several
		if k.known != nil {
			needs = &grouped{places: k.places, known: true}
		}
		w := &rolling{length: uint64(per), admitted: needs}
		task := newTask(o.Lateness, per)
		task.Once = k.Once
		task.counters = append(task.counters, w)
		s.tasks = append(s.tasks, task)
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Window, Per: per}, needs: needs, groups: k.known != nil})
	}
	return s
}

// Run takes in all requests of a source.
func (k *Keys) Run(src Source) error { return takeAll(src, k.options.Stop, k.Take) }

// Take takes in the requests of one batch.
func (k *Keys) Take(b *traffic.Batch) {
	action := actionIDs(k.options.Tables, k.options.Action)
	if action.Moved(k.action) { // only as long as not all has been seen, so there are no groups yet
		k.sweeps, k.judged = nil, intern.PagedSlice[int64]{}
		k.begin()
	}
	k.action = action
	if k.known == nil {
		k.visitors.Take(b, k.options.Tables)
		k.takeValues(b)
	} else {
		k.visitors.Look(b)
	}
	if k.Once && k.whole != nil {
		panic("sweep: a second batch, though all requests were to come in one")
	}
	k.whole, k.batch, k.who = b, *b, nil
	k.batch.Client = b.Visitor
	for _, p := range b.Sequence() {
		k.now = max(k.now, p)
	}
	each(runtime.GOMAXPROCS(0), len(k.order), k.work)
	switch {
	case b.Warm:
	case k.known == nil:
		k.count(b)
	default:
		k.part.take(b, k)
	}
}

// A part is what was taken in to draw curves again, which need not be all.
type part struct {
	met                []bool // by visitor
	visitors, requests Classes
}

func (p *part) take(b *traffic.Batch, k *Keys) {
	p.met = append(p.met, make([]bool, max(0, len(k.known)-len(p.met)))...)
	action := actionIDs(k.options.Tables, k.options.Action)
	for row, visitor := range b.Visitor {
		if k.options.Action != "" && !action.Has(b.Action[row]) {
			continue
		}
		class := k.known[visitor]
		if p.requests[class]++; !p.met[visitor] {
			p.met[visitor] = true
			p.visitors[class]++
		}
	}
}

// Look has the visitors of a batch found, which comes again, before several take it in at once.
func (k *Keys) Look(b *traffic.Batch) { k.visitors.Look(b) }

// judge has a side take in the batch.
func (k *Keys) judge(i int) {
	s, r := k.order[i], <-k.rooms
	s.timelines.Group, s.sieve.rest.timelines.Group = r.sorted, r.sifted
	defer func() {
		r.sorted, r.sifted = s.timelines.Group, s.sieve.rest.timelines.Group
		k.rooms <- r
	}()
	s.take(k.whole, k.whole.Visitor, k.options.Tables, r)
	if s.bound != nil && !k.whole.Warm {
		s.bound.takeSorted(k.whole, &s.timelines)
	}
	if k.Once {
		s.timelines.Free()
	}
	if len(s.tasks) == 0 {
		return
	}
	s.sieve.take(&k.batch, &s.timelines, k.visitors.Len(), k.action)
	for _, h := range s.sieve.handfuls() {
		for _, task := range s.tasks {
			task.judge(h, k.visitors.Len())
		}
	}
	for _, task := range s.tasks {
		task.Forget(k.batch.Len(), k.now, task.release)
	}
}

// Refuse notes that one of the limits refuses some rows of the batch that was taken in last.
func (k *Keys) Refuse(limit int, rows []int32) {
	if k.whole.Warm {
		return
	}
	refused := &k.refused[limit]
	refused.Grow(k.visitors.Len())
	for _, row := range rows {
		*refused.At(k.whole.Visitor[row])++
	}
}

// count adds the batch to what is known apart from any key.
func (k *Keys) count(b *traffic.Batch) {
	k.clients.take(b, k.options.Tables)
	k.judged.Grow(k.visitors.Len())
	for row, visitor := range b.Visitor {
		if k.options.Action == "" || k.action.Has(b.Action[row]) {
			*k.judged.At(visitor)++
		}
	}
}

// Visitors get their class at the end, when all that they did is known. Only then can what keys refuse be summed up.

// A KeysResult is what keys make of a log. Names of clients and agents are in Tables.
type KeysResult struct {
	Stats    ingest.Stats
	Tables   *traffic.Tables
	Action   string                                 // what the curves are limited to; "" if to nothing
	Visitors Classes                                // that the curves are about
	Requests Classes                                // theirs, by the class of the visitor
	Doubted  int64                                  // visitors who claim to be browsers, which their evidence contradicts
	ByClient intern.PagedSlice[traffic.ClientTally] // the same requests by client id
	Claimed  intern.PagedSlice[traffic.ClientTally] // the same, by the class of the agent
	Sides    []KeyCurves
	Limits   []Point // what each of KeysOptions.Limits refuses, and which clients it hits
	ClientStats
}

// KeyCurves are those of one key, a curve for each period.
type KeyCurves struct {
	By     request.Key
	Curves []Curve
}

// Result is what has been found so far.
func (k *Keys) Result(stats ingest.Stats) *KeysResult {
	r := &KeysResult{Stats: stats, Tables: k.options.Tables, Action: k.options.Action}
	r.ClientStats = k.clients.result(k.visitors, k.options.Tables)
	r.ByClient.Grow(k.options.Tables.Clients.Len())
	r.Claimed.Grow(k.options.Tables.Clients.Len())
	who, doubted := k.population()
	r.Doubted = doubted
	for _, m := range who {
		visitor := k.visitors.At(m.id)
		claimed := k.options.Tables.Agents.Class(int32(visitor.Agent))
		r.Visitors[m.class]++
		r.Requests[m.class] += m.requests
		r.ByClient.At(visitor.Client).ByClass[m.class] += m.requests
		r.Claimed.At(visitor.Client).ByClass[claimed] += m.requests
	}
	r.Sides = k.sides(who)
	for i := range k.refused {
		r.Limits = append(r.Limits, point(&k.refused[i], who))
	}
	return r
}

// population are the visitors that the curves are about, and how many of their claims are contradicted.
func (k *Keys) population() (who []member, doubted int64) {
	if k.who != nil {
		return k.who, k.doubted
	}
	k.judged.Grow(k.visitors.Len())
	who = make([]member, 0, k.visitors.Len())
	for id, class := range k.visitors.Classes(k.options.Tables.Agents, k.options.Evidence) {
		requests := *k.judged.At(int32(id))
		if requests == 0 {
			continue
		}
		visitor := k.visitors.At(int32(id))
		claimed := k.options.Tables.Agents.Class(int32(visitor.Agent))
		if k.options.Attacks != nil && claimed == request.Browser && k.options.Attacks(visitor.Client) {
			class = request.Unknown
		}
		contradicted := claimed != class
		if contradicted {
			doubted++
		}
		if k.options.Side != nil {
			class = k.options.Side(claimed, contradicted)
		}
		who = append(who, member{id: int32(id), class: class, requests: requests})
	}
	k.who, k.doubted = who, doubted
	return who, doubted
}

// sides are the curves of all keys.
func (k *Keys) sides(who []member) []KeyCurves {
	all, workers := make([]KeyCurves, len(k.options.Keys)), runtime.GOMAXPROCS(0)
	if k.known == nil {
		workers = 1 // slots are noted in who
	}
	each(workers, len(all), func(i int) {
		s := k.sweeps[i]
		if all[i].By = s.timelines.By; k.known == nil {
			s.sieve.find(who)
		}
		for j := range s.shapes {
			all[i].Curves = append(all[i].Curves, s.shapes[j].curve(who))
		}
	})
	return all
}

// Draw adds to a result of k the curves that again, which is of k, has drawn.
func (k *Keys) Draw(r *KeysResult, again *Keys) {
	who, _ := k.population()
	for _, side := range again.sides(who) {
		i := slices.IndexFunc(r.Sides, func(known KeyCurves) bool { return known.By == side.By })
		if i < 0 {
			i, r.Sides = len(r.Sides), append(r.Sides, KeyCurves{By: side.By})
		}
		r.Sides[i].Curves = append(r.Sides[i].Curves, side.Curves...)
	}
}

// Part is a result of k about no more than the requests that again, which is of k, has taken in. The curves are added to
// those of an earlier part for the same requests, if there is one.
func (k *Keys) Part(whole, part *KeysResult, again *Keys) *KeysResult {
	if part == nil {
		part = &KeysResult{
			Stats: whole.Stats, Tables: whole.Tables, Action: whole.Action, ClientStats: whole.ClientStats,
			Visitors: again.part.visitors, Requests: again.part.requests,
		}
	}
	k.Draw(part, again)
	return part
}

// First are the first n curves of each key.
func (r *KeysResult) First(n int) (sides []KeyCurves) {
	for _, side := range r.Sides {
		sides = append(sides, KeyCurves{By: side.By, Curves: side.Curves[:n]})
	}
	return sides
}

// AtOnce is how many keys Again may draw in one pass, so that what is remembered of them stays within keyBytes.
func (k *Keys) AtOnce() int { return max(2, keyBytes/bytesOfKey/max(1, k.visitors.Len())) }

const (
	keyBytes   = 512 << 20
	bytesOfKey = 100 // that a key takes which comes once: a place among pairs, and its request
)

// point is what a limit refuses, by class.
func point(refused *intern.PagedSlice[int64], who []member) Point {
	p := Point{Counted: true}
	refused.Grow(1)
	for _, c := range who {
		if int(c.id) >= refused.Len() {
			break // the latest visitors were refused nothing
		}
		if n := *refused.At(c.id); n > 0 {
			p.Refused[c.class] += n
			p.Hit[c.class]++
		}
	}
	return p
}

// Loosest is the largest limit of a window that refuses so many requests of some classes, 0 if none does. A larger limit
// never refuses more, and the largest point refuses nothing.
func (c *Curve) Loosest(requests int64, classes []request.Class) int64 {
	loosest := int64(0)
	for i := 1; i < len(c.Points) && c.Points[i-1].Refused.Of(classes) >= requests; i++ {
		loosest = c.Points[i].Limit - 1
	}
	return loosest
}
