package replay

import (
	"slices"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/limit"
)

// The band of a policy are two policies more, in which its limits' bounds stand for them: see limit.Bounds. They
// judge the same timelines of the same batches. What comes out as logged is not touched by them.

// A Band says what there is a band of.
type Band struct {
	Movable int64 // counted requests whose stamps are whole seconds
}

// A Bound counts what a policy refuses at least, or at most.
type Bound struct {
	Refused int64
	Hits    Hits
}

// The bounds of a candidate.
const (
	low = iota
	high
	bounds
)

// Expect adds the bounds of all policies, if they are wanted: before the first batch is judged, and before what they
// remember is restored.
func (e *Engine) Expect(stamps traffic.Coarseness) {
	if !e.options.Band || e.bounded || stamps.Slack == 0 {
		return
	}
	e.bounded = true
	for _, c := range e.candidates {
		for i, p := range boundsOf(c.policy, stamps) {
			c.bounds[i] = e.add(p, -1-i, true) // variants have numbers from 1 on
		}
	}
}

// boundsOf returns the policies between which p lies.
func boundsOf(p policy.Policy, stamps traffic.Coarseness) (all [bounds]policy.Policy) {
	for i := range all {
		all[i] = p
		all[i].Parts = make([]policy.Part, len(p.Parts))
		copy(all[i].Parts, p.Parts)
	}
	for i := range p.Parts {
		l := p.Parts[i].Limiter
		all[low].Parts[i].Limiter, all[high].Parts[i].Limiter = limit.Bounds(l, slackOf(l, stamps))
	}
	return all
}

// slackOf returns by how much stamps may be off for a limit. A limit that delays has moved stamps of the end itself, if
// it was in force when the log was written.
func slackOf(l limit.Limiter, stamps traffic.Coarseness) limit.Time {
	slack := stamps.Slack
	if d, ok := l.(limit.Delayer); ok && stamps.Ends {
		slack += min(d.LongestDelay(), limit.Never-slack)
	}
	return slack
}

// boundTally returns the bounds of a policy, nil without any.
func (c *candidate) boundTally() *[bounds]Bound {
	if c.bounds[low] == nil {
		return nil
	}
	var t [bounds]Bound
	for i, b := range c.bounds {
		t[i] = Bound{Refused: b.did.Refused, Hits: b.hits}
	}
	return &t
}

// variantsOf returns the policies that p may also mean: each approximation among its limits may be any of its variants.
// The first is p itself.
func variantsOf(p policy.Policy) []policy.Policy {
	all := []policy.Policy{p}
	for i, part := range p.Parts {
		approximation, ok := part.Limiter.(limit.Approximation)
		if !ok {
			continue
		}
		for _, so := range slices.Clone(all) {
			for _, limiter := range approximation.Variants() {
				other := so
				other.Parts = slices.Clone(so.Parts)
				other.Parts[i].Limiter = limiter
				all = append(all, other)
			}
		}
	}
	return all
}
