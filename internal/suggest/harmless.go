package suggest

import (
	"cmp"
	"math"
	"slices"

	"shadow/internal/traffic/who"
	"shadow/limit"
)

// harmless has the limits that hit no client to protect looked at. Once a limit has failed on the rest, that has a say as
// well: then nothing validates the answer.
func (a *Advice) harmless() (all []Priced) {
	some := a.market()
	for i := range some {
		s := &some[i]
		s.tries = nil
		n, why := a.smallest(s, func(f *Figures, _ *who.Groups) bool { return a.hitsNone(f) })
		if rest := a.Parts[Rest]; why == Found && a.Answer.Broke != "" && rest != nil && rest.Clients.Of(a.Protected()) > 0 {
			there, ok := Strictest(rest.curve(s.curve), a.hitsNone)
			if n = max(n, there); !ok {
				why = Broken
			}
		}
		if why != Found {
			continue
		}
		n = limit.CeilDiv(min(n, math.MaxInt64/1000)*(100+leastRoom), 100)
		if a.byGuesses() {
			least, ok := leastTries(s.Shape)
			if !ok {
				continue
			}
			n = max(n, least)
		}
		n = limit.CeilDiv(min(n, math.MaxInt64/1000)*(100+a.room), 100)
		sizes := []int64{n}
		if s.family.own != nil {
			sizes = append(sizes, n+1, n+2, n+n/10)
		}
		s.try(a, sizes)
		for k := range s.tries {
			all = uncounted(all, s, &s.tries[k])
		}
	}
	return all
}

// leastRoom is the percentage by which a safety net is looser than its busiest spared client: the next may be busier.
const leastRoom = 20

// harmlessIfNone returns the limits that pickIfNone chooses from.
func (a *Advice) harmlessIfNone() (all []Priced) {
	switch {
	case a.Answer.Of != nil:
		return nil
	case len(a.Ceilings) == 0:
		return a.harmless()
	}
	if s, n := a.ceiling(); s != nil {
		s.tries = []Candidate{a.candidate(s, n)}
		all = uncounted(all, s, &s.tries[0])
	}
	return all
}

// ceiling returns the first of Ceilings that the market has; nil: none.
func (a *Advice) ceiling() (of *Suggestion, n int64) {
	some := a.market()
	for _, c := range a.Ceilings {
		if i := slices.IndexFunc(some, func(s Suggestion) bool { return s.Shape == c.Shape }); i >= 0 {
			return &some[i], c.N
		}
	}
	return nil, 0
}

// pickIfNone calls pickHarmless, unless there is an answer. Where no client to protect sends such requests, the answer
// goes by what it leaves to those who do: the first of Ceilings that the market has.
func (a *Advice) pickIfNone() {
	switch {
	case a.Answer.Of != nil:
	case len(a.Ceilings) == 0:
		a.pickHarmless()
	default:
		if s, _ := a.ceiling(); s != nil {
			a.take(s, s.tries[0])
			a.Answer.loose = true
		}
	}
}

// pickHarmless chooses the answer among limits that hit no client to protect: the one that stops most, and of several the
// one that allows least in a minute. Where it goes by guesses, the one that leaves fewest in a day comes first.
func (a *Advice) pickHarmless() {
	type option struct {
		of *Suggestion
		Candidate
	}
	var options []option
	some := a.market()
	a.excess = false
	for i := range some {
		for _, c := range some[i].tries {
			none := a.keeps(&c, func(f *Figures, _ *who.Groups) bool { return a.hitsNone(f) })
			if !none || a.Answer.Broke != "" && !a.hitsNone(&c.On[Rest]) {
				continue
			}
			if a.byGuesses() || !a.excessive(&c) {
				options = append(options, option{&some[i], c})
				break
			}
			a.excess = true
		}
	}
	if len(options) == 0 {
		return
	}
	best := slices.MinFunc(options, func(x, y option) int {
		fewer := func(time limit.Time) int { return cmp.Compare(x.of.admits(x.Limit, time), y.of.admits(y.Limit, time)) }
		stops := cmp.Compare(a.RefusedTarget(&y.Candidate), a.RefusedTarget(&x.Candidate))
		if a.byGuesses() {
			return cmp.Or(x.of.fewerGuesses(x.Limit, y.of, y.Limit), stops)
		}
		return cmp.Or(stops, fewer(limit.Minute), fewer(limit.Hour))
	})
	a.take(best.of, best.Candidate)
	a.Answer.loose = true
	if a.Answer.Broke != "" {
		// The log chose one of so many limits, each as the least that hits none of n. Of one such limit the bound is that
		// of n clients of which none is hit (S. S. Wilks, Determination of sample sizes for setting tolerance limits, Annals
		// of Mathematical Statistics 12 (1941), 91–96); of all of them it takes as many times the confidence.
		a.Answer.Proof = NotTried
		a.Answer.MostHit = mostHit(a.Whole.Groups.Of(a.Protected()), 0, 0.05/float64(len(options)))
	}
}
