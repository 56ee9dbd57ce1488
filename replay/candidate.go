package replay

import (
	"math"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/limit"
)

// A candidate is one policy on trial: what its limits remember of each key, and what it has refused.
type candidate struct {
	policy      policy.Policy
	limits      []policyLimit
	combination *combination       // nil: one limit for all requests, or several keys
	remote      *remote            // nil: what is remembered of keys is remembered here only
	variants    []*candidate       // of an approximation: the policy under other assumptions
	bounds      [bounds]*candidate // nil: not wanted, or stamps are not coarse

	verdicts verdicts     // on one timeline, reused
	brief    limit.State  // of a single limit, for keys that nothing is kept of
	masks    []uint8      // of the batch at hand, see refusals
	bit      uint8        // of this policy in them
	policyID int          // its place among the policies; less than 0: a variant or a bound
	noted    *Verdicts    // nil: there is no Observer
	retries  bool         // whether to find out how long refused clients have to stay away
	active   []limitState // if so, or if requests have costs: of all limits; requests are judged one by one

	did      PolicyCounts // but for Requests
	hits     Hits
	byAction []int64
	minutes  minutes
	delays   delays
	upstream int64 // microseconds
}

// judge hands each timeline of the batch to the limits of candidates, which all count by the key of k.
func (k *keyGroup) judge(b *traffic.Batch, candidates []*candidate) error {
	resets := k.Resets
	var start int32
	for i, end := range k.Ends {
		n := 0
		for n < len(resets) && resets[n] < end {
			n++
		}
		for _, c := range candidates {
			if err := c.judge(b, k, i, start, end, resets[:n]); err != nil {
				return err
			}
		}
		start, resets = end, resets[n:]
	}
	return nil
}

// judge judges timeline i, in which the key resets at some places.
func (c *candidate) judge(b *traffic.Batch, k *keyGroup, i int, start, end int32, resets []int32) error {
	for _, at := range resets {
		if err := c.try(b, k, i, start, at); err != nil {
			return err
		}
		for j := range c.limits {
			c.limits[j].states.At(k.Keys[i]).Release()
		}
		start = at
	}
	if err := c.try(b, k, i, start, end); err != nil {
		return err
	}
	if k.brief != nil && k.brief[i] {
		c.release(k.Keys[i])
	}
	return nil
}

// release forgets a key that nothing is kept of.
func (c *candidate) release(key int32) {
	c.brief.Release()
	if c.combination != nil || c.active != nil {
		for j := range c.limits {
			c.limits[j].states.At(key).Release()
		}
	}
}

// state returns what the limit, if there is one, remembers of the key of timeline i. If nothing of that is kept, its
// place in memory is not even looked at.
func (c *candidate) state(k *keyGroup, i int) *limit.State {
	if k.brief != nil && k.brief[i] {
		return &c.brief
	}
	return c.limits[0].states.At(k.Keys[i])
}

// try judges a piece of timeline i.
func (c *candidate) try(b *traffic.Batch, k *keyGroup, i int, start, end int32) error {
	v, first, key := &c.verdicts, &c.limits[0], k.Keys[i]
	at := k.At[start:end]
	switch {
	case c.remote.decides(i):
		c.remote.take(v, start, end)
		c.adopt(i, key)
		c.follow(key, at, k.marksOf(start, end))
	case c.active != nil:
		c.askEach(key, b, k.Rows[start:end], at, k.marksOf(start, end))
	case c.combination != nil:
		v.reset()
		c.combination.judge(v, key, at, k.marksOf(start, end))
	case first.delayer != nil:
		v.refused, v.late = first.delayer.RefuseAndDelay(v.refused[:0], v.late[:0], c.state(k, i), at)
	default:
		v.refused = first.limiter.Refuse(v.refused[:0], c.state(k, i), at)
	}
	return c.book(b, timeline{rows: k.Rows[start:end], at: at, ofClient: k.By == request.ByClient})
}

// A timeline is the requests of one key: rows of a batch, and their times.
type timeline struct {
	rows     []int32
	at       []limit.Time
	ofClient bool // whether all are of one client
}

// book counts what was decided on a piece of a timeline.
func (c *candidate) book(b *traffic.Batch, piece timeline) error {
	c.noted.note(piece, &c.verdicts)
	if b.Warm || c.verdicts.empty() {
		return nil
	}
	for _, late := range c.verdicts.late {
		c.delays.add(late.By)
	}
	if len(c.verdicts.refused) == 0 {
		return nil
	}
	c.count(b, piece)
	return nil
}

// count adds what was refused of a timeline to the tallies.
func (c *candidate) count(b *traffic.Batch, piece timeline) {
	c.did.Refused += int64(len(c.verdicts.refused))
	if c.remote != nil && c.remote.Degraded {
		c.did.Degraded.Refused += int64(len(c.verdicts.refused))
	}
	for _, i := range c.verdicts.refused {
		c.masks[piece.rows[i]] |= c.bit
	}
	c.hit(b, piece)
}

// sum returns x + y, or the largest number if that is too large: a log may claim any number. Neither may be negative.
func sum(x, y int64) int64 {
	if y > math.MaxInt64-x {
		return math.MaxInt64
	}
	return x + y
}

// hit notes the clients that were refused, those in a row at once.
func (c *candidate) hit(b *traffic.Batch, piece timeline) {
	for refused := c.verdicts.refused; len(refused) > 0; {
		client := b.Client[piece.rows[refused[0]]]
		n := len(refused)
		if !piece.ofClient {
			n = 1
			for n < len(refused) && b.Client[piece.rows[refused[n]]] == client {
				n++
			}
		}
		first, last := piece.at[refused[0]], piece.at[refused[n-1]]
		if b.Seq != nil { // times may step back
			for _, i := range refused[:n] {
				first, last = min(first, piece.at[i]), max(last, piece.at[i])
			}
		}
		c.hits.Add(client, int64(n), first, last)
		refused = refused[n:]
	}
}

// tally returns what the candidate did to that many requests.
func (c *candidate) tally(requests int64, actions int) PolicyTally {
	t := PolicyTally{
		Policy: c.policy, PolicyCounts: c.did, Hits: c.hits, ByAction: grow(c.byAction, actions),
		UpstreamSaved: limit.Time(c.upstream), Delays: c.delaysTally(), Range: c.rangeTally(), Bounds: c.boundTally(),
	}
	t.Requests = requests
	worst := c.minutes.worst()
	t.WorstMinute, t.WorstMinuteRefused = worst.start, worst.n
	return t
}

// delaysTally returns how long the policy kept requests waiting, nil if it cannot.
func (c *candidate) delaysTally() *Delays {
	if !slices.ContainsFunc(c.limits, func(l policyLimit) bool { return l.delayer != nil }) {
		return nil
	}
	p := c.delays.percentiles(50, 99)
	return &Delays{Requests: c.delays.n, Total: c.delays.total, P50: p[0], P99: p[1]}
}

// rangeTally returns the range in which the policy may lie, nil if it is judged exactly.
func (c *candidate) rangeTally() *Range {
	if c.variants == nil {
		return nil
	}
	hit := int64(c.hits.Len())
	r := &Range{Refused: [2]int64{c.did.Refused, c.did.Refused}, ClientsHit: [2]int64{hit, hit}, hits: []*Hits{&c.hits}}
	for _, v := range c.variants {
		r.hits = append(r.hits, &v.hits)
		widen(&r.Refused, v.did.Refused)
		widen(&r.ClientsHit, int64(v.hits.Len()))
	}
	return r
}

// widen makes a range from the lowest to the highest hold n.
func widen(r *[2]int64, n int64) { r[0], r[1] = min(r[0], n), max(r[1], n) }
