package report

import (
	"shadow/report/format"
	"shadow/report/history"
	"shadow/traffic/useragent"
)

// The figures that conditions may name. This is the one place that defines them: what a condition reads, what shadow help
// fail-if lists, and what the test of docs/nightly.md goes by.

// A Scope says where figures are known.
type Scope uint8

// The scopes.
const (
	Always       Scope = iota
	WithEvidence       // where evidence was gathered
	WithHistory        // where runs are compared
	scopeCount
)

// A Figure is one or several that are alike.
type Figure struct {
	Scope   Scope
	Names   []string
	Meaning string

	of func(t *told, i int) any // of name i
}

// told is what the figures of a policy are taken from.
type told struct {
	model   *Model
	policy  *Policy
	history *history.Policy // nil: none
}

// Figures are all that there are, in the order in which they are listed.
func Figures() []Figure {
	return append(append(append(policyFigures(), classFigures()...), evidenceFigures()...), historyFigures()...)
}

func policyFigures() []Figure {
	return []Figure{
		one("policy", "name of the policy, as in the report", func(t *told) any { return t.policy.Policy }),
		one("by", "what it counts by", func(t *told) any { return t.policy.By }),
		one("requests", "requests judged", func(t *told) any { return t.policy.Requests }),
		one("refused", "requests refused", func(t *told) any { return t.policy.Refused }),
		one("refused_share", "of the requests", func(t *told) any { return t.policy.RefusedPercent / 100 }),
		one("clients", "clients with a request", func(t *told) any { return t.policy.Clients }),
		one("clients_hit", "clients with a refused request", func(t *told) any { return t.policy.ClientsHit }),
		one("clients_hit_share", "of the clients", func(t *told) any { return t.policy.ClientsHitPercent / 100 }),
		one("delayed", "requests that had to wait", func(t *told) any { return t.policy.Delayed }),
		one("degraded", "requests judged while Redis was away, or slower than the log grew", func(t *told) any { return t.policy.Degraded }),
		one("worst_minute_refused", "refused in the minute with most refusals", func(t *told) any { return t.policy.worstMinute() }),
		one("bytes_saved", "bytes that the refused requests were answered with", func(t *told) any { return t.policy.BytesSaved }),
		one("lines", "lines read", func(t *told) any { return t.model.Input.Lines }),
		one("unreadable", "lines that could not be read", func(t *told) any { return t.model.Input.Unreadable }),
		one("unreadable_share", "of the lines", func(t *told) any { return t.model.Input.UnreadablePercent / 100 }),
		one("late", "requests that came later than --lateness allows", func(t *told) any { return t.model.Input.Late }),
		one("already_refused", "requests that the server itself answered with 429 or 503", func(t *told) any { return t.model.Input.AlreadyRefused }),
	}
}

func (p *Policy) worstMinute() int64 {
	if p.WorstMinute == nil {
		return 0
	}
	return p.WorstMinute.Refused
}

// classFigures are those by the class that clients claim.
func classFigures() []Figure {
	return clientFigures(Always, classNames(""), "clients of the class that most of their requests claim",
		func(t *told, class int) ClassFigures { return t.policy.ByClass[class] })
}

// evidenceFigures divide the browsers.
func evidenceFigures() []Figure {
	return clientFigures(WithEvidence, []string{"people", "disguised"}, "browsers whose evidence does not contradict the claim, and those whose evidence does",
		func(t *told, i int) ClassFigures {
			d := t.policy.ByEvidence
			if d == nil {
				return ClassFigures{}
			}
			return [...]ClassFigures{d.People, d.Disguised}[i]
		})
}

// clientFigures are the same figures of some groups of clients.
func clientFigures(scope Scope, names []string, who string, of func(t *told, group int) ClassFigures) []Figure {
	figure := func(suffix, meaning string, value func(ClassFigures) any) Figure {
		all := make([]string, len(names))
		for i, name := range names {
			all[i] = name + suffix
		}
		return Figure{Scope: scope, Names: all, Meaning: meaning, of: func(t *told, i int) any { return value(of(t, i)) }}
	}
	return []Figure{
		figure("", who, func(f ClassFigures) any { return f.Clients }),
		figure("_hit", "of these, hit", func(f ClassFigures) any { return f.ClientsHit }),
		figure("_hit_share", "of these clients", func(f ClassFigures) any { return format.ShareOf(f.ClientsHit, f.Clients) }),
		figure("_refused", "requests refused to them", func(f ClassFigures) any { return f.Refused }),
		figure("_refused_share", "of their requests", func(f ClassFigures) any { return format.ShareOf(f.Refused, f.Requests) }),
	}
}

// historyFigures are what has changed.
func historyFigures() []Figure {
	all := []Figure{
		since("compared", "whether a base run has the policy; what follows is 0 otherwise, apart from repeat offenders",
			func(t *told) any { return t.history.Before != nil }),
		since("refused_share_before", "of the requests of the base runs", func(t *told) any { return t.history.Sums().RefusedPercent / 100 }),
		since("clients_hit_share_before", "of the clients of the base runs", func(t *told) any { return t.history.Sums().ClientsHitPercent / 100 }),
	}
	all = append(all, relocated("newly_hit", "clients that it hits and hit in none of the base runs, and of each class", func(h *history.Policy) *history.Moved { return &h.NewlyHit })...)
	all = append(all, relocated("released", "clients that it hit in a base run and does not hit any more", func(h *history.Policy) *history.Moved { return &h.Released })...)
	all = append(all, relocated("repeat_offenders", "clients that it hit on 3 of the last 7 days", func(h *history.Policy) *history.Moved { return &h.Repeating })...)
	return append(all,
		since("new_actions", "actions that no base run has", func(t *told) any { return t.allHistory().NewActions }),
		since("safe_limits_changed", "safe limits that have moved", func(t *told) any { return int64(len(t.allHistory().SafeLimits.Changed())) }),
	)
}

// one is a figure with a name of its own.
func one(name, meaning string, of func(t *told) any) Figure {
	return Figure{Names: []string{name}, Meaning: meaning, of: func(t *told, _ int) any { return of(t) }}
}

func since(name, meaning string, of func(t *told) any) Figure {
	f := one(name, meaning, of)
	f.Scope = WithHistory
	return f
}

// classNames are what conditions call the clients of each class.
func classNames(prefix string) (names []string) {
	for class := range useragent.ClassCount {
		names = append(names, prefix+classPlural(class))
	}
	return names
}

// relocated are clients that have moved: in all, and of each class.
func relocated(name, meaning string, of func(*history.Policy) *history.Moved) []Figure {
	return []Figure{
		since(name, meaning, func(t *told) any { return of(t.history).Clients }),
		{Scope: WithHistory, Names: classNames(name + "_"), of: func(t *told, i int) any { return of(t.history).ByClass[i] }},
	}
}

func (t *told) allHistory() *history.History {
	if t.model.History == nil {
		return &history.History{}
	}
	return t.model.History
}

// classPlural is what conditions call the clients of a class.
func classPlural(c useragent.Class) string {
	if c == useragent.Unknown {
		return "unknown"
	}
	return c.String() + "s"
}
