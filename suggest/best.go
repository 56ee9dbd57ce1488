package suggest

import (
	"cmp"
	"slices"

	"shadow/sweep"
)

// Which suggestion comes first? All keep the promise where they were chosen, so the one that refuses most of the
// target's requests; but one that holds on the rest goes before one that does not. Of several that are equal in what they refuse, one that nginx has
// goes before one that it has not.

// RefusedTarget is how many requests of the target a limit refuses on the part that limits are chosen on.
func (a *Advice) RefusedTarget(c *Candidate) int64 { return c.First.Refused.Of(a.Target) }

// Compare orders suggestions that have a limit, the best first.
func (a *Advice) Compare(s, t *Suggestion) int {
	return cmp.Or(
		behind(s.Proof == Fails)-behind(t.Proof == Fails),
		cmp.Compare(a.RefusedTarget(&t.Chosen), a.RefusedTarget(&s.Chosen)),
		cmp.Compare(s.Chosen.First.Refused.Of(a.protected()), t.Chosen.First.Refused.Of(a.protected())),
		behind(!s.InNginx)-behind(!t.InNginx),
		cmp.Compare(s.Kind, t.Kind),
		cmp.Compare(s.Per, t.Per),
		cmp.Compare(s.Rate.Per, t.Rate.Per),
	)
}

// behind puts what it is true of behind all others.
func behind(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Best is the best suggestion of a kind that refuses something of the target, nil if none does. What token
// buckets refuse must have been counted.
func (a *Advice) Best(kind sweep.Kind) (best *Suggestion) {
	for i := range a.Suggestions {
		s := &a.Suggestions[i]
		if s.Kind == kind && s.Why == Found && a.RefusedTarget(&s.Chosen) > 0 && (best == nil || a.Compare(s, best) < 0) {
			best = s
		}
	}
	return best
}

// BestOfAll are the best ones of each kind, the best first.
func (a *Advice) BestOfAll() (all []*Suggestion) {
	for kind := range sweep.KindCount {
		if s := a.Best(kind); s != nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, a.Compare)
	return all
}
