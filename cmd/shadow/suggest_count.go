package main

import (
	"context"

	"shadow/policy"
	"shadow/replay"
	"shadow/request"
	"shadow/suggest"
	"shadow/traffic"
)

// The curve of a token bucket tells whom each burst hits, but not how many requests it refuses. For the few bursts that
// were chosen a replay tells; so it does of the answer over the whole log, and of what nginx makes of it.

// countAll finds out what is refused: first by the chosen limits, and once it is known which are best, by those beside them and over
// the whole log.
func (r *suggestRun) countAll(ctx context.Context) error {
	chosen, err := r.uncounted((*suggest.Advice).Uncounted)
	if err != nil {
		return err
	}
	if len(chosen) > 0 {
		if err := r.count(ctx, chosen, nil); err != nil {
			return err
		}
	}
	for _, t := range r.tracks {
		t.advice.BestNginx()
		t.advice.NameWhole(r.labels, r.reading.Tables, r.survey.Clients)
	}
	beside, err := r.uncounted((*suggest.Advice).Alternatives)
	if err != nil {
		return err
	}
	whole, err := r.wholePolicies()
	if err != nil {
		return err
	}
	return r.count(ctx, beside, whole)
}

// An uncounted is a limit that is replayed for what it refuses.
type uncounted struct {
	candidate *suggest.Candidate
	policy    policy.Policy
}

// count finds out what is refused by some limits on either part and, unless whole is nil, by others over the whole log.
func (r *suggestRun) count(ctx context.Context, all []uncounted, whole []policy.Policy) error {
	policies := make([]policy.Policy, len(all))
	for i := range all {
		policies[i] = all[i].policy
	}
	parts, uncut := [2]*replay.Engine{r.engine(ctx, policies), r.engine(ctx, policies)}, r.engine(ctx, whole)
	o := r.again()
	o.Tracer = nil
	if _, err := r.read(ctx, o, func(b *traffic.Batch) error {
		part, counted := r.part(b)
		r.mark(&counted)
		if whole != nil {
			for _, t := range r.tracks {
				t.advice.Whole.Take(&counted)
			}
			if err := uncut.Judge(&counted); err != nil {
				return err
			}
		}
		return parts[part].Judge(&counted)
	}); err != nil {
		return err
	}
	first, rest := parts[0].Result(r.survey.Stats), parts[1].Result(r.survey.Stats)
	for i := range all {
		c := all[i].candidate
		c.First, c.Rest = suggest.Count(&first.Policies[i].Hits, r.labels), suggest.Count(&rest.Policies[i].Hits, r.labels)
	}
	if whole != nil {
		r.finishWhole(uncut.Result(r.survey.Stats).Policies)
	}
	return nil
}

func (r *suggestRun) engine(ctx context.Context, policies []policy.Policy) *replay.Engine {
	return replay.New(replay.Options{Tables: r.reading.Tables, Policies: policies, Lateness: r.reading.Lateness, Stop: ctx.Err})
}

// finishWhole hands each track what was found of its limits.
func (r *suggestRun) finishWhole(found []replay.PolicyTally) {
	for _, t := range r.tracks {
		n := len(t.advice.WholeLimits())
		t.advice.FinishWhole(found[:n])
		found = found[n:]
	}
}

// uncounted are the limits to replay of each track.
func (r *suggestRun) uncounted(some func(*suggest.Advice) []suggest.Priced) (all []uncounted, err error) {
	for i, t := range r.tracks {
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

// wholePolicies are the limits to replay over the whole log, track by track.
func (r *suggestRun) wholePolicies() (all []policy.Policy, err error) {
	all = []policy.Policy{}
	for i, t := range r.tracks {
		for _, text := range t.advice.WholeLimits() {
			p, err := t.policy(i, text)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
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

// mark gives requests the mark of the track that is about their action.
func (r *suggestRun) mark(b *traffic.Batch) {
	if len(r.tracks) == 0 || r.tracks[0].action == "" {
		return
	}
	marks := map[uint16]uint64{}
	for i, t := range r.tracks {
		if id, known := r.reading.Tables.Actions.Find([]byte(t.action)); known {
			marks[uint16(id)] = 1 << i
		}
	}
	b.Marks = make([]uint64, b.Len())
	for row, action := range b.Action {
		b.Marks[row] = marks[action]
	}
}
