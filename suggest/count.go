package suggest

import (
	"context"

	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/traffic"
)

// The curve of a token bucket tells which clients each burst hits, but not how many requests it refuses. For the few bursts that
// were chosen a replay tells; so it does of the answer over the whole log, and of what nginx makes of it.

// countAll finds out what is refused: first by the chosen limits, and once it is known which are best, by those beside
// them and over the whole log.
func (d *Advisor) countAll(ctx context.Context) error {
	chosen, err := d.uncounted((*Advice).Uncounted)
	if err != nil {
		return err
	}
	if len(chosen) > 0 {
		if err := d.count(ctx, chosen, nil); err != nil {
			return err
		}
	}
	whole := []policy.Policy{} // the limits to replay over the whole log, track by track
	for i, t := range d.tracks {
		t.advice.BestNginx()
		t.advice.NameWhole(d.labels, d.Tables, d.Found.Clients)
		for _, text := range t.advice.WholeLimits() {
			p, err := t.policy(i, text)
			if err != nil {
				return err
			}
			whole = append(whole, p)
		}
	}
	beside, err := d.uncounted((*Advice).Alternatives)
	if err != nil {
		return err
	}
	return d.count(ctx, beside, whole)
}

// An uncounted is a limit that is replayed for what it refuses.
type uncounted struct {
	candidate *Candidate
	policy    policy.Policy
}

// uncounted are the limits to replay of each track.
func (d *Advisor) uncounted(some func(*Advice) []Priced) (all []uncounted, err error) {
	for i, t := range d.tracks {
		for _, priced := range some(t.advice) {
			p, err := t.policy(i, priced.Text)
			if err != nil {
				return nil, err
			}
			all = append(all, uncounted{priced.Candidate, p})
		}
	}
	return all, nil
}

// policy is a limit of track i. It concerns the requests that have mark i, if it is about an action.
func (t *track) policy(i int, text string) (p policy.Policy, err error) {
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return p, err
	}
	if p = policies[0]; t.action != "" {
		part := &p.Parts[0]
		part.Match, part.Count = policy.Scope(i+1), policy.Scope(i+1)
	}
	return p, nil
}

// count finds out what is refused by some limits on either part and, unless whole is nil, by others over the whole log.
func (d *Advisor) count(ctx context.Context, all []uncounted, whole []policy.Policy) error {
	r := newRepeaters(d.Tables, d.Found.Clients)
	for {
		n := min(len(all), r.atOnce())
		if err := d.pass(ctx, r, all[:n], whole); err != nil {
			return err
		}
		if all, whole = all[n:], nil; len(all) == 0 {
			return nil
		}
	}
}

// pass is one pass over the requests.
func (d *Advisor) pass(ctx context.Context, r *repeaters, all []uncounted, whole []policy.Policy) error {
	policies := make([]policy.Policy, len(all))
	for i := range all {
		policies[i] = all[i].policy
	}
	engine := func(policies []policy.Policy) *replay.Engine {
		return replay.New(replay.Options{Tables: r.tables, Policies: policies, Lateness: d.Lateness, Stop: ctx.Err, Bare: true})
	}
	parts, uncut := [2]*replay.Engine{engine(policies), engine(policies)}, engine(whole)
	judge := func(part int, b *traffic.Batch) error {
		d.mark(b)
		if whole != nil {
			for _, t := range d.tracks {
				t.advice.Whole.Take(b)
			}
		}
		b = r.of(b)
		if whole != nil {
			if err := uncut.Judge(b); err != nil {
				return err
			}
		}
		return parts[part].Judge(b)
	}
	if err := d.Again(func(b *traffic.Batch) error { return d.halves.divide(b, judge) }); err != nil {
		return err
	}
	first, rest := parts[0].Result(d.Found.Stats), parts[1].Result(d.Found.Stats)
	for i := range all {
		c := all[i].candidate
		c.First = Count(r.hits(&first.Policies[i].Hits), d.labels)
		c.Rest = Count(r.hits(&rest.Policies[i].Hits), d.labels)
	}
	if whole == nil {
		return nil
	}
	found := uncut.Result(d.Found.Stats).Policies
	for i := range found {
		found[i].Hits = *r.hits(&found[i].Hits)
	}
	for _, t := range d.tracks {
		n := len(t.advice.WholeLimits())
		t.advice.FinishWhole(found[:n])
		found = found[n:]
	}
	return nil
}

// mark gives requests the mark of the track that is about their action.
func (d *Advisor) mark(b *traffic.Batch) {
	if len(d.tracks) == 0 || d.tracks[0].action == "" {
		return
	}
	marks := map[uint16]uint64{}
	for i, t := range d.tracks {
		if id, known := d.Tables.Actions.Find([]byte(t.action)); known {
			marks[uint16(id)] = 1 << i
		}
	}
	b.Marks = make([]uint64, b.Len())
	for row, action := range b.Action {
		b.Marks[row] = marks[action]
	}
}
