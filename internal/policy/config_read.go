package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"shadow/internal/mapped"
	"shadow/internal/request"
	"shadow/limit"
)

// A configFile is the file as it is written. The schema has checked it; what did not fit is left out.
type configFile struct {
	Defaults ordered[list[text]]
	Actions  list[actionEntry]
	Tiers    ordered[memberEntry]
	Exempt   *located[memberEntry]
	Policies list[policyEntry]
	Evidence map[string]list[text]
	Paths    text
}

type actionEntry struct {
	Name, Prefix, Glob, Regexp text
	Method                     list[text]
}

type policyEntry struct {
	Name    located[text]
	Combine located[text]
	Limits  list[limitEntry]
}

type limitEntry struct {
	Limit        located[text]
	By           text
	Match, Count list[conditionEntries]
	Cost         list[costEntry]
}

// UnmarshalYAML also takes the text of a limit that says nothing else.
func (l *limitEntry) UnmarshalYAML(at node) error {
	if _, ok := at.(*ast.MappingNode); !ok {
		return l.Limit.UnmarshalYAML(at)
	}
	type plain limitEntry
	return yaml.NodeToValue(at, (*plain)(l), yaml.Strict())
}

// conditionEntries are values by the keys of conditions, and groups of them.
type conditionEntries struct {
	values      map[string]list[text]
	either, not list[conditionEntries]
}

// UnmarshalYAML takes them apart.
func (c *conditionEntries) UnmarshalYAML(at node) error {
	c.values = map[string]list[text]{}
	for _, entry := range at.(*ast.MappingNode).Values {
		var values list[text]
		var err error
		switch keyOf(entry) {
		case eitherKey:
			err = c.either.UnmarshalYAML(entry.Value)
		case notKey:
			err = c.not.UnmarshalYAML(entry.Value)
		default:
			err = values.UnmarshalYAML(entry.Value)
			c.values[keyOf(entry)] = values
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// What groups of conditions stand under.
const (
	eitherKey = "either" // one must fit
	notKey    = "not"    // none may
)

// statusKey is the condition that says what is counted and cannot say what is refused: the answer is not known before.
const statusKey = "status"

// anyValue removes a condition.
const anyValue = "any"

// A configReader turns a document into a Config.
type configReader struct {
	document
	config Config
	owners map[member]string // the tier that names each, but for networks
	nets   owners
	bulk   map[int][]string // see cutBulk; what was taken in is gone

	sets, policies map[string]bool // the names that are taken by entries, and by the policies that these make

	crowded bool // whether there are more scopes than can be told apart
}

func (r *configReader) readTree(top node) {
	value, ok := r.value(&top)
	if value == nil || !ok {
		return
	}
	r.check(top, value)
	if _, ok := value.(map[string]any); !ok {
		return
	}
	var file configFile
	if err := yaml.NodeToValue(top, &file, yaml.Strict()); err != nil {
		r.add(r.syntax(err))
		return
	}
	r.readDefaults(file.Defaults)
	for _, a := range file.Actions {
		v := a.value
		r.config.Actions = append(r.config.Actions, request.Rule{
			Name: string(v.Name), Methods: upper(texts(v.Method)),
			Prefix: string(v.Prefix), Glob: string(v.Glob), Regexp: string(v.Regexp),
		})
	}
	if file.Exempt != nil {
		r.config.Exempt = r.readMembers(exemptTier, *file.Exempt)
		r.config.everyone = r.scope(file.Exempt.at, request.Conditions{})
	}
	for _, t := range file.Tiers {
		r.config.Tiers = append(r.config.Tiers, r.readMembers(t.name, t.located))
	}
	for _, p := range file.Policies {
		r.readPolicy(p)
	}
	r.config.NginxPaths = file.Paths == "nginx"
	r.config.Evidence = newEvidence(file.Evidence, filepath.Dir(r.name))
}

// texts returns the values of a list.
func texts(l list[text]) (all []string) {
	return mapped.Add(all, l, func(t located[text]) string { return string(t.value) })
}

func upper(texts []string) []string {
	for i := range texts {
		texts[i] = strings.ToUpper(texts[i])
	}
	return texts
}

// readPolicy reads a policy, or as many as the counts of its limits make.
func (r *configReader) readPolicy(p located[policyEntry]) {
	name, limits := string(p.value.Name.value), p.value.Limits
	taken := r.sets[name]
	if taken {
		r.fail(p.value.Name.at, "there is a policy %q already", name)
	}
	if name != "" {
		r.sets[name] = true
	}
	parts := r.readLimits(limits)
	if size(parts) > maxPolicies {
		r.fail(p.at, "the policy %q %v", name, errTooMany)
		return
	}
	set := Set{name, named(name, parts)}
	for i := range set.Policies {
		policy := &set.Policies[i]
		policy.Place = fmt.Sprintf("%s:%d", r.name, r.line(r.beginning(p.at).Line))
		policy.Combine = natural(policy.Parts)
		if how := p.value.Combine; how.at != nil {
			policy.Combine, _ = ParseCombine(string(how.value))
		}
	}
	if how := p.value.Combine; how.at != nil && len(parts) == 1 {
		r.fail(how.at, "the policy %q has one limit: there is nothing to combine", name)
	}
	if err := tooRough(set.Policies[0].Parts); err != nil { // the others differ in counts only
		r.fail(limits[0].at, "%v", err)
	}
	for _, policy := range set.Policies {
		if name == "" || taken {
			break
		}
		if r.policies[policy.Name] {
			r.fail(p.value.Name.at, "there is a policy %q already", policy.Name)
			break
		}
		r.policies[policy.Name] = true
	}
	r.config.Policies = append(r.config.Policies, set)
}

// named are the policies that a name stands for. If there are many, each is called after the limits in which it differs
// from the others, too: "login, token:5/1m".
func named(name string, parts [][]Part) (policies []Policy) {
	for _, taken := range products(parts) {
		p := Policy{Name: name, Parts: taken}
		for i, part := range taken {
			if len(parts[i]) > 1 {
				p.Name += ", " + part.Written()
			}
		}
		policies = append(policies, p)
	}
	return policies
}

// readLimits reads the limits of a policy, none of which may be there twice: each is one part, or one for each of its
// counts.
func (r *configReader) readLimits(limits list[limitEntry]) (parts [][]Part) {
	type same struct {
		spec         limit.Spec
		by           request.Key
		match, count Scope
		counting     string
	}
	seen := map[same]bool{}
	for _, l := range limits {
		before := len(r.problems)
		matched := r.groups(l.value.Match, request.Conditions{})
		counted := r.groups(l.value.Count, matched)
		match, count := r.scope(l.at, matched), r.scope(l.at, counted)
		var costs Costs
		if r.damaged[l.at] == nil {
			costs = r.readCosts(l.value.Cost)
		}
		if l.value.Limit.at == nil || len(r.problems) > before || r.damaged[l.at] != nil || r.crowded {
			continue // it means something else
		}
		by, _ := request.ParseKey(cmp.Or(string(l.value.By), request.ByClient.String()))
		choice, err := parseParts(string(l.value.Limit.value), by)
		if err != nil {
			r.fail(l.value.Limit.at, "%v", err)
			continue
		}
		for i := range choice {
			p := &choice[i]
			p.within(match, count, &r.config)
			if costs != nil {
				if err := p.setCosts(costs, &r.config); err != nil {
					r.fail(l.value.Limit.at, "%v", err)
					break
				}
			}
			this := same{p.Spec, p.By, match, count, p.CountText}
			if seen[this] {
				r.fail(l.at, "the limit %s stands here twice", p.Spec)
			}
			seen[this] = true
		}
		parts = append(parts, choice)
	}
	return parts
}

// groups are the conditions of from, but for those that are stated. Several groups stand for themselves: one must fit.
func (r *configReader) groups(stated list[conditionEntries], from request.Conditions) request.Conditions {
	switch {
	case len(stated) == 0:
		return from
	case len(stated) == 1:
		return r.conditions(stated[0].value, from)
	}
	return request.Conditions{Any: r.each(stated)}
}

// each are several groups of conditions.
func (r *configReader) each(stated list[conditionEntries]) (all []request.Conditions) {
	for _, group := range stated {
		c := r.conditions(group.value, request.Conditions{})
		if len(c.Busy) > 0 {
			r.fail(group.at, "busy stands in no group of several, and not below either and not; give it a limit of its own")
		}
		all = append(all, c)
	}
	return all
}

// conditions returns the conditions of from, with those that are stated in their place. Any value is no condition.
func (r *configReader) conditions(stated conditionEntries, from request.Conditions) request.Conditions {
	if len(stated.either) > 0 {
		from.Any = r.each(stated.either)
	}
	if len(stated.not) > 0 {
		from.Not = r.each(stated.not)
	}
	from.Each(func(key string, values *[]string) {
		list, ok := stated.values[key]
		if !ok {
			return
		}
		*values = nil
		for _, v := range list {
			switch text := string(v.value); {
			case text == anyValue:
				return
			case key == "tier":
				r.checkTier(v.at, text)
			case key == "action":
				r.checkAction(v.at, text)
			case key == "busy":
				if _, err := Busy(text); err != nil {
					r.fail(v.at, "%v", err)
				}
			}
		}
		*values = texts(list)
		if key == "method" {
			*values = upper(*values)
		}
	})
	return from
}

// checkTier complains about the name of a tier that there is not.
func (r *configReader) checkTier(at node, name string) {
	names := mapped.Of(r.config.Tiers, func(t request.Tier) string { return t.Name })
	names = append(names, request.DefaultTier)
	if !slices.Contains(names, name) {
		r.fail(at, "unknown tier %q%s; there are %s", name, limit.Hint(name, names), strings.Join(names, ", "))
	}
}

// below ends the name of an action that is named after the path: /product/… is all below /product.
const below = "/…"

// checkAction complains about a name that no action can have. Which paths the log has is not known here.
func (r *configReader) checkAction(at node, name string) {
	names := []string{"static", "(no path)", "(not http)", "(other)"}
	names = mapped.Add(names, r.config.Actions, func(rule request.Rule) string { return rule.Name })
	if slices.Contains(names, name) {
		return
	}
	if name[0] != '/' {
		r.fail(at, "no rule names the action %q%s, and actions without a rule begin with a slash",
			name, limit.Hint(name, names))
		return
	}
	if first, _, deeper := strings.Cut(strings.TrimSuffix(name[1:], below), "/"); deeper {
		r.fail(at, "no action is called %q: those without a rule go by the first segment, such as /%s and /%s%s; "+
			"for a path, want path: %s", name, first, first, below, name)
	}
}

// scope is the scope of some conditions, one for all that state the same. Without conditions it is everyone's.
func (r *configReader) scope(at node, c request.Conditions) Scope {
	scopes := &r.config.Scopes
	if r.config.Exempt.Name == "" && c.Is(&request.Conditions{}) {
		return 0
	}
	i := slices.IndexFunc(*scopes, func(d request.Conditions) bool { return c.Is(&d) })
	if i >= 0 {
		return Scope(i + 1)
	}
	if flat, _ := request.Flatten(append(slices.Clip(*scopes), c)); len(flat) > request.MaxScopes {
		if !r.crowded {
			r.fail(at, "%v", ErrConditions)
		}
		r.crowded = true
		return 0
	}
	*scopes = append(*scopes, c)
	return Scope(len(*scopes))
}
