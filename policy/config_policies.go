package policy

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"shadow/limit"
	"shadow/request"
)

// A policy of the configuration is a name and its limits, each with a key and scopes.

var (
	policyKeys = []string{"name", "limits", "combine"}
	limitKeys  = []string{"limit", "by", "match", "count"}
)

// readPolicy reads a policy, or as many as the counts of its limits make.
func (r *configReader) readPolicy(at node) {
	f, ok := r.mapping(at, "a policy", policyKeys)
	if !ok {
		return
	}
	name := r.field(f, "name")
	free := r.checkPolicyName(f, name)
	if f.lacks("limits") {
		r.fail(f.at, "the policy %q has no limits", name)
	}
	limits := f.values["limits"]
	if limits == nil {
		return
	}
	parts := r.readLimits(limits)
	if len(r.items(limits)) == 0 {
		r.fail(limits, "the policy %q has no limits", name)
	}
	if size(parts) > maxPolicies {
		r.fail(f.at, "the policy %q %v", name, errTooMany)
		return
	}
	set := Set{name, named(name, parts)}
	for i := range set.Policies {
		p := &set.Policies[i]
		p.Place, p.Combine = r.place(f.at), natural(p.Parts)
		if at := f.values["combine"]; at != nil {
			if p.Combine = r.readCombine(at); i == 0 && len(p.Parts) == 1 {
				r.fail(at, "the policy %q has one limit: there is nothing to combine", name)
			}
		}
	}
	if err := tooRough(set.Policies[0].Parts); err != nil { // the others differ in counts only
		r.fail(limits, "%v", err)
	}
	if free {
		r.checkPolicies(f, set.Policies)
	}
	r.config.Policies = append(r.config.Policies, set)
}

// checkPolicyName reports whether an entry has a name that no other has.
func (r *configReader) checkPolicyName(f fields, name string) (free bool) {
	at := f.values["name"]
	switch {
	case f.lacks("name"):
		r.fail(f.at, "a policy needs a name")
	case at == nil || name == "": // which is a problem already
	case name == NoPolicy:
		r.fail(at, "no policy can be called %q, which picks none", name)
	case r.sets[name]:
		r.fail(at, "there is a policy %q already", name)
	default:
		r.sets[name] = true
		return true
	}
	return false
}

// checkPolicies complains when a policy that counts make is called like one of another entry.
func (r *configReader) checkPolicies(f fields, policies []Policy) {
	for _, p := range policies {
		if r.policies[p.Name] {
			r.fail(f.values["name"], "there is a policy %q already", p.Name)
			return
		}
		r.policies[p.Name] = true
	}
}

// named are the policies that a name stands for. If there are many, each is called after the limits in which it differs
// from the others, too: "login, token:5/1m".
func named(name string, parts [][]Part) (policies []Policy) {
	for _, taken := range products(parts) {
		p := Policy{Name: name, Parts: taken}
		for i, part := range taken {
			if len(parts[i]) > 1 {
				p.Name += ", " + part.Spec.String()
			}
		}
		policies = append(policies, p)
	}
	return policies
}

// readLimits reads the limits of a policy, none of which may be there twice.
func (r *configReader) readLimits(at node) (parts [][]Part) {
	type same struct {
		spec         limit.Spec
		by           request.Key
		match, count Scope
	}
	seen := map[same]bool{}
	for _, item := range r.items(at) {
		before := r.found()
		choice := r.readLimit(item)
		if choice == nil || r.found() > before || r.crowded {
			continue
		}
		for _, p := range choice {
			this := same{p.Spec, p.By, p.Match, p.Count}
			if seen[this] {
				r.fail(item, "the limit %s stands here twice", p.Spec)
			}
			seen[this] = true
		}
		parts = append(parts, choice)
	}
	return parts
}

// readLimit reads one limit of a policy: one part, or one for each of its counts; nil if there is no telling.
func (r *configReader) readLimit(at node) []Part {
	switch at.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType:
		everything := r.scope(at, request.Conditions{})
		return r.readParts(at, request.ByClient, everything, everything)
	}
	f, ok := r.mapping(at, "a limit", limitKeys)
	if !ok {
		return nil
	}
	by := request.ByClient
	if f.values["by"] != nil {
		by = r.readKey(f.values["by"])
	}
	var match request.Conditions
	if f.values["match"] != nil {
		match = r.readConditions(f.values["match"], match, false)
	}
	count := match
	if f.values["count"] != nil {
		count = r.readConditions(f.values["count"], match, true)
	}
	if f.lacks("limit") {
		r.fail(f.at, "the limit is missing, such as limit: token:6/30s")
	}
	if f.values["limit"] == nil {
		return nil
	}
	return r.readParts(f.values["limit"], by, r.scope(f.at, match), r.scope(f.at, count))
}

// readCombine reads how the limits of a policy combine.
func (r *configReader) readCombine(at node) Combine {
	text, ok := r.text(at)
	if !ok {
		return Together
	}
	how, err := ParseCombine(text)
	if err != nil {
		r.fail(at, "%v", err)
	}
	return how
}

// readKey reads what a limit counts by.
func (r *configReader) readKey(at node) request.Key {
	text, ok := r.text(at)
	if !ok {
		return request.ByClient
	}
	by, err := request.ParseKey(text)
	if err != nil {
		r.fail(at, "%v", err)
	}
	return by
}

// readParts reads the text of a limit.
func (r *configReader) readParts(at node, by request.Key, match, count Scope) (parts []Part) {
	text, ok := r.text(at)
	if !ok {
		return nil
	}
	specs, err := parseLimit(text)
	for _, spec := range specs {
		var part Part
		if part, err = newPart(spec, by); err != nil {
			break
		}
		part.within(match, count, &r.config)
		parts = append(parts, part)
	}
	if err != nil {
		r.fail(at, "%v", err)
		return nil
	}
	return parts
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
	if len(*scopes) == request.MaxScopes {
		if !r.crowded {
			r.fail(at, "there are more than %d different conditions of limits", request.MaxScopes)
		}
		r.crowded = true
		return 0
	}
	*scopes = append(*scopes, c)
	return Scope(len(*scopes))
}
