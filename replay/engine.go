package replay

import (
	"cmp"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// An Engine judges requests. For each key that policies count by, it sorts a batch into timelines once, and hands each
// timeline to the limiter of each policy in one call:
//
//	batch ──▶ timelines by client ──▶ policy 1 ──▶ refused rows ──▶ tallies, events
//	      │                       └─▶ policy 2 ──▶ …
//	      └─▶ timelines by action ──▶ policy 3 ──▶ …
//
// Keys never interact, so it does not matter how the requests are cut into batches. Only where the limits of one policy
// count by different keys they do: see crossKey. Nor do policies: many of them are judged on all cores.
type Engine struct {
	options    Options
	keyGroups  []*keyGroup
	crossKeys  []*crossKey
	candidates []*candidate // in the order of the policies
	all        []*candidate // the same, and the variants of approximations
	now        limit.Time   // the latest place in time that has been judged
	bounded    bool         // whether there are bounds of the policies
	tallies    traffic.Tallies
	overTime   Stretches    // all requests
	events     *eventWriter // nil: they are not wanted
	refusals   []refusals   // of each core that judges; the first is that of the caller of Judge
	next       atomic.Int32 // of the candidates of the key at hand: with which no core has begun
	observed   []Verdicts   // on the batch at hand, by policy; nil: there is no Observer
	times      StageTimes
	clock      ingest.Stopwatch
}

// StageTimes is the CPU time that the stages of judging took.
type StageTimes struct {
	Group time.Duration // sorting into timelines
	Judge time.Duration // limiters, and tallies of what they refused
	Count time.Duration // tallies of all requests
}

// Run judges all requests of a source.
func (e *Engine) Run(src Source) error {
	for {
		b, err := src.Next()
		if err == io.EOF {
			return e.events.flush(1)
		}
		if err != nil {
			return err
		}
		if err := e.Judge(b); err != nil {
			return err
		}
	}
}

// Judge judges the requests of one batch.
func (e *Engine) Judge(b *traffic.Batch) error {
	e.clock.Start()
	defer e.clock.Stop()
	e.Expect(b.Stamps)
	if e.options.Remote != nil {
		e.options.Remote.Begin(b)
	}
	for _, c := range e.all {
		c.byAction = grow(c.byAction, e.options.Tables.Actions.Len())
	}
	e.events.begin(b.Len())
	for _, k := range e.keyGroups {
		var sorted *traffic.Timelines
		if e.options.Sorted != nil && !b.Warm {
			sorted = e.options.Sorted(k.By)
		}
		k.sort(b, e.options.Tables, sorted)
		e.clock.Lap(&e.times.Group)
		if k.By == request.ByClient && !b.Warm && !e.options.Bare {
			e.tallies.Count(b, &k.Group, e.options.Tables)
			e.overTime.AddAll(b.At)
			e.clock.Lap(&e.times.Count)
		}
		if err := e.judge(b, k); err != nil {
			return err
		}
		e.clock.Lap(&e.times.Judge)
	}
	for _, x := range e.crossKeys {
		e.refusals[0].take(b, x.candidate)
		if err := x.judge(b, &e.keyGroup(request.BySite).Group); err != nil {
			return err
		}
	}
	e.refusals[0].tally(b)
	if e.events != nil {
		if err := e.events.end(b, &e.keyGroup(request.ByClient).Timelines); err != nil {
			return err
		}
	}
	e.forget(b)
	e.clock.Lap(&e.times.Judge)
	return e.observe(b)
}

// judge has the candidates of a key judge a batch. Those that share masks do so side by side, timeline by timeline, on
// one core. The verdicts of others come in the order of the policies: where there are any, one core asks one policy after
// the other. Events are made of the masks of one core.
func (e *Engine) judge(b *traffic.Batch, k *keyGroup) error {
	e.next.Store(0)
	cores := min(len(e.refusals), (len(k.candidates)+maskBits-1)/maskBits)
	if e.options.Remote != nil {
		return e.work(&e.refusals[0], b, k, 1)
	} else if e.events != nil || cores <= 1 {
		return e.work(&e.refusals[0], b, k, maskBits)
	}
	errs, times := make([]error, cores), make([]time.Duration, cores)
	var others sync.WaitGroup
	for i := 1; i < cores; i++ {
		others.Go(func() {
			clock := ingest.Stopwatch{Now: e.options.Clock}
			clock.Start()
			defer clock.Stop()
			errs[i] = e.work(&e.refusals[i], b, k, maskBits)
			e.refusals[i].tally(b)
			clock.Lap(&times[i])
		})
	}
	errs[0] = e.work(&e.refusals[0], b, k, maskBits)
	others.Wait()
	for _, took := range times {
		e.times.Judge += took
	}
	return cmp.Or(errs...)
}

// work judges by the next candidates with which no core has begun, so many of them together, until there are no more.
func (e *Engine) work(r *refusals, b *traffic.Batch, k *keyGroup, together int) error {
	for {
		end := int(e.next.Add(int32(together)))
		if end-together >= len(k.candidates) {
			return nil
		}
		candidates := k.candidates[end-together : min(end, len(k.candidates))]
		r.take(b, candidates...)
		for _, c := range candidates {
			if e.options.Stop != nil {
				if err := e.options.Stop(); err != nil {
					e.next.Store(int32(len(k.candidates))) // for the others
					return err
				}
			}
			c.ask(b, k)
		}
		if err := k.judge(b, candidates); err != nil {
			return err
		}
	}
}

// forget frees what is known of idle keys, and closes the counts of hours that are over.
func (e *Engine) forget(b *traffic.Batch) {
	for _, k := range e.keyGroups {
		e.now = max(e.now, k.Latest)
	}
	for _, k := range e.keyGroups {
		k.forget(b, e.now)
	}
	for _, c := range e.all {
		if !e.options.Minutes {
			c.minutes.close(e.now)
		}
	}
}

// Result returns what the Engine has found so far. The Engine must not be used while the Result is.
func (e *Engine) Result(s ingest.Stats) *Result {
	e.tallies.Grow(e.options.Tables)
	r := &Result{
		Stats: s, Tables: e.options.Tables, Clients: &e.tallies.Clients, Actions: e.tallies.Actions, OverTime: &e.overTime,
	}
	for _, c := range e.candidates {
		r.Policies = append(r.Policies, c.tally(e.tallies.Requests, len(r.Actions)))
	}
	if e.options.Band {
		r.Band = &Band{Movable: s.Whole}
	}
	return r
}

// Times tells how long the stages have taken so far.
func (e *Engine) Times() StageTimes { return e.times }

// grow makes s at least n elements long.
func grow[T any](s []T, n int) []T {
	return append(s, make([]T, max(0, n-len(s)))...)
}
