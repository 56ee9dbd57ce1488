package store

import (
	"fmt"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/request"
)

// What each policy did. Policies of several runs are one when they have the same name and count by the same; which limits
// a name stands for may have changed in between, and then the latest hold and a warning says so.

// A samePolicy is what a policy of the result is made of.
type samePolicy struct {
	name, by string
	again    int // how many of the same run came before it with that name
	runs     []int32
	limits   map[int32]string // by run: its limits in words
	combine  map[int32]policy.Combine
}

func (l *loading) readPolicies() error {
	return l.each(`SELECT run, policy, requests, refused, bytes_saved, worst_minute, worst_minute_refused, upstream_saved_us,
		delayed, delay_total_us, delay_p50_us, delay_p99_us, refused_low, refused_high, clients_hit_low, clients_hit_high, name, counts_by,
		degraded, degraded_refused, combine FROM policies WHERE run IN `+l.runs+` ORDER BY run, policy`, func(b *block, row int) (err error) {
		number := func(i int) int64 { return values[int64](b, i)[row] }
		run := values[int32](b, 0)[row]
		id := l.policyOf(run, b.text(16, row), b.text(17, row))
		t := &l.to.Result.Policies[id]
		if l.to.same[id].combine[run], err = policy.ParseCombine(b.text(20, row)); err != nil {
			return err
		}
		t.Requests += number(2)
		t.Refused += number(3)
		t.BytesSaved += number(4)
		t.Degraded.Requests += number(18)
		t.Degraded.Refused += number(19)
		t.UpstreamSaved += limit.Time(orElse[int64](b, 7, row, 0))
		if minute := number(6); minute > t.WorstMinuteRefused {
			t.WorstMinute, t.WorstMinuteRefused = values[limit.Time](b, 5)[row], minute
		}
		if !b.null(8, row) {
			t.Delays = sumDelays(t.Delays, replay.Delays{
				Requests: number(8), Total: limit.Time(number(9)), P50: limit.Time(number(10)), P99: limit.Time(number(11)),
			})
		}
		if !b.null(12, row) {
			t.Range = sumRanges(t.Range, replay.Range{
				Refused: [2]int64{number(12), number(13)}, ClientsHit: [2]int64{number(14), number(15)},
			})
		}
		return l.policies.put(run, values[int32](b, 1)[row], id)
	})
}

// policyOf is the policy of the result that one of a run belongs to, taken in if it is new.
func (l *loading) policyOf(run int32, name, by string) int32 {
	res, again := l.to.Result, 0
	for i := range l.to.same {
		switch s := &l.to.same[i]; {
		case s.name != name || s.by != by:
		case s.runs[len(s.runs)-1] == run:
			again++
		case s.again == again:
			s.runs = append(s.runs, run)
			return int32(i)
		}
	}
	l.to.same = append(l.to.same, samePolicy{
		name: name, by: by, again: again, runs: []int32{run},
		limits: map[int32]string{}, combine: map[int32]policy.Combine{},
	})
	res.Policies = append(res.Policies, replay.PolicyTally{
		Policy: policy.Policy{Name: name}, ByAction: make([]int64, len(res.Actions)),
	})
	return int32(len(res.Policies) - 1)
}

// sumDelays takes the longer of percentiles: those of all are not known.
func sumDelays(sum *replay.Delays, d replay.Delays) *replay.Delays {
	if sum == nil {
		return &d
	}
	return &replay.Delays{
		Requests: sum.Requests + d.Requests, Total: sum.Total + d.Total, P50: max(sum.P50, d.P50), P99: max(sum.P99, d.P99),
	}
}

// sumRanges takes the widest range of clients: whom several runs hit may be the same or others.
func sumRanges(sum *replay.Range, r replay.Range) *replay.Range {
	if sum == nil {
		return &r
	}
	return &replay.Range{
		Refused:    [2]int64{sum.Refused[0] + r.Refused[0], sum.Refused[1] + r.Refused[1]},
		ClientsHit: [2]int64{max(sum.ClientsHit[0], r.ClientsHit[0]), sum.ClientsHit[1] + r.ClientsHit[1]},
	}
}

// readParts goes through the runs in their order: the limits of the latest hold.
func (l *loading) readParts() error {
	scopes := map[string]policy.Scope{"": 0}
	for _, run := range l.order {
		fresh := map[int32]bool{} // policies whose limits are those of this run
		err := l.each(fmt.Sprintf(`SELECT policy, counts_by, algorithm, options, limit_count, period_us, matches, counts, limit_text
			FROM parts WHERE run = %d ORDER BY policy, part`, run), func(b *block, row int) error {
			id, err := l.policies.at(run, values[int32](b, 0)[row])
			if err != nil {
				return err
			}
			part := partOf(b.text(1, row), limit.Spec{
				Algorithm: b.text(2, row), Options: b.text(3, row),
				Count: values[int64](b, 4)[row], Period: limit.Time(values[int64](b, 5)[row]),
			})
			part.MatchText, part.CountText = b.text(6, row), b.text(7, row)
			part.Match, part.Count = scopeOf(scopes, part.MatchText), scopeOf(scopes, part.CountText)
			p := &l.to.Result.Policies[id].Policy
			if !fresh[id] {
				fresh[id], p.Parts, p.Combine = true, nil, l.to.same[id].combine[run]
			}
			p.Parts = append(p.Parts, part)
			words := &l.to.same[id].limits
			switch text := (*words)[run]; {
			case text != "":
				(*words)[run] = text + " + " + part.String()
			case p.Combine != policy.Together:
				(*words)[run] = p.Combine.String() + ":" + part.String()
			default:
				(*words)[run] = part.String()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scopeOf gives equal words equal scopes, which is all that a report asks of them.
func scopeOf(scopes map[string]policy.Scope, words string) policy.Scope {
	if _, known := scopes[words]; !known {
		scopes[words] = policy.Scope(min(len(scopes), 255))
	}
	return scopes[words]
}

// partOf is a limit. One that this shadow does not know has no more to tell than its text.
func partOf(by string, spec limit.Spec) policy.Part {
	key, err := request.ParseKey(by)
	if err != nil {
		return policy.Part{Spec: spec}
	}
	p, err := policy.New(spec, key)
	if err != nil {
		return policy.Part{Spec: spec, By: key}
	}
	return p.Parts[0]
}
