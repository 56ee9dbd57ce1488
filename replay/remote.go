package replay

import (
	"slices"

	"shadow/internal/traffic"
	"shadow/limit"
)

// A Remote judges timelines by what is remembered of their keys elsewhere, where other hosts reach it as well. The
// Engine follows its verdicts with what it remembers itself, and goes by that where the Remote does not decide.
type Remote interface {
	// Begin takes notice of a batch, before any of its timelines.
	Begin(b *traffic.Batch)

	// Judge judges the timelines of a batch by a policy, which has a single limit. b and l are those of the Engine, and
	// the answer is valid until the next call. memory gives what the Engine remembers of the key of a timeline, before the
	// batch: that of a key never seen where the key resets.
	Judge(policy int, b *traffic.Batch, l *traffic.Timelines, memory func(timeline int) *limit.State) Answer
}

// An Answer holds the verdicts of a Remote on the timelines of a batch.
type Answer struct {
	Decided  []bool          // by timeline: whether there is a verdict; if not, it is for the Engine to decide
	Refused  []int32         // indices into the rows of the timelines, ascending; those of timelines not decided do not count
	Delayed  []limit.Delayed // likewise
	States   []*limit.State  // by timeline: what is known of its key from before the batch, if that is more than the Engine remembers; else nil
	Degraded bool            // whether the verdicts may not be those that all hosts would have reached together
}

// remote is the Remote's side of a candidate.
type remote struct {
	Remote
	policy int
	events *eventWriter
	Answer // to the batch at hand; what has been taken off is gone
}

// ask has the Remote judge the batch. A nil remote decides nothing.
func (c *candidate) ask(b *traffic.Batch, k *keyGroup) {
	if c.remote == nil {
		return
	}
	memory := func(timeline int) *limit.State {
		start := int32(0)
		if timeline > 0 {
			start = k.Ends[timeline-1]
		}
		if _, reset := slices.BinarySearch(k.Resets, start); reset {
			return new(limit.State)
		}
		return c.limits[0].states.At(k.Keys[timeline])
	}
	c.remote.Answer = c.remote.Judge(c.remote.policy, b, &k.Timelines, memory)
	c.noted.degrade(c.remote.Degraded)
	if c.remote.Degraded && !b.Warm {
		c.remote.events.degrade(c.policyID)
		c.did.Degraded.Requests += int64(b.Len())
	}
}

// decides reports whether there is a verdict on a timeline.
func (r *remote) decides(timeline int) bool {
	return r != nil && timeline < len(r.Decided) && r.Decided[timeline]
}

// take takes off the verdicts on the rows from start to end, in the order of which it must be called.
func (r *remote) take(v *verdicts, start, end int32) {
	v.reset()
	for ; len(r.Refused) > 0 && r.Refused[0] < end; r.Refused = r.Refused[1:] {
		if r.Refused[0] >= start {
			v.refused = append(v.refused, r.Refused[0]-start)
		}
	}
	for ; len(r.Delayed) > 0 && r.Delayed[0].Index < end; r.Delayed = r.Delayed[1:] {
		if late := r.Delayed[0]; late.Index >= start {
			v.late = append(v.late, limit.Delayed{Index: late.Index - start, By: late.By})
		}
	}
}

// adopt goes on from what the Remote knows of a timeline's key, if that is more than the Engine remembers.
func (c *candidate) adopt(timeline int, key int32) {
	if timeline >= len(c.remote.States) || c.remote.States[timeline] == nil {
		return
	}
	s := c.limits[0].states.At(key)
	s.Release()
	*s, c.remote.States[timeline] = *c.remote.States[timeline], nil // a timeline may come in several pieces
}

// follow charges the limit with verdicts that were reached elsewhere. What it has no room for it charges as refused, so
// that what it remembers never goes beyond its limit.
func (c *candidate) follow(key int32, at []limit.Time, marks []uint64) {
	p, refused := &c.limits[0], c.verdicts.refused
	s := p.states.At(key)
	for i, t := range at {
		no := len(refused) > 0 && refused[0] == int32(i)
		if no {
			refused = refused[1:]
		}
		if marks == nil || holds(p.count, marks[i]) {
			p.limiter.Charge(s, t, no || p.limiter.Wait(s, t) > 0)
		}
		if no && c.retries {
			c.verdicts.retry = append(c.verdicts.retry, Retry{After: p.limiter.Wait(s, t)})
		}
	}
}
