// Package redis keeps the state of limits in Redis, where many hosts count together. Batches of timelines come in;
// verdicts on what all hosts have seen go out. While Redis does not answer, each host is told to decide for itself.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// A SharedLimiter is a replay.Remote: it has Redis judge the timelines of an Engine. It never fails and never waits
// for longer than a batch may take. Where Redis does not answer it decides nothing, so that the Engine does, and says
// that verdicts are degraded. They are until all is answered again, and the log is one horizon of the policy past
// that moment.
type SharedLimiter struct {
	options  SharedLimiterOptions
	redis    *Conn
	health   *health
	policies []sharedPolicy
	numbers  numbers
	met      bool // whether all servers have been met
	restarts int  // of servers, for which all policies were degraded
	answer   replay.Answer
}

// SharedLimiterOptions say what to judge.
type SharedLimiterOptions struct {
	Redis    *Conn // to be closed by the caller, after the SharedLimiter
	Tables   *traffic.Tables
	Policies []policy.Policy
	Lateness limit.Time    // a key whose time steps back by more resets: with several hosts, at least the MaxLag
	MaxLag   time.Duration // by how much hosts may lag behind the log that is furthest ahead

	// From says where to go on; the zero value begins. The host must have the same name then.
	From Saved

	Behind func() bool     // called before each batch: whether to spare the time, and decide locally; nil: never
	Watch  func(RoundTrip) // called after each round trip; may be nil

	// Temporary gives the keys names that no other run has, and removes them in the end.
	Temporary bool
}

// A RoundTrip is what became of one, for metrics.
type RoundTrip struct {
	Requests int
	Took     time.Duration
	Err      error // nil: all was answered

	Restarted bool // no trip, but news: a server was restarted or is another one, and may know nothing
}

// A sharedPolicy is a policy that the SharedLimiter judges.
type sharedPolicy struct {
	name    string
	limit   *Limit
	by      request.Key
	parts   []request.Part // of by
	scope   uint64         // the bit of the requests that it is about; 0: all
	horizon limit.Time

	degraded  bool       // not all was answered, or a server is not the one that it was
	lost      bool       // it was, since it was last saved
	until     limit.Time // when the log is later than this, verdicts are as they should be again
	acked     acked
	temporary []string // names of keys that are to be removed
}

// NewSharedLimiter makes one, or says which policy cannot be shared and why.
func NewSharedLimiter(o SharedLimiterOptions) (*SharedLimiter, error) {
	r := &SharedLimiter{options: o, redis: o.Redis, health: newHealth(o.Redis.Ping)}
	for _, p := range o.Policies {
		one, err := r.share(p)
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", p.Name, err)
		}
		r.policies = append(r.policies, one)
	}
	r.restore(o.From)
	return r, nil
}

// Close ends what goes on in the background, and removes keys that are temporary.
func (r *SharedLimiter) Close() error {
	r.health.close()
	for i := range r.policies {
		if err := r.redis.remove(r.policies[i].temporary); err != nil {
			return err
		}
	}
	return nil
}

// share makes a policy a shared one.
func (r *SharedLimiter) share(p policy.Policy) (sharedPolicy, error) {
	if len(p.Parts) != 1 {
		return sharedPolicy{}, fmt.Errorf("cannot be shared: only policies of a single limit can, and it has %d; "+
			"make each a policy of its own", len(p.Parts))
	}
	part := &p.Parts[0]
	if part.Match != part.Count {
		return sharedPolicy{}, errors.New("cannot be shared: it counts other requests than it refuses; let count be as match")
	}
	if p.ByTime() {
		return sharedPolicy{}, errors.New("cannot be shared: a log tells of a request when it is over, so that hosts " +
			"cannot count together what is under way")
	}
	if part.Costs != nil {
		return sharedPolicy{}, errors.New("cannot be shared: its requests differ in cost, and in Redis each costs one")
	}
	var longest limit.Time // that any policy with this key remembers: an Engine forgets keys that are idle for longer
	for _, p := range r.options.Policies {
		for _, other := range p.Parts {
			if other.By == part.By {
				longest = max(longest, other.Limiter.Horizon())
			}
		}
	}
	terms := Terms{Lateness: r.options.Lateness, Idle: limit.Later(longest, r.options.Lateness), MaxLag: r.options.MaxLag}
	l, err := NewLimit(p.Name, part, terms)
	if err != nil {
		return sharedPolicy{}, err
	}
	if r.options.Temporary {
		l.prefix = "shadow-" + rand.Text() + strings.TrimPrefix(l.prefix, "shadow")
	}
	one := sharedPolicy{
		name: p.Name, limit: l, by: part.By, parts: part.By.Parts(), horizon: part.Horizon(), until: math.MinInt64, acked: acked{epoch: 1},
	}
	if part.Match > 0 {
		one.scope = 1 << (part.Match - 1)
	}
	return one, nil
}

// Begin implements replay.Remote.
func (r *SharedLimiter) Begin(b *traffic.Batch) {
	first := r.numbers.next.place == math.MinInt64
	r.numbers.take(b)
	for i := range r.policies {
		if p := &r.policies[i]; first {
			p.until = limit.Later(r.numbers.next.place, p.horizon) // Redis has missed what the Engine may remember from before
		}
	}
}

// Follow continues with other tables, where keys have other ids.
func (r *SharedLimiter) Follow(t *traffic.Tables) {
	r.options.Tables = t
	for i := range r.policies {
		p := &r.policies[i]
		// Whether nothing that was decided here alone matters any more, neither to a limit nor to who is answered
		// again.
		settled := r.met && !p.degraded && r.numbers.next.place > p.until && !(p.lost && r.numbers.keeps())
		p.acked.renumber(settled)
	}
}

// Lateness is by how much the time of a key may step back until it resets. The Engine has to go by the same.
func (r *SharedLimiter) Lateness() limit.Time { return r.options.Lateness }

// Up reports whether Redis was reachable when it was last asked or pinged: the next batch goes there.
func (r *SharedLimiter) Up() bool { return r.health.up() }

// Degraded reports whether the verdicts of a policy are, until there are others.
func (r *SharedLimiter) Degraded(policy int) bool { return r.policies[policy].degraded }

// Judge implements replay.Remote.
func (r *SharedLimiter) Judge(
	policy int, b *traffic.Batch, l *traffic.Timelines, memory func(timeline int) *limit.State,
) replay.Answer {
	p := &r.policies[policy]
	p.acked.keys.Grow(l.Len)
	a := &r.answer
	a.Decided = append(a.Decided[:0], make([]bool, len(l.Keys))...)
	a.States = append(a.States[:0], make([]*limit.State, len(l.Keys))...)
	a.Refused, a.Delayed = a.Refused[:0], a.Delayed[:0]
	if r.health.up() && !r.behind() && r.meet() {
		batch := round{SharedLimiter: r, policy: p, batch: b, timelines: l, memory: memory}
		batch.judge()
		if n := r.redis.servers.restarted(); n != r.restarts { // a server is not the one that it was
			r.restarts = n
			for i := range r.policies {
				r.policies[i].acked.epoch++
				r.policies[i].degrade(r.numbers.next.place)
			}
			r.watch(RoundTrip{Restarted: true})
			clear(a.Decided) // by a server that may know nothing, and will get these requests from our memory
		}
	}
	for i, decided := range a.Decided {
		if !decided {
			p.acked.set(l.Keys[i], false)
		}
	}
	switch now := r.numbers.next.place; {
	case slices.Contains(a.Decided, false):
		p.degrade(now)
	case p.degraded && now > p.until:
		p.degraded = false
	}
	a.Degraded = p.degraded
	return *a
}

// meet makes sure that all servers have been met once, so that one that is met later is another one.
func (r *SharedLimiter) meet() bool {
	if r.met {
		return true
	}
	begin := time.Now()
	if err := r.redis.Ping(context.Background()); err != nil {
		r.watch(RoundTrip{Took: time.Since(begin), Err: err})
		r.health.failed()
		return false
	}
	r.met = true
	r.redis.servers.settle(nil)
	return true
}

func (r *SharedLimiter) behind() bool { return r.options.Behind != nil && r.options.Behind() }

// degrade begins a span of degradation, or keeps it from ending until a horizon after now.
func (p *sharedPolicy) degrade(now limit.Time) {
	p.degraded, p.lost = true, true
	p.until = limit.Later(now, p.horizon)
}

func (r *SharedLimiter) watch(trip RoundTrip) {
	if r.options.Watch != nil {
		r.options.Watch(trip)
	}
}

// send makes a round trip.
func (r *SharedLimiter) send(calls []*Call, requests int) bool {
	begin := time.Now()
	err := r.redis.Judge(context.Background(), calls)
	r.watch(RoundTrip{Requests: requests, Took: time.Since(begin), Err: err})
	if err != nil {
		r.health.failed()
		return false
	}
	r.health.pause = 0
	return true
}
