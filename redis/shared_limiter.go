package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic"
)

// A SharedLimiter is a replay.Remote: it has Redis judge the timelines of an Engine. It never fails and never waits for longer
// than a batch may take. Where Redis does not answer it decides nothing, so that the Engine does, and says that verdicts
// are degraded, until the log is one horizon of the policy past the moment from which on all was answered again.
type SharedLimiter struct {
	options  SharedLimiterOptions
	redis    *Conn
	health   health
	policies []refereed
	numbers  numbers
	known    bool // whether all servers have been met
	restarts int  // of servers, of which all policies have heard
	answer   replay.Answer
}

// SharedLimiterOptions say what to judge.
type SharedLimiterOptions struct {
	Redis    *Conn // to be closed by the caller, after the SharedLimiter
	Tables   *traffic.Tables
	Policies []policy.Policy
	Lateness limit.Time    // a key whose time steps back by more starts again: with several hosts, at least the MaxLag
	MaxLag   time.Duration // by how much hosts may lag behind the log that is furthest ahead

	// From is where to go on; the zero value begins. The host must have the same name then.
	From Saved

	Behind func() bool     // asked before each batch: whether to spare the time, and decide locally; nil: never
	Watch  func(RoundTrip) // is told of each round trip; nil: nobody is

	// Temporary gives the keys names that nobody else has, and removes them in the end.
	Temporary bool
}

// A RoundTrip is what became of one, for metrics.
type RoundTrip struct {
	Requests int
	Took     time.Duration
	Err      error // nil: all was answered
}

// refereed is a policy that the SharedLimiter judges.
type refereed struct {
	name    string
	limit   *Limit
	by      request.Key
	scope   uint64 // the bit of the requests that it is about; 0: all
	horizon limit.Time

	degraded bool       // not all was answered, or a server is not the one that it was
	lost     bool       // it was, since it was last saved
	until    limit.Time // when the log is later than this, verdicts are as they should be again
	heard    heard
	made     []string // names of keys that were asked for, if they are to be removed
}

// NewSharedLimiter makes one, or says which policy cannot be shared and why.
func NewSharedLimiter(o SharedLimiterOptions) (*SharedLimiter, error) {
	r := &SharedLimiter{options: o, redis: o.Redis}
	r.health.ping = o.Redis.Ping
	for _, p := range o.Policies {
		one, err := r.limiter(p)
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
		if err := r.redis.remove(r.policies[i].made); err != nil {
			return err
		}
	}
	return nil
}

// limiter takes in a policy.
func (r *SharedLimiter) limiter(p policy.Policy) (refereed, error) {
	if len(p.Parts) != 1 {
		return refereed{}, fmt.Errorf("cannot be shared: only policies of a single limit can, and it has %d; make each a policy of its own", len(p.Parts))
	}
	part := &p.Parts[0]
	if part.Match != part.Count {
		return refereed{}, fmt.Errorf("cannot be shared: it counts other requests than it refuses; let count be as match")
	}
	l, err := NewLimit(p.Name, part, Terms{
		Lateness: r.options.Lateness, Idle: idle(r.options.Policies, part.By, r.options.Lateness), MaxLag: r.options.MaxLag,
	})
	if err != nil {
		return refereed{}, err
	}
	if r.options.Temporary {
		l.prefix = "shadow-" + rand.Text() + strings.TrimPrefix(l.prefix, "shadow")
	}
	one := refereed{name: p.Name, limit: l, by: part.By, horizon: part.Horizon(), until: math.MinInt64, heard: heard{losses: 1}}
	if part.Match > 0 {
		one.scope = 1 << (part.Match - 1)
	}
	return one, nil
}

// idle is for how long a key may be idle before an Engine forgets it: longer than any policy that counts by it remembers.
func idle(policies []policy.Policy, by request.Key, lateness limit.Time) limit.Time {
	var longest limit.Time
	for _, p := range policies {
		for _, part := range p.Parts {
			if part.By == by {
				longest = max(longest, part.Limiter.Horizon())
			}
		}
	}
	if longest >= limit.Never-lateness {
		return limit.Never
	}
	return longest + lateness
}

// Begin implements replay.Remote.
func (r *SharedLimiter) Begin(b *traffic.Batch) {
	first := r.numbers.latest == math.MinInt64
	r.numbers.take(b)
	for i := range r.policies {
		if p := &r.policies[i]; first {
			p.until = p.after(r.numbers.latest) // Redis has missed what the Engine may remember from before
		}
	}
}

// Follow goes on with other tables, where keys have other ids.
func (r *SharedLimiter) Follow(t *traffic.Tables) {
	r.options.Tables = t
	for i := range r.policies {
		p := &r.policies[i]
		p.heard.renumber(r.settled(p))
	}
}

// settled reports whether nothing that was decided here alone matters any more, neither to a limit nor to who is answered again.
func (r *SharedLimiter) settled(p *refereed) bool {
	return r.known && !p.degraded && r.numbers.latest > p.until && !(p.lost && r.numbers.keeps())
}

// Lateness is by how much the time of a key may step back until it starts again. The Engine has to go by the same.
func (r *SharedLimiter) Lateness() limit.Time { return r.options.Lateness }

// Degraded reports whether the verdicts of a policy are, until there are others.
func (r *SharedLimiter) Degraded(policy int) bool { return r.policies[policy].degraded }

// Judge implements replay.Remote.
func (r *SharedLimiter) Judge(policy int, b *traffic.Batch, l *traffic.Timelines, memory func(timeline int) *limit.State) replay.Answer {
	p := &r.policies[policy]
	p.heard.keys.Grow(l.Len)
	a := &r.answer
	a.Decided = append(a.Decided[:0], make([]bool, len(l.Keys))...)
	a.States = append(a.States[:0], make([]*limit.State, len(l.Keys))...)
	a.Refused, a.Delayed = a.Refused[:0], a.Delayed[:0]
	if r.health.up() && !r.behind() && r.meet() {
		batch := round{limiter: r, policy: p, batch: b, timelines: l, memory: memory}
		batch.judge()
		if r.hear() {
			clear(a.Decided) // by a server that may know nothing, and will hear of these requests from our memory
		}
	}
	for i, decided := range a.Decided {
		if !decided {
			p.heard.owe(l.Keys[i])
		}
	}
	r.settle(p, !slices.Contains(a.Decided, false))
	a.Degraded = p.degraded
	return *a
}

// meet makes sure that all servers have been met once, so that one that is met later is another one.
func (r *SharedLimiter) meet() bool {
	if r.known {
		return true
	}
	begin := time.Now()
	if err := r.redis.Ping(context.Background()); err != nil {
		r.tell(RoundTrip{Took: time.Since(begin), Err: err})
		r.health.failed()
		return false
	}
	r.known = true
	r.redis.nodes.settle()
	return true
}

func (r *SharedLimiter) behind() bool { return r.options.Behind != nil && r.options.Behind() }

// hear reports whether a server is not the one that it was, and degrades all policies if so.
func (r *SharedLimiter) hear() bool {
	n := r.redis.nodes.restarts()
	if n == r.restarts {
		return false
	}
	r.restarts = n
	for i := range r.policies {
		r.policies[i].heard.losses++
		r.policies[i].lose(r.numbers.latest)
	}
	return true
}

// settle notes whether a policy's requests were all answered, and ends a span of degradation that is over.
func (r *SharedLimiter) settle(p *refereed, answered bool) {
	switch {
	case !answered:
		p.lose(r.numbers.latest)
	case p.degraded && r.numbers.latest > p.until:
		p.degraded = false
	}
}

// lose begins a span of degradation, or keeps it from ending until a horizon after now.
func (p *refereed) lose(now limit.Time) {
	p.degraded, p.lost = true, true
	p.until = p.after(now)
}

// after is one horizon later.
func (p *refereed) after(now limit.Time) limit.Time {
	if now >= limit.Never-p.horizon {
		return limit.Never
	}
	return now + p.horizon
}

// tell tells of a round trip.
func (r *SharedLimiter) tell(trip RoundTrip) {
	if r.options.Watch != nil {
		r.options.Watch(trip)
	}
}

// send makes a round trip.
func (r *SharedLimiter) send(calls []*Call, requests int) bool {
	begin := time.Now()
	err := r.redis.Judge(context.Background(), calls)
	r.tell(RoundTrip{Requests: requests, Took: time.Since(begin), Err: err})
	if err != nil {
		r.health.failed()
		return false
	}
	r.health.succeeded()
	return true
}
