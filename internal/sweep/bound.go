package sweep

import (
	"runtime"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// How much can any limit target that keeps a promise?
//
// A rolling window of N in T, or a bucket, admits of a key at most some E(x) requests in any x of time, more in longer
// ones; that is its envelope. It refuses a request only if, of the latest requests of the key, some n came in a time x
// with n > E(x). A combination refuses what one of its limits refuses.
//
// Let D(n) be the least time in which more clients than may be hit have each sent n requests. A limit that keeps the
// promise admits them, so n ≤ E(D(n)). So it never refuses a request for n that came in D(n) or more:
//
//	refused for n requests in x   ⇒   E(x) < n ≤ E(D(n))   ⇒   x < D(n)
//
// The bound counts the requests for which there is such an n. For each of them some limit keeps the promise and refuses
// it: the window,charge=all of n − 1 in D(n). Where none may be hit, all these windows together refuse all of them.
//
//	D(n)  of the protected    2: 0 s    3: 1 s    4: 5 s    5: never seen, so any limit may refuse the fifth
//	at    of a target         0 1 2 3              4 came in 3 s, less than 5: the last one may be refused
//
// Where clients share keys, only what a protected client itself sent of a key counts for D, so the bound is looser.
//
// Windows on a grid, estimates from counters, buckets that begin empty and servers that round have no such envelope.
// With a cooldown, limits hit no more clients than the bound, but may refuse more requests.
//
// Source: arrival curves, as in R. L. Cruz, A calculus for network delay, IEEE Transactions on Information Theory 37
// (1991), 114–131.

// A Bound takes in the same batches several times, and then has a BoundResult:
//
//	for more := true; more; more = bound.Next() {
//		… bound.Take(batch) …
//	}
//
// It counts the requests of each client, finds D, and then counts what comes in less time. The latter two remember 8
// bytes for each request of a protected client, and for as many of each target key as a protected client may send at
// all. Where that is more than mostRemembered, they take several passes, each for a part of the clients or keys.
type Bound struct {
	options  BoundOptions
	handful  handful                  // what is being taken in
	sent     intern.PagedSlice[int64] // by client: its requests that are judged
	passes   []boundPass              // the current one and those to come; nil: requests are being counted
	rows     []int32                  // of it that are looked at, where each key belongs to one client; reused
	task     *task                    // of the current pass
	peaks    *peaks
	beyond   *beyond
	exact    int64 // see exactUpTo
	remember int64 // see mostRemembered
	result   BoundResult
	base     *boundShare   // of the Bound that looks at the requests of some clients for this one; nil: none does
	shares   []*boundShare // those for which it does so itself
}

// A boundShare is what a Bound finds for one by another key: of the clients that both put together alike, see alike.
type boundShare struct {
	of     *Bound
	same   []bool // by client
	goals  []smallest
	result BoundResult // Most and Tried alone
}

// A boundPass has a counter remember a part of the clients or keys.
type boundPass struct {
	counter     partial
	part, parts int32
}

// A partial is a counter that several passes share. Begin and end enclose each of them.
type partial interface {
	counter
	begin(part, parts int32)
	end()

	// wants reports whether the requests of a client are looked at.
	wants(client int32) bool
}

// BoundOptions say which limits, and who is to be protected from them.
type BoundOptions struct {
	Tables   *traffic.Tables
	By       request.Key
	Action   string     // only requests of this action; "" for all
	Lateness limit.Time // a key whose time steps back by more resets

	Group  func(client int32) uint8 // below mostGroups
	Goals  []BoundGoal              // that must all be kept
	Target uint16                   // bit i: whether group i is to be refused
}

// A BoundGoal is how many of some clients may be hit.
type BoundGoal struct {
	Who    uint16 // bit i: whether group i is meant
	MayHit func(clients int64) int64
}

// A BoundResult says what limits can target at most.
type BoundResult struct {
	Of    Reach // the requests and clients of the target
	Most  Reach // no limit that keeps the promise refuses, or hits, more
	Tried Reach // each is refused by a window,charge=all that keeps the promise, unless requests are warm or late
	Steps []BoundStep

	Fullest int64 // the most clients of the target that share one key; 0: none do
}

// A Reach is some requests, and the clients that they are from.
type Reach struct{ Requests, Clients int64 }

// A BoundStep is what limits that keep the promise must admit: so many requests of a key within a time, both ends of
// which count.
type BoundStep struct {
	Requests int64
	Within   limit.Time // limit.Never: need not be admitted in any time
}

// Allowed returns how many requests limits that keep the promise must admit in a rolling window of a length above 0.
func (r *BoundResult) Allowed(length limit.Time) int64 {
	allowed := int64(1)
	for _, s := range r.Steps {
		if s.Within < length {
			allowed = s.Requests
		}
	}
	return allowed
}

// NewBound returns a Bound that has seen nothing.
func NewBound(o BoundOptions) *Bound {
	d := &Bound{options: o, exact: exactUpTo, remember: mostRemembered}
	d.handful.timelines.By = o.By
	return d
}

// Take takes in the requests of one batch.
func (d *Bound) Take(b *traffic.Batch) {
	action := actionIDs(d.options.Tables, d.options.Action)
	switch {
	case d.passes == nil:
		d.count(b, action)
		return
	case len(d.passes) == 0:
		return // all is known
	}
	if d.options.By.Shared() {
		d.handful.timelines.Take(b, d.options.Tables)
	} else {
		wanted := d.passes[0].counter.wants
		d.rows = d.rows[:0]
		for row, client := range b.Client {
			if wanted(client) {
				d.rows = append(d.rows, int32(row))
			}
		}
		d.handful.timelines.TakeSome(b, d.rows, d.options.Tables)
	}
	d.judge(b, action)
}

// takeSorted is Take of a batch whose timelines are known, and which counts.
func (d *Bound) takeSorted(b *traffic.Batch, l *traffic.Timelines) {
	if len(d.passes) > 0 {
		d.handful.timelines = *l
		d.judge(b, actionIDs(d.options.Tables, d.options.Action))
		d.handful.timelines = traffic.Timelines{By: d.options.By} // the room in l is not its own
	}
}

// shareWith has d look at the requests of some clients for another, which then must not take them in. Next must not have
// been called.
func (d *Bound) shareWith(other *Bound, same []bool) {
	other.base = &boundShare{of: other, same: same}
	d.shares = append(d.shares, other.base)
}

func (d *Bound) judge(b *traffic.Batch, action match.ActionIDs) {
	h := &d.handful
	h.batch = *b
	if d.options.Action != "" {
		h.filter(action)
	}
	d.task.judge(h, d.sent.Len())
}

// count counts the requests of each client.
func (d *Bound) count(b *traffic.Batch, action match.ActionIDs) {
	for row, client := range b.Client {
		if d.sent.Grow(int(client) + 1); !b.Warm && (d.options.Action == "" || action.Has(b.Action[row])) {
			*d.sent.At(client)++
		}
	}
}

// Next ends a pass over all batches, and reports whether there must be another.
func (d *Bound) Next() bool {
	if d.passes == nil {
		peaks, reached := d.plan(d.goals())
		d.addPasses(d.parts(peaks), d.parts(reached))
	} else {
		d.end()
	}
	return d.begin()
}

// end ends a pass.
func (d *Bound) end() {
	if len(d.passes) > 0 {
		d.passes[0].counter.end()
		d.passes = d.passes[1:]
	}
}

// begin begins the next pass, if there must be another.
func (d *Bound) begin() (more bool) {
	if len(d.passes) == 0 {
		d.handful, d.task = handful{}, nil
		return false
	}
	pass := d.passes[0]
	pass.counter.begin(pass.part, pass.parts)
	d.task = newTask(d.options.Lateness, limit.Never)
	d.task.add(pass.counter)
	return true
}

// Result returns what was found. Next must have returned false.
func (d *Bound) Result() *BoundResult {
	r := d.result
	if d.base != nil {
		r.Most.sum(d.base.result.Most)
		r.Tried.sum(d.base.result.Tried)
	}
	return &r
}

// mostRemembered is the most requests remembered at once; with several Bounds, up to four times as many.
const mostRemembered = 4 << 20

// Bounds are a Bound for each of some keys.
type Bounds struct {
	all   []*Bound // those of the keys first, then what looks at requests for them
	keys  int
	batch *traffic.Batch
	work  func(i int) // has Bound i take in the batch; made once
}

// NewBounds returns Bounds that have seen nothing. There must be a key.
func NewBounds(o BoundOptions, keys []request.Key) *Bounds {
	s := &Bounds{keys: len(keys)}
	for _, o.By = range keys {
		s.all = append(s.all, NewBound(o))
	}
	s.work = func(i int) { s.all[i].Take(s.batch) }
	return s
}

// Take takes in the requests of one batch. How many each client sent, one of the Bounds counts for all.
func (s *Bounds) Take(b *traffic.Batch) {
	if s.all[0].passes == nil {
		s.all[0].Take(b)
		return
	}
	s.batch = b
	each(runtime.GOMAXPROCS(0), len(s.all), s.work)
}

// Next ends a pass over all batches, and reports whether there must be another.
func (s *Bounds) Next() (more bool) {
	if s.all[0].passes == nil {
		s.plan()
	} else {
		each(runtime.GOMAXPROCS(0), len(s.all), func(i int) { s.all[i].end() })
	}
	for _, shared := range []bool{true, false} { // who looks at requests for another goes by what that has found
		for _, d := range s.all {
			if (d.base != nil) == shared {
				more = d.begin() || more
			}
		}
	}
	return more
}

// plan plans as many passes as all of them take.
func (s *Bounds) plan() {
	var peaks, reached, allPeaks, allReached int64
	goals, most := s.all[0].goals()
	for _, d := range s.all {
		d.sent = s.all[0].sent
		p, r := d.plan(slices.Clone(goals), most)
		peaks, reached, allPeaks, allReached = max(peaks, p), max(reached, r), allPeaks+p, allReached+r
	}
	first := s.all[0]
	for _, d := range s.all {
		d.addPasses(first.parts(max(peaks, allPeaks/4)), first.parts(max(reached, allReached/4)))
	}
}

// Sent spares the first pass: it is known how many requests each of so many clients sent. Next must be called then.
func (s *Bounds) Sent(clients int, requests func(client int32) int64) {
	sent := &s.all[0].sent
	sent.Grow(clients)
	for client := range int32(clients) {
		*sent.At(client) = requests(client)
	}
}

// Results returns what was found, key by key. Next must have returned false.
func (s *Bounds) Results() []*BoundResult { return mapped.Of(s.all[:s.keys], (*Bound).Result) }

// goals returns how many clients may be hit, now that it is known how many there are, and the most requests that any
// other sent.
func (d *Bound) goals() (goals []smallest, most int64) {
	most, goals = 1, make([]smallest, len(d.options.Goals))
	for i, goal := range d.options.Goals {
		sent := d.sentBy(goal.Who)
		slices.Sort(sent)
		goals[i] = smallest{who: goal.Who, keep: int(goal.MayHit(int64(len(sent)))) + 1}
		if k := len(sent) - goals[i].keep; k >= 0 {
			most = max(most, sent[k])
		}
	}
	return goals, most
}

// plan makes the counters, and returns how many requests they remember.
func (d *Bound) plan(goals []smallest, most int64) (peaks, reached int64) {
	d.peaks = newPeaks(d, goals, most)
	d.beyond = &beyond{bound: d, peaks: d.peaks}
	for client := range int32(d.sent.Len()) {
		n := *d.sent.At(client)
		if n == 0 {
			continue
		}
		own := d.base == nil || !d.base.same[client]
		if own && d.in(d.peaks.who, client) {
			peaks += n
		}
		if d.in(d.options.Target, client) {
			d.result.Of.Clients++
			d.result.Of.Requests += n
			if own {
				reached += min(n, most)
			}
		}
	}
	return peaks, reached
}

// sentBy are the requests of each client of some groups, 0 left out.
func (d *Bound) sentBy(who uint16) (sent []int64) {
	for client := range int32(d.sent.Len()) {
		if n := *d.sent.At(client); n > 0 && d.in(who, client) {
			sent = append(sent, n)
		}
	}
	return sent
}

// in reports whether a client is of one of some groups.
func (d *Bound) in(who uint16, client int32) bool { return who>>d.options.Group(client)&1 == 1 }

// parts returns how many passes a counter takes that has to remember so many requests.
func (d *Bound) parts(remembered int64) int32 { return int32(1 + remembered/d.remember) }

// addPasses adds so many passes of each counter.
func (d *Bound) addPasses(peaks, reached int32) {
	for part := range peaks {
		d.passes = append(d.passes, boundPass{d.peaks, part, peaks})
	}
	for part := range reached {
		d.passes = append(d.passes, boundPass{d.beyond, part, reached})
	}
}
