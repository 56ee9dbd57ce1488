package report

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"shadow/internal/lazy"
	"shadow/limit"
	"shadow/report/history"
)

// Conditions are the values of --fail-if: expressions over figures of the report, such as browsers_hit_share > 0.001.
// Each is asked of every policy, and holds when it holds for any. They may name Figures.

// A Condition is one of them.
type Condition struct {
	text    string
	program *vm.Program
	scopes  []Scope // whose figures it may name
	asksWho bool    // whether it names figures that are known only where it is known who the clients are
}

// ParseCondition reads a condition on figures of some scopes, apart from those that are always known.
func ParseCondition(text string, scopes ...Scope) (*Condition, error) {
	return parseCondition(text, append([]Scope{Always}, scopes...))
}

// ParseAnswerCondition reads a condition on what is suggested.
func ParseAnswerCondition(text string) (*Condition, error) {
	return parseCondition(text, []Scope{WithVerdict})
}

func parseCondition(text string, scopes []Scope) (*Condition, error) {
	c := &Condition{text: text, scopes: scopes}
	var err error
	if c.program, err = compile(text, c.scopes, true); err != nil {
		return nil, c.explain(err)
	}
	_, err = compile(text, c.scopes, false)
	c.asksWho = err != nil
	return c, nil
}

// compile reads a condition on figures of some scopes, with or without those on who the clients are.
func compile(text string, scopes []Scope, who bool) (*vm.Program, error) {
	nothing := &source{model: &Model{}, policy: &Policy{}, history: &history.Policy{}, group: &group{}}
	return expr.Compile(text, expr.Env(nothing.figures(scopes, who)), expr.AsBool())
}

// whereKnown says of figures that are not known everywhere where they are.
var whereKnown = [scopeCount]string{
	WithIdentities: "known of logs only, and of runs that a replay stored",
	WithHistory:    "known where runs or policies are compared: to shadow report, diff and migrate",
	WithRuns:       "known to shadow report only, which compares runs",
	WithVerdict:    "known to shadow suggest only",
}

// explain says in a line what is wrong with a condition.
func (c *Condition) explain(err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	rest, unknown := strings.CutPrefix(message, "unknown name ")
	if !unknown {
		return fmt.Errorf("%q: %s", c.text, c.slip(message, err))
	}
	name, _, _ := strings.Cut(rest, " ")
	var names []string
	for _, f := range Figures() {
		where := whereKnown[f.Scope]
		if slices.Contains(c.scopes, WithVerdict) {
			where = "no figure of an answer, which has verdict and limit"
		}
		if slices.Contains(c.scopes, f.Scope) {
			names = append(names, f.Names...)
		} else if slices.Contains(f.Names, name) && where != "" {
			return fmt.Errorf("%q: %s is %s", c.text, name, where)
		}
	}
	if near := limit.Nearest(name, names); near != "" {
		return fmt.Errorf("%q: there is no %s; did you mean %s?", c.text, name, near)
	}
	return fmt.Errorf("%q: there is no %s; shadow help fail-if lists what there is", c.text, name)
}

// slips lists what people write who know other languages, outside of quotes, and what to write here.
var slips = []struct {
	written func() *regexp.Regexp
	advice  string
}{
	{loneEquals, "= compares nothing; want =="},
	{lazy.Regexp(`\d ?%\s*($|[)&|]|and\b|or\b)`), "shares are from 0 to 1: want 0.01 for 1 %"},
	{lazy.Regexp(`\d,\d{3}`), "a number has no commas: want 1000"},
}

var (
	quotedText = lazy.Regexp("\"(\\\\.|[^\"])*\"|'(\\\\.|[^'])*'|`[^`]*`")
	loneEquals = lazy.Regexp(`(^|[^=!<>])=([^=]|$)`)
)

const wantComparison = "; want a comparison, such as refused_share > 0.01 (shadow help fail-if)"

// slip says what is wrong with a condition whose names are right, where, and what is wanted.
func (c *Condition) slip(message string, err error) string {
	plain := quotedText().ReplaceAllString(c.text, "")
	for _, s := range slips {
		if s.written().MatchString(plain) {
			return s.advice
		}
	}
	if strings.HasPrefix(message, "expected bool") {
		return "compares nothing; want a comparison in quotes, such as 'refused_share > 0.01' (shadow help fail-if)"
	}
	at := new(file.Error)
	if !errors.As(err, &at) {
		return "is no condition" + wantComparison
	}
	from := []rune(c.text)[min(at.Column, utf8.RuneCountInString(c.text)):]
	switch {
	case strings.Contains(message, "mismatched types"):
		return fmt.Sprintf("%q compares a number with a text, or either with a list", string(from))
	case strings.HasPrefix(message, "unexpected token EOF"):
		return "ends too early" + wantComparison
	}
	return fmt.Sprintf("cannot be read from %q on", string(from)) + wantComparison
}

// String is the condition as it was given.
func (c *Condition) String() string { return c.text }

// Holds returns the policies for which the condition holds. One that cannot be decided, such as 1 % 0, is an error.
func (c *Condition) Holds(m *Model) (policies []string, err error) {
	for i := range m.Policies {
		p := &m.Policies[i]
		t := &source{model: m, policy: p, history: &history.Policy{}, group: p.all()}
		if m.History != nil {
			t.history = &m.History.Policies[i]
		}
		if c.asksWho && p.ByIdentity == nil && p.Clients > 0 {
			return nil, fmt.Errorf("%q asks who the clients are, which is not known of this run: "+
				"shadow replay finds out, and keeps it", c.text)
		}
		held, err := expr.Run(c.program, t.figures(c.scopes, true))
		if err != nil {
			message, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "runtime error: "), " (")
			return nil, fmt.Errorf("%q, of policy %s: %s", c.text, t.policy.Policy, message)
		}
		if held == true {
			policies = append(policies, t.policy.Policy)
		}
	}
	return policies, nil
}

// HoldsOf reports whether the condition holds of what is suggested.
func (c *Condition) HoldsOf(answer Suggested) (bool, error) {
	held, err := expr.Run(c.program, (&source{answer: answer}).figures(c.scopes, true))
	if err != nil {
		return false, fmt.Errorf("%q: %w", c.text, err)
	}
	return held == true, nil
}

// figures returns the figures of some scopes by name, with or without those on identities. Shares are from 0 to 1.
func (t *source) figures(scopes []Scope, who bool) map[string]any {
	values := map[string]any{}
	for _, f := range Figures() {
		if !slices.Contains(scopes, f.Scope) || f.who && !who {
			continue
		}
		for i, name := range f.Names {
			values[name] = f.value(t, i)
		}
	}
	return values
}

// ConditionNames are all that a condition may name.
func ConditionNames() (names []string) {
	for _, f := range Figures() {
		names = append(names, f.Names...)
	}
	slices.Sort(names)
	return names
}

// WorthSaying reports whether a report has news: a client that is newly hit, an action that is new, a safe limit that
// has moved. Without an earlier run to compare with, it is news that anything is refused.
func (m *Model) WorthSaying() bool {
	if m.History == nil || len(m.History.Base) == 0 {
		return slices.ContainsFunc(m.Policies, func(p Policy) bool { return p.Refused > 0 })
	}
	h := m.History
	return h.NewActions > 0 || len(h.SafeLimits.Changed()) > 0 ||
		slices.ContainsFunc(h.Policies, func(p history.Policy) bool { return p.NewlyHit.Clients > 0 })
}
