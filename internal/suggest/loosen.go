package suggest

import (
	"context"
	"slices"

	"shadow/internal/sweep"
)

// A limit that refuses more than half of the log is no answer, though it keeps the promise: what sends so much may be what
// the site is for. In its place the smallest limit of the shape is offered that refuses at most half. It is found by
// halving, since a larger limit never refuses more.

// A loosening looks for the smallest limit of a shape that does not refuse too much.
type loosening struct {
	of        Suggestion // whose chosen limit is the one that is tried
	low, high int64      // the largest known to refuse too much, and the smallest known not to, or the largest there is
	found     Candidate  // that of high; its Limit is 0 until it was tried
}

// loosen looks for such limits. What the chosen ones refuse must be known.
func (d *Advisor) loosen(ctx context.Context) error {
	for _, t := range d.tracks {
		t.advice.beginLoosening()
	}
	for more := true; more; {
		if err := d.price(ctx, (*Advice).probes); err != nil {
			return err
		}
		more = false
		for _, t := range d.tracks {
			more = t.advice.narrow() || more
		}
	}
	for _, t := range d.tracks {
		t.advice.finishLoosening()
	}
	return nil
}

// beginLoosening finds the limits that refuse too much.
func (a *Advice) beginLoosening() {
	some := a.market()
	for i := range some {
		s := &some[i]
		if s.Why != Found || !a.excessive(&s.Chosen) {
			continue
		}
		k := loosening{of: *s, low: s.Chosen.Limit}
		for _, p := range a.Choosing() {
			if points := p.Placements[0][s.curve].Points; len(points) > 0 {
				k.high = max(k.high, points[len(points)-1].Limit) // which hits no client
			}
		}
		if s.Kind == sweep.Token {
			k.high = min(k.high, s.Rate.MostBurst())
		}
		if k.high = s.family.plain(k.high); k.high > k.low {
			k.of.Chosen = a.candidate(&k.of, k.high)
			a.loosenings = append(a.loosenings, k)
		}
	}
}

// probes are the limits to try next.
func (a *Advice) probes() (all []Priced) {
	for i := range a.loosenings {
		all = uncounted(all, &a.loosenings[i].of, &a.loosenings[i].of.Chosen)
	}
	return all
}

// narrow goes by what they refuse, and reports whether there is more to try.
func (a *Advice) narrow() bool {
	a.loosenings = slices.DeleteFunc(a.loosenings, func(k loosening) bool {
		return k.found.Limit == 0 && a.excessive(&k.of.Chosen)
	})
	more := false
	for i := range a.loosenings {
		k := &a.loosenings[i]
		if tried := k.of.Chosen; a.excessive(&tried) {
			k.low = tried.Limit
		} else {
			k.high, k.found = tried.Limit, tried
		}
		if next := k.of.family.plain(k.low + (k.high-k.low)/2); k.low < next && next < k.high {
			k.of.Chosen, more = a.candidate(&k.of, next), true
		}
	}
	return more
}

// finishLoosening offers what was found, as far as the log can judge it.
func (a *Advice) finishLoosening() {
	for i := range a.loosenings {
		s := &a.loosenings[i].of
		s.Chosen = a.loosenings[i].found
		if a.fits(s.memory()) && a.tooSlow(s.Shape, s.Chosen.Limit) == Found && a.keeps(&s.Chosen, a.Keeps) {
			a.Looser = append(a.Looser, *s)
		}
	}
}
