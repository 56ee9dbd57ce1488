package tail

import (
	"sync/atomic"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
)

// A Feed is the way from a tail to a screen. The tail leaves a snapshot of its numbers there a few times a second, and the
// screen takes the latest one, so neither ever waits for the other. Names are costly to list, so the screen asks for those
// that it shows, and finds them in one of the next snapshots.

// A Feed shows the numbers of a tail to screens. Any number of goroutines may use it.
type Feed struct {
	Redis *RedisMetrics // nil: Redis is not asked; to be set before anything else

	latest atomic.Pointer[Snapshot]
	asked  atomic.Pointer[Query]
}

// A Query says which names are wanted.
type Query struct {
	Policy int // its place among the policies
	Order  Order
	Rows   int // how many names at most, and requests of Client

	Filter string // only names that contain it, in upper or lower case, or of whose latest action that holds
	Client string // who is wanted by name as well; "": no client
}

// A Snapshot holds the numbers of one moment. Its readers must not change it.
type Snapshot struct {
	At    time.Time
	Begun time.Time

	Lines, Unreadable, Excluded, NotHTTP, Late, Requests, Forgotten int64 // as in a Tally

	Waiting  int           // requests that wait for older ones
	Logs     int           // how many are followed
	Absent   int           // how many names stand for nothing that can be read
	LagBytes int64         // of the logs that have not been read
	Lag      time.Duration // how long ago all had been

	Policies []Refused
	Redis    *Redis // nil: it is not asked

	Asked   Query // the question that Clients and Actions answer
	Clients List
	Actions List
	Client  *Client // nil: none was asked for
}

// A Refused is what one policy would have refused so far.
type Refused struct {
	Name     string
	Refused  int64
	Degraded time.Time // since when its verdicts are; the zero time: they are not
}

// A Redis is whether limits are shared with other hosts at the moment.
type Redis struct {
	Away    time.Time // since when it has not answered; the zero time: it does
	Skipped bool      // it is not asked, since reading lags
}

// Latest is the latest snapshot, nil before the first one.
func (l *Feed) Latest() *Snapshot { return l.latest.Load() }

// Leave leaves a snapshot as the latest.
func (l *Feed) Leave(s *Snapshot) { l.latest.Store(s) }

// Ask says which names are wanted from now on.
func (l *Feed) Ask(q Query) { l.asked.Store(&q) }

// How often a snapshot is left, and how much of the tail's time that may take: a hundredth.
const (
	snapshotEvery = 200 * time.Millisecond
	snapshotShare = 100
)

// leaveSnapshot leaves a snapshot, if one is due.
func (t *Tail) leaveSnapshot(now time.Time) {
	c := t.events.feed
	if t.options.Feed == nil || now.Sub(c.shown) < max(snapshotEvery, snapshotShare*c.took) {
		return
	}
	begin := time.Now()
	c.shown = now
	c.advance(now)
	is := t.tally
	s := &Snapshot{
		At: now, Begun: t.begun, Lines: is.Lines, Unreadable: is.Unreadable, Excluded: is.Excluded, NotHTTP: is.NotHTTP.Lines(), Late: is.Late,
		Requests: is.Requests, Forgotten: is.Forgotten, Waiting: t.stream.Waiting(), Logs: t.set.Followed(), Absent: t.set.Absent(),
	}
	s.LagBytes, s.Lag = t.Lag(now)
	for i := range is.Policies {
		p := &is.Policies[i]
		s.Policies = append(s.Policies, Refused{p.Name, p.Refused, c.since(i, p.IsDegraded, now)})
	}
	if redis := t.options.Feed.Redis; redis != nil {
		s.Redis = &Redis{Away: redis.Away(), Skipped: t.progress.lags}
	}
	if asked := t.options.Feed.asked.Load(); asked != nil {
		s.Asked = *asked
	}
	c.answer(s, t.tables, t.options.Policies)
	t.options.Feed.Leave(s)
	c.took = time.Since(begin)
}

// feedCounts are who and what was refused lately, by policy. Nil counts nothing.
type feedCounts struct {
	begun    time.Time
	at       time.Duration // since then
	policies []struct{ clients, actions *recent }
	latest   latestRequests
	degraded []time.Time   // by policy: since when; the zero time: it is not
	shown    time.Time     // when a snapshot was last left
	took     time.Duration // how long that took
}

// How many names may have counters: clients of all policies together, with some for each at least, and actions of each.
const (
	clientCapacity = 64 << 10
	leastCapacity  = 1 << 10
	actionCapacity = 1 << 10
)

func newFeedCounts(begun time.Time, policies int) *feedCounts {
	c := &feedCounts{begun: begun, degraded: make([]time.Time, policies)}
	for range policies {
		c.policies = append(c.policies, struct{ clients, actions *recent }{
			newRecent(max(leastCapacity, clientCapacity/policies)), newRecent(actionCapacity),
		})
	}
	return c
}

// advance sets the clock.
func (c *feedCounts) advance(now time.Time) {
	c.at = now.Sub(c.begun)
	step := int64(c.at / spanStep)
	for _, p := range c.policies {
		p.clients.advance(step)
		p.actions.advance(step)
	}
}

// since is since when a policy has been degraded.
func (c *feedCounts) since(policy int, degraded bool, now time.Time) time.Time {
	switch at := &c.degraded[policy]; {
	case !degraded:
		*at = time.Time{}
	case at.IsZero():
		*at = now
	}
	return c.degraded[policy]
}

// add counts a refusal.
func (c *feedCounts) add(policy, client int32, action uint16, class request.Class, t *traffic.Tables) {
	if c == nil {
		return
	}
	p, s := &c.policies[policy], lastRefusal{c.at, action, class}
	p.clients.add(client, t.ShownClient, s)
	p.actions.add(int32(action), t.ShownAction, s)
}

// A hit is how many clients a policy refused within the Span, and how often the one that it refused most.
type hit struct {
	clients [request.ClassCount]int64 // by what the agent of the latest request claims to be
	worst   int64
}

// hits returns those of each policy.
func (c *feedCounts) hits() []hit {
	all := make([]hit, len(c.policies))
	for i, p := range c.policies {
		for _, client := range p.clients.counters {
			all[i].clients[client.last.class]++
			all[i].worst = max(all[i].worst, client.sum)
		}
	}
	return all
}

// forget forgets the ids of names: they are about to change.
func (c *feedCounts) forget() {
	if c == nil {
		return
	}
	for _, p := range c.policies {
		p.clients.forget()
	}
	c.latest = latestRequests{}
}

// answer lists the names that a snapshot was asked for.
func (c *feedCounts) answer(g *Snapshot, t *traffic.Tables, policies []policy.Policy) {
	if g.Asked.Policy < 0 || g.Asked.Policy >= len(c.policies) {
		return
	}
	p := c.policies[g.Asked.Policy]
	g.Clients = p.clients.list(&g.Asked, c.begun, t.ShownAction)
	g.Actions = p.actions.list(&g.Asked, c.begun, t.ShownAction)
	if g.Asked.Client != "" {
		g.Client = c.latest.client(&g.Asked, policies, t)
	}
}
