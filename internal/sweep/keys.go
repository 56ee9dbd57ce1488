package sweep

import (
	"math"
	"runtime"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
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
	known    []request.Class          // by visitor, where curves are drawn of requests that were taken in before; else nil
	classes  []request.Class          // known of those that draw them
	places   []int32                  // by visitor: known, as grouped takes it
	who      []member                 // the population; nil: not asked for yet
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
	rings          ringRoom
	largest        []uint32 // see grouped; all 0
}

// judge has a task judge what comes once, with the room for one key at a time.
func (r *room) judge(t *task, h *handful, visitors int) {
	w := t.counters[0].(*rolling)
	needs := w.admitted.(*grouped)
	w.ringRoom, needs.largest = r.rings, r.largest
	t.judge(h, visitors)
	r.rings, w.ringRoom, r.largest = w.ringRoom, ringRoom{}, needs.settle()
}

// KeysOptions say which keys to hold against each other.
type KeysOptions struct {
	Tables   *traffic.Tables
	Keys     []request.Key
	Periods  []limit.Time // of windows
	Limits   int          // further limits, whose refusals Refuse counts
	Action   string       // only requests of this action; "" for all
	Lateness limit.Time   // a key whose time steps back by more resets

	// Side says as which class the visitors of a client are counted, once all have been seen. Nil: as that of their agents.
	Side func(client int32) request.Class
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
	k.sweeps = mapped.Add(k.sweeps, k.options.Keys, k.newKeySweep)
	k.order = k.sweeps
}

// Again returns Keys that draw curves by some keys of the same requests once more. k must have seen all: then it is known
// of which class visitors are, and curves are drawn by class.
func (k *Keys) Again(keys []request.Key, periods []limit.Time) *Keys {
	a := &Keys{options: k.options, visitors: k.visitors, action: k.action, now: math.MinInt64, rooms: k.rooms}
	if k.classes == nil {
		k.classes, k.places = make([]request.Class, k.visitors.Len()), make([]int32, k.visitors.Len())
		who := k.population()
		for _, m := range who {
			k.classes[m.id], k.places[m.id] = m.class, int32(m.class)
		}
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
		w := &rolling{span: span{length: uint64(per)}, admitted: needs}
		task := newTask(o.Lateness, per)
		task.Once = k.Once
		task.add(w)
		s.tasks = append(s.tasks, task)
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Window, Per: per}, needs: needs, groups: k.known != nil})
	}
	return s
}

// Take takes in the requests of one batch.
func (k *Keys) Take(b *traffic.Batch) {
	action := actionIDs(k.options.Tables, k.options.Action)
	if action.Moved(k.action) { // only as long as not all has been seen, so there are no groups yet
		k.sweeps, k.judged, k.refused = nil, intern.PagedSlice[int64]{}, make([]intern.PagedSlice[int64], len(k.refused))
		k.begin()
	}
	k.action = action
	if k.known == nil {
		k.visitors.Take(b)
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
	marks              []Mark
}

// A Mark says how far Keys had come with a batch that is not warm.
type Mark struct {
	At       limit.Time // the latest place in time
	Requests Classes    // taken in so far
}

// Marks returns a mark for each batch, in the order of time. k must be what Again returns.
func (k *Keys) Marks() []Mark { return k.part.marks }

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
	p.marks = append(p.marks, Mark{k.now, p.requests})
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
			if k.Once {
				r.judge(task, h, k.visitors.Len())
			} else {
				task.judge(h, k.visitors.Len())
			}
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
