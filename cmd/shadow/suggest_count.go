package main

import (
	"context"

	"shadow/policy"
	"shadow/replay"
	"shadow/suggest"
	"shadow/traffic"
)

// The curve of a token bucket tells whom each burst hits, but not how many requests it refuses. For the few bursts that
// were chosen a replay tells.

// countAll finds out what is refused: first by the chosen limits, and once it is known which are best, by those beside them.
func (r *suggestRun) countAll(ctx context.Context) error {
	if err := r.count(ctx, (*suggest.Advice).Uncounted); err != nil {
		return err
	}
	return r.count(ctx, (*suggest.Advice).Alternatives)
}

// An uncounted is a limit that is replayed for what it refuses.
type uncounted struct {
	candidate *suggest.Candidate
	policy    policy.Policy
}

// count finds out what is refused by some limits of each track.
func (r *suggestRun) count(ctx context.Context, some func(*suggest.Advice) []suggest.Priced) error {
	all, err := r.uncounted(some)
	if err != nil || len(all) == 0 {
		return err
	}
	policies := make([]policy.Policy, len(all))
	for i := range all {
		policies[i] = all[i].policy
	}
	var engines [2]*replay.Engine
	for i := range engines {
		engines[i] = replay.New(replay.Options{
			Tables: r.reading.Tables, Policies: policies, Lateness: r.reading.Lateness, Stop: ctx.Err,
		})
	}
	o := r.again()
	o.Tracer = nil
	if _, err = r.read(ctx, o, func(b *traffic.Batch) error {
		part, counted := r.part(b)
		r.mark(&counted)
		return engines[part].Judge(&counted)
	}); err != nil {
		return err
	}
	first, rest := engines[0].Result(r.survey.Stats), engines[1].Result(r.survey.Stats)
	for i := range all {
		c := all[i].candidate
		c.First, c.Rest = suggest.Count(&first.Policies[i].Hits, r.labels), suggest.Count(&rest.Policies[i].Hits, r.labels)
	}
	return nil
}

// uncounted are the limits to replay. Those of track i concern the requests that have mark i, if it is about an action.
func (r *suggestRun) uncounted(some func(*suggest.Advice) []suggest.Priced) (all []uncounted, err error) {
	for i, t := range r.tracks {
		for _, priced := range some(t.advice) {
			policies, err := policy.ParseLimits([]string{priced.Text}, policy.ByClient)
			if err != nil {
				return nil, err
			}
			if t.action != "" {
				part := &policies[0].Parts[0]
				part.Match, part.Count = policy.Scope(i+1), policy.Scope(i+1)
			}
			all = append(all, uncounted{priced.Candidate, policies[0]})
		}
	}
	return all, nil
}

// mark gives requests the mark of the track that is about their action.
func (r *suggestRun) mark(b *traffic.Batch) {
	if r.tracks[0].action == "" { // there is one at least, of which something is wanted
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
