package tail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A screen may ask for a client by itself: what it requested of late, what would have been refused of that, and why. So
// the latest requests of everybody are remembered, and their refusals, both in rings. Requests have numbers:
//
//	requests  … 17  18  19  20     each at its number, modulo the size of the ring
//	refusals  … 17  17  20         each with the number of its request
//
// A request is known as long as neither it nor any of its refusals has been overwritten.

// rememberedRequests is the number of requests that are remembered, and of refusals.
const rememberedRequests = 1 << 17

// latestRequests holds the two rings. Numbers begin with 1.
type latestRequests struct {
	requests ring[oneRequest]
	refusals ring[oneRefusal]
	lost     int64 // the highest number of a request of which a refusal was overwritten
}

type oneRequest struct {
	at                    limit.Time
	client                int32
	agent, action, status uint16
}

type oneRefusal struct {
	request int64
	after   limit.Time
	policy  int32
	limit   int32 // of the policy
}

// A ring is the latest things of a kind.
type ring[T any] struct {
	all []T
	n   int64 // how many there have been
}

// put adds a thing, and returns the place at which it is to be written.
func (r *ring[T]) put() *T {
	if len(r.all) < rememberedRequests {
		r.all = append(r.all, *new(T))
	}
	at := &r.all[r.n%rememberedRequests]
	r.n++
	return at
}

// remember remembers the requests of a batch, and its refusals.
func (c *feedCounts) remember(b *traffic.Batch, refusals []refusal) {
	if c == nil || b.Warm {
		return
	}
	l, first := &c.latest, c.latest.requests.n+1
	for row := range b.At {
		*l.requests.put() = oneRequest{b.At[row], b.Client[row], b.Agent[row], b.Action[row], b.Status[row]}
	}
	for i := range refusals {
		r, at := &refusals[i], l.refusals.put()
		l.lost = max(l.lost, at.request)
		*at = oneRefusal{first + int64(r.row), r.retry.After, r.policy, int32(r.retry.Limit)}
	}
}

// A Client is what is known of a client, out of the latest requests of everybody.
type Client struct {
	Name  string
	Since time.Time // the first of these requests, by the log
	Of    int64     // how many these are

	Requests int64 // of the client
	Refused  int64 // by at least one policy
	Agent    string
	Class    string // what Agent, that of the latest request, claims to be
	Policies []ClientPolicy
	Actions  []ClientAction  // most requested first
	Latest   []ClientRequest // latest first
}

// A ClientPolicy is what a policy would have refused of a client.
type ClientPolicy struct {
	Refused int64
	Latest  ClientRefusal // of Refused > 0
	At      time.Time     // of the request
}

// A ClientRequest is one request of a client.
type ClientRequest struct {
	At       time.Time // by the log
	Status   int       // 0: not logged
	Action   string
	Refusals []ClientRefusal
}

// A ClientRefusal says why a request would have been refused.
type ClientRefusal struct {
	Policy int
	Limit  string     // the limit that would have to be waited for longest
	After  limit.Time // for how long; limit.Never if waiting does not help
}

// A ClientAction is how many requests of a client were for an action.
type ClientAction struct {
	Name     string
	Requests int64
}

// client returns what is known of the client that is asked for.
func (l *latestRequests) client(q *Query, policies []policy.Policy, t *traffic.Tables) *Client {
	c := &Client{Name: q.Client, Policies: make([]ClientPolicy, len(policies))}
	first := max(l.lost, l.requests.n-int64(len(l.requests.all))) + 1
	if c.Of = l.requests.n + 1 - first; c.Of <= 0 {
		return c
	}
	c.Since = moment(l.request(first).at)
	id, known := shownAs(q.Client, t)
	if !known {
		return c
	}
	refusals := l.refusalsOf(id, first, policies)
	actions := map[uint16]int64{}
	for n := l.requests.n; n >= first; n-- {
		r := l.request(n)
		if r.client != id {
			continue
		}
		if c.Requests++; c.Requests == 1 {
			c.Agent, c.Class = t.ShownAgent(int32(r.agent)), t.Agents.Class(int32(r.agent)).String()
		}
		actions[r.action]++
		why := refusals[n]
		c.refuse(moment(r.at), why)
		if len(c.Latest) < q.Rows {
			c.Latest = append(c.Latest, ClientRequest{moment(r.at), int(r.status), t.ShownAction(int32(r.action)), why})
		}
	}
	for id, n := range actions {
		c.Actions = append(c.Actions, ClientAction{t.ShownAction(int32(id)), n})
	}
	slices.SortFunc(c.Actions, func(x, y ClientAction) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Name, y.Name))
	})
	return c
}

// shownAs finds a client by the name that it is shown under.
func shownAs(name string, t *traffic.Tables) (id int32, known bool) {
	if t.Rename.Client == nil {
		return t.Clients.Find([]byte(name))
	}
	for id := range int32(t.Clients.Len()) {
		if t.ShownClient(id) == name {
			return id, true
		}
	}
	return 0, false
}

// refuse counts why a request would have been refused, if it would. Requests come latest first.
func (c *Client) refuse(at time.Time, why []ClientRefusal) {
	if len(why) > 0 {
		c.Refused++
	}
	for _, r := range why {
		p := &c.Policies[r.Policy]
		if p.Refused++; p.Refused == 1 {
			p.Latest, p.At = r, at
		}
	}
}

// refusalsOf are the refusals of a client by the numbers of its requests, from the first one on.
func (l *latestRequests) refusalsOf(client int32, first int64, policies []policy.Policy) map[int64][]ClientRefusal {
	all, limits := map[int64][]ClientRefusal{}, make([][]string, len(policies))
	for i := range policies {
		limits[i] = mapped.Add(limits[i], policies[i].Parts, policy.Part.String)
	}
	for n := l.refusals.n - int64(len(l.refusals.all)); n < l.refusals.n; n++ {
		r := &l.refusals.all[n%rememberedRequests]
		if r.request >= first && l.request(r.request).client == client {
			all[r.request] = append(all[r.request], ClientRefusal{int(r.policy), limits[r.policy][r.limit], r.after})
		}
	}
	return all
}

// request is the one with a number.
func (l *latestRequests) request(n int64) *oneRequest {
	return &l.requests.all[(n-1)%rememberedRequests]
}

func moment(t limit.Time) time.Time { return time.UnixMicro(int64(t)).UTC() }
