package report

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"shadow/limit"
	"shadow/traffic"
)

// Conditions are what --fail-if takes: expressions over figures of the report, such as browsers_hit_share > 0.001. Each
// is asked of every policy, and holds when it holds for any. docs/nightly.md lists the names.

// A Condition is one of them.
type Condition struct {
	text    string
	program *vm.Program
}

// ParseCondition reads a condition. With history it may ask what has changed.
func ParseCondition(text string, history bool) (*Condition, error) {
	names := namedFigures(&Model{}, &Policy{}, nil)
	if history {
		names = namedFigures(&Model{}, &Policy{}, &PolicyHistory{})
	}
	program, err := expr.Compile(text, expr.Env(names), expr.AsBool())
	if err != nil {
		return nil, explainCondition(text, names, history, err)
	}
	return &Condition{text, program}, nil
}

// explainCondition says in a line what is wrong with a condition.
func explainCondition(text string, names map[string]any, history bool, err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	rest, unknown := strings.CutPrefix(message, "unknown name ")
	if !unknown {
		return fmt.Errorf("%q: %s", text, message)
	}
	name, _, _ := strings.Cut(rest, " ")
	if _, known := namedFigures(&Model{}, &Policy{}, &PolicyHistory{})[name]; known && !history {
		return fmt.Errorf("%q: %s is known to shadow report only, which compares runs", text, name)
	}
	if near := limit.Nearest(name, slices.Sorted(maps.Keys(names))); near != "" {
		return fmt.Errorf("%q: there is no %s; did you mean %s?", text, name, near)
	}
	return fmt.Errorf("%q: there is no %s; docs/nightly.md lists what there is", text, name)
}

// String is the condition as it was given.
func (c *Condition) String() string { return c.text }

// Holds returns the policies for which the condition holds. One that cannot be decided, such as 1 % 0, is an error.
func (c *Condition) Holds(m *Model) (policies []string, err error) {
	for i := range m.Policies {
		p := &m.Policies[i]
		var h *PolicyHistory
		if m.History != nil {
			h = &m.History.Policies[i]
		}
		held, err := expr.Run(c.program, namedFigures(m, p, h))
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), "\n")
			return nil, fmt.Errorf("%q, of policy %s: %w", c.text, p.Policy, errors.New(message))
		}
		if held == true {
			policies = append(policies, p.Policy)
		}
	}
	return policies, nil
}

// ConditionNames are all that a condition may name.
func ConditionNames() []string {
	return slices.Sorted(maps.Keys(namedFigures(&Model{}, &Policy{}, &PolicyHistory{})))
}

// namedFigures gives the figures of a policy their names. Shares are from 0 to 1. h may be nil.
func namedFigures(m *Model, p *Policy, h *PolicyHistory) map[string]any {
	in := &m.Input
	figures := map[string]any{
		"policy": p.Policy, "by": p.By,
		"lines": in.Lines, "unreadable": in.Unreadable, "unreadable_share": in.UnreadablePercent / 100, "late": in.Late,
		"already_refused": in.AlreadyRefused,
		"requests":        p.Requests, "refused": p.Refused, "refused_share": p.RefusedPercent / 100,
		"clients": p.Clients, "clients_hit": p.ClientsHit, "clients_hit_share": p.ClientsHitPercent / 100,
		"delayed": p.Delayed, "bytes_saved": p.BytesSaved, "worst_minute_refused": int64(0),
	}
	if p.WorstMinute != nil {
		figures["worst_minute_refused"] = p.WorstMinute.Refused
	}
	for class, f := range p.ByClass {
		name := classPlural(traffic.Class(class))
		figures[name] = f.Clients
		figures[name+"_hit"], figures[name+"_hit_share"] = f.ClientsHit, shareOf(f.ClientsHit, f.Clients)
		figures[name+"_refused"], figures[name+"_refused_share"] = f.Refused, shareOf(f.Refused, f.Requests)
	}
	if h != nil {
		h.addFigures(figures, m.History)
	}
	return figures
}

// addFigures gives names to what has changed.
func (h *PolicyHistory) addFigures(figures map[string]any, all *History) {
	moved := func(name string, c Moved) {
		figures[name] = c.Clients
		for class, n := range c.ByClass {
			figures[name+"_"+classPlural(traffic.Class(class))] = n
		}
	}
	moved("newly_hit", h.NewlyHit)
	moved("released", h.Released)
	moved("repeat_offenders", h.Repeating)
	before := h.Before
	if figures["compared"] = before != nil; before == nil {
		before = &Before{}
	}
	figures["refused_share_before"], figures["clients_hit_share_before"] = before.RefusedPercent/100, before.ClientsHitPercent/100
	figures["new_actions"], figures["safe_limits_changed"] = int64(0), int64(0)
	if all != nil {
		figures["new_actions"], figures["safe_limits_changed"] = all.NewActions, int64(len(all.SafeLimits.Changed()))
	}
}

// classPlural is what conditions call the clients of a class.
func classPlural(c traffic.Class) string {
	if c == traffic.Unknown {
		return "unknown"
	}
	return c.String() + "s"
}

// shareOf is part of whole, 0 of nothing.
func shareOf(part, whole int64) float64 { return percentOf(part, whole) / 100 }

// WorthSaying tells whether a report has news: a client that is newly hit, an action that is new, a safe limit that has
// moved. Without an earlier run to compare with, it is news that anything is refused.
func (m *Model) WorthSaying() bool {
	if m.History == nil || len(m.History.Base) == 0 {
		return slices.ContainsFunc(m.Policies, func(p Policy) bool { return p.Refused > 0 })
	}
	h := m.History
	return h.NewActions > 0 || len(h.SafeLimits.Changed()) > 0 ||
		slices.ContainsFunc(h.Policies, func(p PolicyHistory) bool { return p.NewlyHit.Clients > 0 })
}
