package suggest

import (
	"context"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/match"
	"shadow/replay"
)

// The curve of a token bucket tells which clients each burst hits, but not how many requests it refuses. For the few
// bursts that were chosen a replay tells. So it does of a server's own limits, and of the answer over the whole log.

// countAll finds out what is refused: first by the chosen limits, and once it is known which are best, by those beside
// them. Then it looks for the answers.
func (d *Advisor) countAll(ctx context.Context) error {
	if err := d.price(ctx, (*Advice).Uncounted); err != nil {
		return err
	}
	if err := d.loosen(ctx); err != nil {
		return err
	}
	if err := d.price(ctx, (*Advice).Alternatives); err != nil {
		return err
	}
	for _, t := range d.tracks {
		t.advice.NameWhole(d.Found.Who, d.labels, d.Tables, d.Found.Clients)
	}
	if slices.ContainsFunc(d.tracks, func(t *track) bool { return t.advice.isLogin() }) {
		if err := d.overWhole(ctx); err != nil { // who logs in says by what to choose
			return err
		}
	}
	for _, t := range d.tracks {
		t.advice.settle()
		t.advice.pick()
	}
	// A limit that fails on the rest or on the whole log gives way to one that hits no client, and that to looser ones.
	for range attempts {
		if err := d.price(ctx, (*Advice).harmlessIfNone); err != nil {
			return err
		}
		for _, t := range d.tracks {
			t.advice.pickIfNone()
		}
		if err := d.overWhole(ctx); err != nil {
			return err
		}
		failed := false
		for _, t := range d.tracks {
			failed = t.advice.failed() || failed
		}
		if !failed {
			break
		}
	}
	for _, t := range d.tracks {
		t.advice.judge()
	}
	return nil
}

// attempts is the most times that an answer is looked for.
const attempts = 6

// price finds out what some limits of each track refuse.
func (d *Advisor) price(ctx context.Context, some func(*Advice) []Priced) error {
	all, err := d.unpriced(some)
	if err != nil || len(all) == 0 {
		return err
	}
	return d.count(ctx, all)
}

// An unpriced limit is replayed for what it refuses.
type unpriced struct {
	Priced
	track  *track
	policy policy.Policy
}

// unpriced are the limits to replay of each track.
func (d *Advisor) unpriced(some func(*Advice) []Priced) (all []unpriced, err error) {
	for i, t := range d.tracks {
		for _, priced := range some(t.advice) {
			p, err := t.policy(i, priced.Text)
			if err != nil {
				return nil, err
			}
			all = append(all, unpriced{priced, t, p})
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

// count finds out what is refused by some limits on each part, in as many passes as their states want.
func (d *Advisor) count(ctx context.Context, all []unpriced) error {
	r := newRepeaters(d.Tables, d.refusable(all))
	for len(all) > 0 {
		n := min(len(all), r.atOnce())
		if err := d.pass(ctx, r, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// refusable tells by client whether some of the limits may refuse something to it on some part of the log: whether it
// needs more of the curve that is nearest.
func (d *Advisor) refusable(all []unpriced) []bool {
	type place struct {
		track *track
		curve int
		own   bool // of a server, in its own arithmetic
	}
	strictest := map[place]*Priced{} // no other one of its family refuses more
	for i := range all {
		at := place{all[i].track, all[i].of.curve, all[i].of.family.own != nil}
		if old := strictest[at]; old == nil || all[i].Limit < old.Limit {
			strictest[at] = &all[i].Priced
		}
	}
	wanted := make([]bool, d.Found.Clients.Len())
	for _, t := range d.tracks {
		var curves []int
		for at := range strictest {
			if at.track == t {
				curves = append(curves, at.curve)
			}
		}
		for _, part := range t.parts {
			part.Needs(curves, func(curve int, client int32, need int64) {
				requests := d.Found.Clients.At(client).Requests()
				for _, own := range []bool{false, true} {
					limit := strictest[place{t, curve, own}]
					wanted[client] = wanted[client] || limit != nil && limit.of.family.mostNeeded(need, requests) > limit.Limit
				}
			})
		}
	}
	return wanted
}

// repeaters are the clients that came more than once.
func (d *Advisor) repeaters() *repeaters {
	wanted := make([]bool, d.Found.Clients.Len())
	for id := range wanted {
		wanted[id] = d.Found.Clients.At(int32(id)).Requests() > 1
	}
	return newRepeaters(d.Tables, wanted)
}

// pass is one pass over the requests.
func (d *Advisor) pass(ctx context.Context, r *repeaters, all []unpriced) error {
	policies := make([]policy.Policy, len(all))
	for i := range all {
		policies[i] = all[i].policy
	}
	var parts [PartCount]*replay.Engine
	for i := range parts {
		parts[i] = d.engine(ctx, r, policies)
	}
	if err := d.Again(func(b *traffic.Batch) error {
		return d.cuts.divide(b, func(part int, b *traffic.Batch) error {
			d.mark(b)
			return parts[part].Judge(r.of(b))
		})
	}); err != nil {
		return err
	}
	for part, engine := range parts {
		found := engine.Result(d.Found.Stats).Policies
		for i := range all {
			all[i].Candidate.On[part] = Count(r.hits(&found[i].Hits), d.labels)
		}
	}
	return nil
}

func (d *Advisor) engine(ctx context.Context, r *repeaters, policies []policy.Policy) *replay.Engine {
	return replay.New(replay.Options{
		Tables: r.tables, Policies: policies, Lateness: d.Lateness, Stop: ctx.Err, Bare: true,
	})
}

// overWhole finds out what the answers and what is offered in their place do to the whole log.
func (d *Advisor) overWhole(ctx context.Context) error {
	policies := []policy.Policy{} // the limits to replay, track by track
	for i, t := range d.tracks {
		t.advice.Whole.Reset()
		for _, text := range t.advice.WholeLimits() {
			p, err := t.policy(i, text)
			if err != nil {
				return err
			}
			policies = append(policies, p)
		}
	}
	r := d.repeaters()
	engine := d.engine(ctx, r, policies)
	if err := d.Again(func(b *traffic.Batch) error {
		d.mark(b)
		for _, t := range d.tracks {
			t.advice.Whole.Take(b, func(row int) bool { return d.cuts.there[Rest] && b.At[row] >= d.cuts.at[Rest] })
		}
		return engine.Judge(r.of(b))
	}); err != nil {
		return err
	}
	found := engine.Result(d.Found.Stats).Policies
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
		for _, id := range match.FindActions(d.Tables.Actions, t.action) {
			if id >= 0 {
				marks[uint16(id)] = 1 << i
			}
		}
	}
	b.Marks = make([]uint64, b.Len())
	for row, action := range b.Action {
		b.Marks[row] = marks[action]
	}
}
