package store

import (
	"fmt"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/store/duck"
	"shadow/limit"
	"shadow/replay"
)

// What each policy did. Policies of several runs are one when they have the same name and count by the same; which
// limits a name stands for may have changed in between, and then the latest hold and a warning says so.

// A samePolicy is what a policy of the result is made of.
type samePolicy struct {
	name, by string
	again    int // how many of the same run came before it with that name
	runs     []int32
	limits   map[int32]string // by run: its limits in words
	combine  map[int32]policy.Combine
}

func (l *loading) readPolicies() error {
	type row struct {
		Run, Policy       int32
		Name, By, Combine string
		WorstMinute       limit.Time
		Figures           [len(policyFigures)]*int64
	}
	return duck.Each(l.duck, `SELECT run, policy, name, counts_by, combine, worst_minute, `+figureColumns()+
		` FROM policies WHERE run IN `+l.runs+` ORDER BY run, policy`, func(p *row) (err error) {
		id := l.policyOf(p.Run, p.Name, p.By)
		if l.to.same[id].combine[p.Run], err = policy.ParseCombine(p.Combine); err != nil {
			return err
		}
		for i, n := range p.Figures {
			if n != nil {
				policyFigures[i].read(&l.to.Result.Policies[id], *n, p.WorstMinute)
			}
		}
		return l.policies.put(p.Run, p.Policy, id)
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
	type row struct {
		Policy                 int32
		By, Algorithm, Options string
		Count                  int64
		Period                 limit.Time
		Matches, Counts        string
	}
	scopes := map[string]policy.Scope{"": 0}
	for _, run := range l.order {
		fresh := map[int32]bool{} // policies whose limits are those of this run
		err := duck.Each(l.duck, fmt.Sprintf(`SELECT policy, counts_by, algorithm, options, limit_count, period_us, matches, counts
			FROM parts WHERE run = %d ORDER BY policy, part`, run), func(r *row) error {
			id, err := l.policies.at(run, r.Policy)
			if err != nil {
				return err
			}
			part := partOf(r.By, limit.Spec{Algorithm: r.Algorithm, Options: r.Options, Count: r.Count, Period: r.Period})
			part.MatchText, part.CountText = r.Matches, r.Counts
			part.Match, part.Count = scopeOf(scopes, r.Matches), scopeOf(scopes, r.Counts)
			p, words := &l.to.Result.Policies[id].Policy, l.to.same[id].limits
			if !fresh[id] {
				fresh[id], p.Parts, p.Combine = true, nil, l.to.same[id].combine[run]
			}
			p.Parts = append(p.Parts, part)
			switch {
			case words[run] != "":
				words[run] += " + "
			case p.Combine != policy.Together:
				words[run] = p.Combine.String() + ":"
			}
			words[run] += part.String()
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

// partOf is a limit. One that this shadow does not know has only its text to show.
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

// readTallies reads what each policy refused of which clients and actions.
func (l *loading) readTallies() error {
	type row struct {
		Run, Policy, Of int32 // a client or an action
		Refused         int64
		First, Last     limit.Time
	}
	read := func(columns, table string, of ids, take func(t *replay.PolicyTally, id int32, r *row)) error {
		return duck.Each(l.duck, "SELECT run, policy, "+columns+" FROM "+table+" WHERE run IN "+l.runs, func(r *row) error {
			policy, err := l.policies.at(r.Run, r.Policy)
			if err != nil {
				return err
			}
			id, err := of.at(r.Run, r.Of)
			if err == nil {
				take(&l.to.Result.Policies[policy], id, r)
			}
			return err
		})
	}
	err := read("client, refused, first_refused, last_refused", "client_tallies", l.clients, func(t *replay.PolicyTally, client int32, r *row) {
		t.Hits.Add(client, r.Refused, r.First, r.Last)
	})
	if err != nil {
		return err
	}
	return read("action, refused, NULL::TIMESTAMP, NULL::TIMESTAMP", "action_tallies", l.actions, func(t *replay.PolicyTally, action int32, r *row) {
		t.ByAction[action] += r.Refused
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

// warnChanged warns of a name that does not stand for the same limits throughout.
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

// warnTwice warns of runs over the same file, whose requests count twice.
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
	texts := mapped.Of(runs, func(run int32) string { return fmt.Sprint(run) })
	last := len(texts) - 1
	if last == 0 {
		return "run " + texts[0]
	}
	return "runs " + strings.Join(texts[:last], ", ") + " and " + texts[last]
}
