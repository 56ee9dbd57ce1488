package replay

import (
	"math"

	"shadow/limit"
	"shadow/policy"
	"shadow/traffic"
)

// A candidate is one policy on trial: what its limiter remembers of each key, and what it has refused.
type candidate struct {
	policy  policy.Policy
	limiter limit.Limiter
	states  Paged[limit.State] // by key
	refused []int32            // of one timeline, reused
	events  *eventWriter       // nil: its events are not wanted

	total    int64
	hits     Hits
	byAction []int64
	minutes  minutes
	bytes    int64
	upstream int64 // microseconds
}

func newCandidate(p policy.Policy) *candidate {
	return &candidate{policy: p, limiter: p.Parts[0].Limiter}
}

// judge hands each timeline of the batch to the limiter.
func (c *candidate) judge(b *traffic.Batch, k *keying) error {
	g, restarts := &k.group, k.restarts
	var start int32
	for i, end := range g.Ends {
		state := c.states.At(g.Keys[i])
		for len(restarts) > 0 && restarts[0] < end {
			if err := c.refuse(b, g, state, start, restarts[0]); err != nil {
				return err
			}
			state.Release()
			start, restarts = restarts[0], restarts[1:]
		}
		if err := c.refuse(b, g, state, start, end); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// refuse judges a piece of a timeline and counts what is refused.
func (c *candidate) refuse(b *traffic.Batch, g *traffic.Group, state *limit.State, start, end int32) error {
	c.refused = c.limiter.Refuse(c.refused[:0], state, g.At[start:end])
	if len(c.refused) == 0 || b.Warm {
		return nil
	}
	piece := timeline{rows: g.Rows[start:end], at: g.At[start:end]}
	c.count(b, piece)
	return c.events.write(b, piece, c.refused)
}

// A timeline is the requests of one key: rows of a batch, and their times.
type timeline struct {
	rows []int32
	at   []limit.Time
}

// count adds what was refused of a timeline to the tallies.
func (c *candidate) count(b *traffic.Batch, piece timeline) {
	c.total += int64(len(c.refused))
	for _, i := range c.refused {
		row := piece.rows[i]
		c.byAction[b.Action[row]]++
		c.bytes = sum(c.bytes, b.Bytes[row])
		c.minutes.add(piece.at[i])
	}
	if b.Upstream != nil {
		for _, i := range c.refused {
			c.upstream = sum(c.upstream, b.Upstream[piece.rows[i]])
		}
	}
	c.hit(b, piece)
}

// sum is x + y, or as much as there is room for: nobody must have sent what a log says. Neither may be negative.
func sum(x, y int64) int64 {
	if y > math.MaxInt64-x {
		return math.MaxInt64
	}
	return x + y
}

// hit notes the clients that were refused, those in a row at once.
func (c *candidate) hit(b *traffic.Batch, piece timeline) {
	for refused := c.refused; len(refused) > 0; {
		client := b.Client[piece.rows[refused[0]]]
		n := 1
		for n < len(refused) && b.Client[piece.rows[refused[n]]] == client {
			n++
		}
		first, last := piece.at[refused[0]], piece.at[refused[0]]
		for _, i := range refused[1:n] {
			first, last = min(first, piece.at[i]), max(last, piece.at[i])
		}
		c.hits.Add(client, int64(n), first, last)
		refused = refused[n:]
	}
}

// tally is what the candidate did to that many requests.
func (c *candidate) tally(requests int64, actions int) PolicyTally {
	t := PolicyTally{
		Policy: c.policy, Requests: requests, Refused: c.total, Hits: c.hits, ByAction: grow(c.byAction, actions),
		BytesSaved: c.bytes, UpstreamSaved: limit.Time(c.upstream),
	}
	worst := c.minutes.worst()
	t.WorstMinute, t.WorstMinuteRefused = worst.start, worst.n
	return t
}
