package suggest

import (
	"cmp"
	"slices"

	"shadow/internal/sweep"
	"shadow/internal/traffic/who"
	"shadow/limit"
)

// Which suggestion comes first? All keep the promise on both parts that choose, so the one that refuses most of the
// target's requests there.

// RefusedTarget counts the requests of the target that a limit refuses on the parts that limits are chosen on.
func (a *Advice) RefusedTarget(c *Candidate) int64 { return c.refused(a.Target) }

// Compare orders suggestions that have a limit, the best first.
func (a *Advice) Compare(s, t *Suggestion) int {
	return cmp.Or(
		cmp.Compare(a.RefusedTarget(&t.Chosen), a.RefusedTarget(&s.Chosen)),
		cmp.Compare(s.Chosen.refused(a.Protected()), t.Chosen.refused(a.Protected())),
		cmp.Compare(s.Kind, t.Kind),
		cmp.Compare(s.Per, t.Per),
		cmp.Compare(s.Rate.Per, t.Rate.Per),
	)
}

// offered reports whether a limit may be an answer: it refuses something of the target, and not more than half of the log.
func (a *Advice) offered(c *Candidate) bool { return a.RefusedTarget(c) > 0 && !a.excessive(c) }

// excessive reports whether a limit refuses more than half of the log, attackers aside. What sends so many passwords is not what a
// site is for, either.
func (a *Advice) excessive(c *Candidate) bool { return !a.isLogin() && 2*c.refused(usual) > a.all }

// usual holds those that may be what a site is for.
const usual = who.Everybody &^ (1 << who.Attacker)

// Capped reports whether limits that keep the promise are no answer because they refuse more than half of the log.
func (a *Advice) Capped() bool {
	return slices.ContainsFunc(a.market(), func(s Suggestion) bool { return s.Why == Found && a.excessive(&s.Chosen) })
}

// AllCapped reports whether that is why there is no answer.
func (a *Advice) AllCapped() bool { return a.Answer.Of == nil && (a.tooMuch || a.Capped()) }

// Unfit reports whether limits that keep the promise are no answer because people could not live with them.
func (a *Advice) Unfit() bool {
	return slices.ContainsFunc(a.market(), func(s Suggestion) bool { return s.Why == BelowPace || s.Why == SlowToForget })
}

// bestOf is the best of some suggestions that may be an answer, nil if none may.
func (a *Advice) bestOf(all []Suggestion, some func(*Suggestion) bool) (best *Suggestion) {
	for i := range all {
		s := &all[i]
		if s.Why == Found && some(s) && a.offered(&s.Chosen) && (best == nil || a.Compare(s, best) < 0) {
			best = s
		}
	}
	return best
}

// similar is the share, in percent, of what the best limit refuses of the target, that another one must refuse to be
// preferred for forgiving sooner.
const similar = 80

// soonest is the least time to forgive that is worth preferring: stamps of whole seconds tell little of shorter ones.
const soonest = 10 * limit.Second

// deployable is the answer among some suggestions, nil if there is none: of those that refuse nearly as much of the target as
// the best the one that remembers least: clients that it hits by mistake are let in again the sooner. Of a login it is the one
// that leaves the fewest guesses.
func (a *Advice) deployable(all []Suggestion) *Suggestion {
	best := a.bestOf(all, func(*Suggestion) bool { return true })
	if best == nil {
		return nil
	}
	most := a.RefusedTarget(&best.Chosen)
	for i := range all {
		s := &all[i]
		better := s.memory() < best.memory() && s.memory() >= soonest
		if a.isLogin() {
			better = s.fewerGuesses(s.Chosen.Limit, best, best.Chosen.Limit) < 0
		}
		if s.Why == Found && better && a.offered(&s.Chosen) && share(a.RefusedTarget(&s.Chosen), most, similar) {
			best = s
		}
	}
	return best
}

// fewerGuesses compares what limits of two sizes leave an attacker: in a day, or else in an hour or a minute.
func (s *Suggestion) fewerGuesses(n int64, t *Suggestion, m int64) int {
	fewer := func(time limit.Time) int { return cmp.Compare(s.admits(n, time), t.admits(m, time)) }
	return cmp.Or(fewer(limit.Day), fewer(limit.Hour), fewer(limit.Minute))
}

// memory returns how long the chosen limit remembers a request.
func (s *Suggestion) memory() limit.Time {
	if s.Kind == sweep.Token {
		return refills(s.Rate, s.Chosen.Limit)
	}
	return s.Per
}

// Best is the best suggestion of a kind that may be an answer, nil if none may. What token buckets refuse must have been
// counted.
func (a *Advice) Best(kind sweep.Kind) (best *Suggestion) {
	return a.bestOf(a.Suggestions, func(s *Suggestion) bool { return s.Kind == kind })
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

// Uncounted returns the chosen limits whose refusals are not counted yet.
func (a *Advice) Uncounted() (all []Priced) {
	for _, some := range [][]Suggestion{a.Suggestions, a.Own} {
		for i := range some {
			all = uncounted(all, &some[i], &some[i].Chosen)
		}
	}
	return all
}

// families is of how many of a server's families that refuse most the neighbourhood is looked at.
const families = 2

// Alternatives returns runner-up limits not counted yet: those beside the best limit of each kind, and those near the
// best ones of the server. The chosen ones must be counted.
func (a *Advice) Alternatives() (all []Priced) {
	best := a.BestOfAll()
	for _, s := range best {
		all = uncounted(all, s, &s.Knee)
		for i := range s.Others {
			all = uncounted(all, s, &s.Others[i])
		}
	}
	var own []*Suggestion
	for i := range a.Own {
		if a.Own[i].Why == Found {
			own = append(own, &a.Own[i])
		}
	}
	slices.SortFunc(own, a.Compare)
	own = own[:min(len(own), families)]
	if s := a.deployable(a.Own); s != nil && !slices.Contains(own, s) {
		own = append(own, s)
	}
	for _, s := range own {
		s.try(a, near(s.Chosen.Limit, a.Banded()))
	}
	for i := range a.Looser {
		a.Looser[i].try(a, loosened(a.Looser[i].Chosen.Limit))
	}
	if s := a.deployable(a.Suggestions); len(a.Own) == 0 && s != nil {
		s.try(a, loosened(s.Chosen.Limit))
	}
	for _, some := range [][]Suggestion{a.Suggestions, a.Own, a.Looser} {
		for i := range some {
			for k := range some[i].tries {
				all = uncounted(all, &some[i], &some[i].tries[k])
			}
		}
	}
	return all
}

// try has other sizes looked at.
func (s *Suggestion) try(a *Advice, sizes []int64) {
	s.tries = nil
	for i := range sizes {
		sizes[i] = s.family.plain(sizes[i])
	}
	for _, n := range slices.Compact(sizes) {
		if (s.Kind != sweep.Token || n <= s.Rate.MostBurst()) && a.tooSlow(s.Shape, n) == Found {
			s.tries = append(s.tries, a.candidate(s, n))
		}
	}
}

// A Priced is a limit whose price is to be found by a replay.
type Priced struct {
	*Candidate
	Text string // its limit as replay takes it
	of   *Suggestion
}

// uncounted adds a limit if it is not known what it refuses.
func uncounted(all []Priced, s *Suggestion, c *Candidate) []Priced {
	if c.Limit == 0 || !slices.ContainsFunc(c.On[:], func(f Figures) bool { return !f.Counted }) {
		return all
	}
	if text, ok := s.family.text(c.Limit); ok {
		all = append(all, Priced{c, text, s})
	}
	return all
}
