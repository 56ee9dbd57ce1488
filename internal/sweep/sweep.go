package sweep

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/intern"
	"shadow/internal/traffic/match"
	"shadow/limit"
)

// A Sweep takes in batches and keeps what the curves need. For each batch it sorts the requests into the timelines of their
// keys, once. Then it runs the tasks, which are independent of each other, on all cores at once:
//
//	batch ──▶ timelines ──▶ sieve ─┬─▶ windows of 1s   ──▶ what each request needs ──▶ histograms by client ─┐
//	                               ├─▶ windows of 10s  ──▶ …                                                 ├─▶ curves by class
//	                               └─▶ token buckets   ──▶ highest backlog by client ────────────────────────┘
type Sweep struct {
	options   Options
	timelines traffic.Timelines
	sieve     sieve
	clients   traffic.Timelines // by client, if timelines are not
	tallies   traffic.Tallies
	judged    intern.PagedSlice[int64] // requests by client; of the action, if there is one
	tasks     []*task
	seen      []*remembered // by the tasks; those of one horizon share one
	shapes    []shaped
	band      *bander         // nil: not wanted, or stamps are fine
	edge      edge            // of the limits that it looks at
	slack     limit.Time      // if that is a bound
	now       limit.Time      // the latest place in time that was seen
	requests  int64           // that the curves are about
	action    match.ActionIDs // that they are about, as far as they are known

	handful *handful // of a batch, that is being taken in

	// What is done to it by task, or by what the tasks have seen: made once.
	update, work, forget func(i int)
}

// Options say what to look at.
type Options struct {
	Tables   *traffic.Tables
	By       request.Key
	Kinds    []Kind
	Periods  []limit.Time     // of windows
	Rates    []Rate           // of token buckets, which begin full at the first request that counts: warm batches do not touch them
	Bursts   []int64          // for which to count what token buckets refuse
	BurstsOf map[Rate][]int64 // the same for some of the rates
	Action   string           // only requests of this action; "" for all
	Lateness limit.Time       // a key whose time steps back by more resets

	Band bool // whether to look at the bounds of limits as well, where stamps are coarse

	// Doubted reports whether a client that claims to be a browser is none, once all have been seen; nil: not known.
	Doubted func(client int32) bool

	// Group says to which of at most eight groups a client belongs, where that is known beforehand; nil: it is not. Then Of
	// must put clients of one group into one class.
	Group func(client int32) uint8

	Workers int // at once; 0 for as many as there are processors
}

// ratesAtOnce is the number of rates of token buckets that share a task.
const ratesAtOnce = 5

// New returns a Sweep that has seen nothing.
func New(o Options) *Sweep {
	s := &Sweep{sieve: sieve{filters: o.Action != "", renames: true}}
	if group := o.Group; group != nil { // by slot, as all that follows
		o.Group = func(slot int32) uint8 { return group(*s.sieve.names.At(slot)) }
	}
	s.init(o, exact, 0)
	return s
}

// init makes a sweep of limits, or of one of their bounds.
func (s *Sweep) init(o Options, edge edge, slack limit.Time) {
	s.options, s.now, s.edge, s.slack, s.action = o, math.MinInt64, edge, slack, match.ActionIDs{-1, -1}
	s.timelines.By, s.work = o.By, s.judge
	s.update = func(i int) { s.seen[i].Update(&s.handful.batch, &s.handful.timelines) }
	s.forget = func(i int) { // keys that are idle behind the batch: now is the end of it
		s.seen[i].Forget(s.handful.batch.Len(), s.now, s.seen[i].release)
	}
	if s.options.Workers == 0 {
		s.options.Workers = runtime.GOMAXPROCS(0)
	}
	if has(o.Kinds, Token) {
		for rates := range slices.Chunk(o.Rates, ratesAtOnce) {
			s.addRates(rates)
		}
	}
	for _, per := range o.Periods {
		s.addWindows(per)
	}
	if has(o.Kinds, UnderWay) {
		needs := newHistogram(o.By, o.Group)
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: UnderWay}, needs: needs})
		task := s.addTask(longest)
		task.add(&underWay{needs: needs})
	}
	slices.SortStableFunc(s.shapes, func(x, y shaped) int { return int(x.shape.Kind) - int(y.shape.Kind) })
}

// reset forgets the requests that the curves are about. What is known of clients and keys stays.
func (s *Sweep) reset() {
	banded := s.band
	s.tasks, s.seen, s.shapes, s.band, s.requests, s.judged = nil, nil, nil, nil, 0, intern.PagedSlice[int64]{}
	s.init(s.options, s.edge, s.slack)
	if banded != nil {
		s.bound(banded.high.slack)
	}
}

func has(kinds []Kind, kind Kind) bool { return slices.Contains(kinds, kind) }

// addWindows adds the windows of one length.
func (s *Sweep) addWindows(per limit.Time) {
	task := s.addTask(per) // a bound remembers for the slack longer, which the lateness covers
	if has(s.options.Kinds, Window) || has(s.options.Kinds, WindowAll) {
		w := &rolling{span: span{length: uint64(s.within(per))}}
		if has(s.options.Kinds, Window) {
			w.admitted = newHistogram(s.options.By, s.options.Group)
			s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Window, Per: per}, needs: w.admitted})
		}
		if has(s.options.Kinds, WindowAll) {
			w.all = newHistogram(s.options.By, s.options.Group)
			s.shapes = append(s.shapes, shaped{shape: Shape{Kind: WindowAll, Per: per}, needs: w.all})
		}
		task.add(w)
	}
	if has(s.options.Kinds, Fixed) {
		needs := newHistogram(s.options.By, s.options.Group)
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Fixed, Per: per}, needs: needs})
		if s.edge == high {
			task.add(&rolling{span: span{cell: per, slack: uint64(s.slack)}, admitted: needs})
		} else {
			task.add(&fixed{length: per, slack: s.slack, needs: needs})
		}
	}
}

// within is the time in which two requests see each other in a window of some length, or in its bound.
func (s *Sweep) within(per limit.Time) limit.Time {
	switch s.edge {
	case low:
		return max(0, per-s.slack)
	case high:
		return per + min(s.slack, limit.Never-per)
	}
	return per
}

// addRates adds token buckets of some rates. A burst has no end, so their keys are never forgotten.
func (s *Sweep) addRates(rates []Rate) {
	t := new(tokens)
	for _, rate := range rates {
		var bursts []int64
		for _, b := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.options.Bursts, s.options.BurstsOf[rate])))) {
			if b <= rate.MostBurst() {
				bursts = append(bursts, b)
			}
		}
		r := newTokenRate(rate, bursts, s.options.By.Shared())
		t.rates = append(t.rates, r)
		if s.edge == low { // what the buckets refill in the slack may have come before any request
			r.extra = uint64(s.slack) * r.inflow
			for i := range r.bursts {
				r.bursts[i] += r.extra
			}
		}
		s.shapes = append(s.shapes, shaped{shape: Shape{Kind: Token, Rate: rate}, rate: r, bursts: bursts})
	}
	task := s.addTask(limit.Never)
	if s.edge == high {
		task.add(newLagging(t.rates, uint64(s.slack)))
	} else {
		task.add(t)
	}
}

// addTask adds a task whose limits have this horizon.
func (s *Sweep) addTask(horizon limit.Time) *task {
	added := newRemembered(s.options.Lateness, horizon)
	if i := slices.IndexFunc(s.seen, func(r *remembered) bool { return r.Idle == added.Idle }); i >= 0 {
		added = s.seen[i]
	} else {
		s.seen = append(s.seen, added)
	}
	s.tasks = append(s.tasks, &task{remembered: added})
	return s.tasks[len(s.tasks)-1]
}

// Take takes in the requests of one batch.
func (s *Sweep) Take(b *traffic.Batch) {
	action := actionIDs(s.options.Tables, s.options.Action)
	if action.Moved(s.action) {
		s.reset()
	}
	s.action = action
	if s.options.Band && s.band == nil && b.Stamps.Slack > 0 {
		s.bound(b.Stamps.Slack)
	}
	s.timelines.Take(b, s.options.Tables)
	if !b.Warm {
		s.count(b)
	}
	for _, p := range b.Sequence() {
		s.now = max(s.now, p)
	}
	s.sieve.take(b, &s.timelines, s.options.Tables.Clients.Len(), action)
	for _, h := range s.sieve.handfuls() {
		s.handful = h
		each(s.options.Workers, len(s.seen), s.update)
		each(s.options.Workers, len(s.tasks), s.work)
	}
	each(s.options.Workers, len(s.seen), s.forget)
}

// Finish forgets what is remembered of keys, which may be most of the memory: all requests have been taken in. What has been
// found stays.
func (s *Sweep) Finish() {
	for _, seen := range s.seen {
		seen.LastSeen = traffic.LastSeen{}
		for _, c := range seen.by {
			c.finish()
		}
	}
	s.timelines, s.clients, s.handful = traffic.Timelines{By: s.options.By}, traffic.Timelines{}, nil
	s.sieve.finish()
}

// judge has a task take in requests.
func (s *Sweep) judge(task int) { s.tasks[task].judgeSeen(s.handful, s.sieve.names.Len()) }

// actionIDs are the wanted actions, none as long as no request has them.
func actionIDs(t *traffic.Tables, name string) match.ActionIDs {
	return match.FindActions(t.Actions, name)
}

// Judged returns how many requests the curves are about so far.
func (s *Sweep) Judged() int64 { return s.requests }

// count adds the batch to what is known of clients.
func (s *Sweep) count(b *traffic.Batch) {
	clients := &s.timelines
	if clients.By != request.ByClient {
		clients = &s.clients
		clients.Take(b, s.options.Tables)
	}
	s.tallies.Count(b, &clients.Group, s.options.Tables)
	if !s.sieve.filters {
		s.requests += int64(b.Len())
	} else {
		s.judged.Grow(s.options.Tables.Clients.Len())
		for row, client := range b.Client {
			if s.action.Has(b.Action[row]) {
				s.requests++
				*s.judged.At(client)++
			}
		}
	}
}

// each does n things, several at once if there are workers.
func each(workers, n int, do func(i int)) {
	if workers == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int32
	var running sync.WaitGroup
	for range min(workers, n) {
		running.Go(func() {
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				do(i)
			}
		})
	}
	running.Wait()
}
