package store

import (
	"fmt"
	"strings"

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
	const first = 6 // figure
	query := `SELECT run, policy, name, counts_by, combine, worst_minute, ` + readColumns() +
		` FROM policies WHERE run IN ` + l.runs + ` ORDER BY run, policy`
	return l.each(query, func(b *block, row int) (err error) {
		run := values[int32](b, 0)[row]
		id := l.policyOf(run, b.text(2, row), b.text(3, row))
		if l.to.same[id].combine[run], err = policy.ParseCombine(b.text(4, row)); err != nil {
			return err
		}
		minute := orElse[limit.Time](b, 5, row, 0)
		for i, f := range readFigures {
			if !b.null(first+i, row) {
				f.read(&l.to.Result.Policies[id], values[int64](b, first+i)[row], minute)
			}
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

// What each policy refused of which clients, and what there is to say of several runs taken together.

func (l *loading) readHits() error {
	return l.each(`SELECT run, policy, client, refused, first_refused, last_refused FROM client_tallies WHERE run IN `+l.runs, func(b *block, row int) error {
		run := values[int32](b, 0)[row]
		id, err := l.policies.at(run, values[int32](b, 1)[row])
		if err != nil {
			return err
		}
		client, err := l.clients.at(run, values[int32](b, 2)[row])
		if err != nil {
			return err
		}
		first, last := values[limit.Time](b, 4)[row], values[limit.Time](b, 5)[row]
		l.to.Result.Policies[id].Hits.Add(client, values[int64](b, 3)[row], first, last)
		return nil
	})
}

func (l *loading) readActionTallies() error {
	return l.each(`SELECT run, policy, action, refused FROM action_tallies WHERE run IN `+l.runs, func(b *block, row int) error {
		run := values[int32](b, 0)[row]
		id, err := l.policies.at(run, values[int32](b, 1)[row])
		if err != nil {
			return err
		}
		action, err := l.actions.at(run, values[int32](b, 2)[row])
		if err != nil {
			return err
		}
		l.to.Result.Policies[id].ByAction[action] += values[int64](b, 3)[row]
		return nil
	})
}

// judgeTogether warns of what several runs have not in common.
func (l *loading) judgeTogether() error {
	if len(l.order) < 2 {
		return nil
	}
	for i := range l.to.same {
		s := &l.to.same[i]
		if len(s.runs) < len(l.order) {
			l.warn("policy %s was judged in %d of %d runs only (%s): its share of requests is of those, its share of clients of all",
				s.name, len(s.runs), len(l.order), runNumbers(s.runs))
		}
		l.warnChanged(s)
		if l.to.Result.Policies[i].Delays != nil && len(s.runs) > 1 {
			l.warn("policy %s: percentiles of delays are the longest of any run", s.name)
		}
	}
	l.warnTwice()
	if err := l.sumMinutes(); err != nil {
		return err
	}
	return l.findApart()
}

// warnChanged tells of a name that does not stand for the same limits throughout.
func (l *loading) warnChanged(s *samePolicy) {
	before := ""
	for _, run := range l.order {
		limits, has := s.limits[run]
		if has && before != "" && limits != before {
			l.warn("policy %s is not the same in all runs: in run %d it is %s, before it was %s", s.name, run, limits, before)
			return
		}
		if has {
			before = limits
		}
	}
}

// warnTwice tells of runs over the same file, whose requests count twice.
func (l *loading) warnTwice() {
	seen := map[identity]string{}
	for i := range l.to.Result.Stats.Inputs {
		in := &l.to.Result.Stats.Inputs[i]
		id := identity{in.Size, in.Head, in.Tail}
		if id.head == 0 || in.Lines == 0 {
			continue
		}
		if other, twice := seen[id]; twice {
			l.warn("several of these runs read the same log, and count twice what both of them judged: %s", other)
			return
		}
		seen[id] = in.Name
	}
}

func (l *loading) warn(format string, args ...any) {
	l.to.Warnings = append(l.to.Warnings, fmt.Sprintf(format, args...))
}

// runNumbers names runs: "run 7", "runs 3, 4 and 7".
func runNumbers(runs []int32) string {
	texts := make([]string, len(runs))
	for i, run := range runs {
		texts[i] = fmt.Sprint(run)
	}
	last := len(texts) - 1
	if last == 0 {
		return "run " + texts[0]
	}
	return "runs " + strings.Join(texts[:last], ", ") + " and " + texts[last]
}
