package replay

import (
	"math"
	"runtime"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// Options says how to judge.
type Options struct {
	Tables   *traffic.Tables
	Policies []policy.Policy // if any has a scope, batches must have Marks
	Lateness limit.Time      // how far requests may be out of order: for so long a key is kept that is idle
	StepBack limit.Time      // a key whose time steps back by more resets; at least the Lateness

	// Sorted returns the timelines by a key of the batch at hand, unless it is warm, where they are sorted for others as
	// well; nil for a key by which they are not. It may be nil itself.
	Sorted func(by request.Key) *traffic.Timelines

	Sink          Sink // nil: events go nowhere
	EventPolicies int  // the first so many policies have their events sent to the sink

	Observer Observer // nil: verdicts are not observed
	Retries  bool     // whether to tell the Observer how long refused clients have to stay away
	Bare     bool     // policies only are judged: neither what they may mean as well, nor are clients and actions counted

	Minutes bool // whether every minute is kept in which requests are refused, for Engine.CarryVerdicts

	Band   bool   // whether to find the bounds of what policies do, where stamps are coarse
	Remote Remote // judges all policies, each of which must have a single limit; nil: the Engine does

	Stop  func() error         // asked before each policy judges a batch: an error ends the run; nil: never asked
	Clock func() time.Duration // see ingest.Stopwatch; nil: stages are not timed
}

// New returns an Engine that has seen nothing.
func New(o Options) *Engine {
	e := &Engine{
		options: o, now: math.MinInt64, clock: ingest.Stopwatch{Now: o.Clock}, refusals: make([]refusals, runtime.GOMAXPROCS(0)),
		events: newEventWriter(o.Sink, min(o.EventPolicies, len(o.Policies))),
	}
	e.refusals[0].events = e.events
	if !o.Bare {
		e.keyGroup(request.ByClient) // tallies of clients need their timelines, whatever policies count by
	}
	for i, p := range o.Policies {
		variants := []policy.Policy{p}
		if !o.Bare {
			variants = variantsOf(p)
		}
		c := e.add(variants[0], 0, false)
		c.policyID = i
		for j, other := range variants[1:] {
			c.variants = append(c.variants, e.add(other, j+1, false))
		}
		if o.Remote != nil {
			c.remote = &remote{Remote: o.Remote, policy: i, events: e.events}
		}
		e.candidates = append(e.candidates, c)
	}
	e.watch()
	return e
}

// add puts a policy on trial, or a variant of it. Keys are kept for as long as it remembers them, unless it is a bound: with a
// band keys are forgotten as they are without.
func (e *Engine) add(p policy.Policy, variant int, bound bool) *candidate {
	c := &candidate{policy: p, limits: limitsOf(p, e.options.Tables), policyID: -1}
	e.all = append(e.all, c)
	if p.Weighed() {
		c.oneByOne()
	}
	var keyGroups []*keyGroup
	for i := range c.limits {
		k := e.keyGroup(p.Parts[i].By)
		horizon := limit.Time(0)
		if !bound {
			horizon = c.limits[i].limiter.Horizon()
		}
		k.memories, k.titles = append(k.memories, &c.limits[i].states), append(k.titles, titleOf(p, i, variant))
		k.Remember(horizon)
		keyGroups = append(keyGroups, k)
	}
	if len(p.Keys()) == 1 {
		keyGroups[0].take(c)
		return c
	}
	e.keyGroup(request.BySite) // has the order of the batch
	for _, k := range keyGroups {
		k.crossed = true
	}
	e.crossKeys = append(e.crossKeys, newCrossKey(c, keyGroups))
	return c
}

// keyGroup returns the group for a key, made if there is none yet.
func (e *Engine) keyGroup(by request.Key) *keyGroup {
	for _, k := range e.keyGroups {
		if k.By == by {
			return k
		}
	}
	k := &keyGroup{
		Timelines: traffic.Timelines{By: by}, LastSeen: traffic.LastSeen{Lateness: e.options.Lateness, StepBack: e.options.StepBack},
		kept: e.options.Remote != nil,
	}
	e.keyGroups = append(e.keyGroups, k)
	return k
}
