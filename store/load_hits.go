package store

import (
	"fmt"
	"strings"

	"shadow/limit"
)

// Whom and what each policy refused, and what there is to say of several runs taken together.

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
