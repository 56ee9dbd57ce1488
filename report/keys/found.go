package keys

import (
	"fmt"
	"slices"

	"shadow/internal/request"
	"shadow/internal/suggest"
	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/format"
)

// Keys that were found in a log are chosen on the first part of its time and validated on the rest.

// ofFirst is the question of the first part.
func (q Question) ofFirst(keys []request.Key) Question {
	q.By, q.Split = keys, nil
	return q
}

// Pick returns the keys of some that separate by what a result says, the best n for each question.
func Pick(res *sweep.KeysResult, q Question, by []request.Key, n int) (picked []request.Key) {
	for _, a := range New(res, q.ofFirst(by), report.Options{}).Answers {
		var rows []Row
		for _, row := range a.Keys[:min(n, len(a.Keys))] {
			if row.separates() {
				rows = append(rows, row)
			}
		}
		if a.longer != nil {
			rows = append(rows, *a.longer)
		}
		for _, row := range rows {
			if key, err := request.ParseKey(row.Key); err == nil && !slices.Contains(picked, key) {
				picked = append(picked, key)
			}
		}
	}
	return picked
}

// Best returns the keys that answer the questions about a result, by the windows asked for or by longer ones.
func Best(res *sweep.KeysResult, q Question) []request.Key {
	best := map[string]bool{}
	for _, a := range New(res, q, report.Options{}).Answers {
		best[a.Best], best[a.LongerKey] = true, true
	}
	return slices.DeleteFunc(slices.Clone(q.By), func(key request.Key) bool { return !best[key.String()] })
}

// nearlySeparated is the most that a key may hit on a sample, in percent of the protected visitors, to be worth a look at
// more requests.
const nearlySeparated = 4 * wellSeparated

// Likely returns the keys of some that may separate by what a sample says, the best n for each question and window.
func Likely(sample *sweep.KeysResult, q Question, by []request.Key, n int) []request.Key {
	k := New(sample, q.ofFirst(by), report.Options{})
	likely := map[string]bool{}
	for _, share := range q.Refuse {
		for period := range sample.Sides[0].Curves {
			rows := k.loosest(sample, period, share, q).Keys
			for _, row := range rows[:min(n, len(rows))] {
				likely[row.Key] = likely[row.Key] || row.Reached && row.ProtectedHitPercent <= nearlySeparated
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(by), func(key request.Key) bool { return !likely[key.String()] })
}

// named is the key that the answer names as one that separates, by the window asked for or by a longer one; nil: none does.
func (a *Answer) named() *Row {
	if a.separates() {
		return &a.Keys[0]
	}
	return a.longer
}

// validate says what the limit that is best on the first part does on the rest, for each answer that names a key found in the
// log. Of any other key it would speak beside the answer.
func (k *Report) validate(s *Split, q Question) {
	if s.Rest == nil {
		return // none separates there
	}
	target, protected := s.Rest.Requests.Of(q.Target), s.Rest.Visitors.Of(q.Protected)
	for i, a := range New(s.First, q.ofFirst(s.Found), report.Options{}).Answers {
		best := a.named()
		if best == nil || i >= len(k.Answers) {
			continue
		}
		if named := k.Answers[i].named(); named == nil || !slices.Contains(s.Found, request.Key(named.Key)) {
			continue
		}
		p := pointOf(s.Rest, best)
		v := Validated{
			Key: best.Key, Limit: best.Limit, ChosenOnPercent: s.Percent, Tried: len(s.Found),
			TargetRefused: p.Refused.Of(q.Target), TargetRequests: target, ProtectedHit: p.Hit.Of(q.Protected), Protected: protected,
		}
		v.TargetPercent = format.PercentOf(v.TargetRefused, target)
		v.ProtectedPercent = format.PercentOf(v.ProtectedHit, protected)
		v.MostPercent = float64(suggest.MostHitOf(protected, v.ProtectedHit, v.Tried)) / 1_000_000
		k.Answers[i].Validated = &v
	}
}

// pointOf returns what the limit of a row refuses in another result.
func pointOf(res *sweep.KeysResult, row *Row) (p sweep.Point) {
	for i := range res.Sides {
		side := &res.Sides[i]
		for j := range side.Curves {
			if c := &side.Curves[j]; side.By.String() == row.Key && c.Limit(row.n) == row.Limit {
				return c.At(row.n)
			}
		}
	}
	return p
}

// text says what was validated.
func (v *Validated) text() string {
	text := fmt.Sprintf("on the first %d %% of the time alone %s, %s, would be chosen of %s of the log; ", v.ChosenOnPercent, v.Key, v.Limit,
		format.Count(int64(v.Tried), "key"))
	if v.TargetRequests == 0 || v.Protected == 0 {
		return text + "the rest has too little to validate it"
	}
	return text + fmt.Sprintf("on the rest it refuses %s of the target and hits %s of %s, with 95 %% confidence at most %s of all such",
		format.Percentage(v.TargetPercent), format.Thousands(v.ProtectedHit), format.Count(v.Protected, "visitor"), format.Percentage(v.MostPercent))
}
