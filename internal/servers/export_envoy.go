package servers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// For Envoy a limit is a descriptor, which actions make of the requests that it is for: one whose key names the limit,
// with the conditions, then those that it counts by. A request that fits two clauses would count twice, so there is one.

var envoyTarget = Target{
	Name: "envoy", Title: "Envoy's rate limit service", Comment: "#", Ending: ".yaml", own: algorithm("envoy"), Combine: policy.Each,
	Beside: "rate_limits of a route take the place of the virtual host's, so add these to each list that is there. " +
		"The domain shadow takes " +
		"a filter of its own behind the one that is there",
	Grid:    "whole requests per second, minute, hour or day, in fixed windows",
	Enforce: "it refuses nothing yet, and counts in shadow_mode of the service. To enforce it, take out shadow_mode",
	nearest: nearest("envoy"), write: writeEnvoy,
}

var envoyLocalTarget = Target{
	Name: "envoy-local", Title: "Envoy's local rate limit", Comment: "#", Ending: ".yaml", own: func(s limit.Spec) bool { return s.Algorithm == "token" && envoyLocal.settable(s) }, Combine: policy.InTurn,
	Beside: "filters that limit already stay beside it: none may be named shadow",
	Grid:   "tokens in whole milliseconds, 50 or more, and a burst",
	Enforce: "it refuses nothing yet, and counts rate_limited. To enforce it, set filter_enforced to 100. It takes Envoy 1.34 " +
		"or newer, and each Envoy counts for itself",
	nearest: nearestEnvoyLocal, write: writeEnvoyLocal,
}

var gatewayTarget = Target{
	Name: "envoy-gateway", Title: "Envoy Gateway", Comment: "#", Ending: ".yaml", own: algorithm("envoy"), Combine: policy.Each,
	Beside: "the oldest policy of a route holds alone: no other BackendTrafficPolicy may name it. mergeType keeps " +
		"the Gateway's own",
	Grid:    "whole requests per second, minute, hour or day, in fixed windows",
	Enforce: "it refuses nothing yet: to enforce it, take out shadowMode. Put the name of your route in the place of ROUTE",
	nearest: nearest("envoy"), write: writeGateway,
}

// nearestEnvoyLocal fills evenly, as Envoy does since 1.31.
func nearestEnvoyLocal(spec limit.Spec, shape limit.Shape) (near limit.Spec, deviation string) {
	if near, deviation = nearest("envoy-local")(spec, shape); near.Count > 0 {
		near = asToken(near)
		near.Options = fmt.Sprintf("burst=%d", near.Args().Int("burst", near.Count))
	}
	return near, deviation
}

// envoyRule is the actions of a limit, and the descriptor that they make.
type envoyRule struct {
	actions []string
	entries [][2]string // keys with values, "" for any
}

// add takes an action, and the entry of the descriptor that it makes.
func (r *envoyRule) add(key, value string, action ...string) {
	r.actions, r.entries = append(r.actions, action...), append(r.entries, [2]string{key, value})
}

// envoyRules returns the rules of a setting.
func (e *Export) envoyRules(s setting) ([]envoyRule, error) {
	counts, err := s.counts()
	if err != nil {
		return nil, err
	}
	return tried(counts, e.envoyRule)
}

func (e *Export) envoyRule(c counted) (r envoyRule, err error) {
	if c.when = one(c.when); len(c.when) > 1 {
		return r, fmt.Errorf("its descriptors have conditions that all must fit, and this takes several sets of them")
	}
	var tests, networks []string
	for _, t := range slices.Concat(c.when...) {
		if t.kind == "network" {
			networks = append(networks, e.envoyNetworks(t, c.name))
			continue
		}
		more, err := envoyTests(t)
		if err != nil {
			return r, err
		}
		tests = append(tests, more...)
	}
	if tests == nil {
		r.add("generic_key", c.name, "- generic_key: {descriptor_value: "+c.name+"}")
	} else {
		headers := strings.Split("    {"+strings.Join(tests, "},\n    {")+"}]}", "\n")
		r.add("header_match", c.name, "- header_value_match: {descriptor_value: "+c.name+", headers: [")
		r.actions = append(r.actions, headers...)
	}
	for _, action := range networks {
		r.add("remote_address_match", c.name, action)
	}
	for _, p := range c.parts {
		key, action, err := e.envoyPart(p)
		if err != nil {
			return r, err
		}
		if action != "" {
			r.add(key, "", action)
		}
	}
	return r, nil
}

// envoyNetworks is the action for requests from some networks, or from others.
func (e *Export) envoyNetworks(t test, name string) string {
	e.note("conditions on networks take Envoy 1.38 or newer")
	e.noteProxies()
	ranges := mapped.Of(t.values, func(v string) string {
		p := prefixOf(v)
		return fmt.Sprintf(`{address_prefix: "%s", prefix_len: %d}`, p.Addr(), p.Bits())
	})
	invert := map[bool]string{true: ", invert_match: true"}[t.not]
	return fmt.Sprintf("- remote_address_match: {descriptor_value: %s, address_matcher: {ranges: [%s]%s}}", name,
		strings.Join(ranges, ", "), invert)
}

// envoyPart is the action for a part of a key.
func (e *Export) envoyPart(p request.Part) (key, action string, err error) {
	header := map[request.PartKind]string{
		request.PartHost: ":authority", request.PartAgent: "user-agent", request.PartPath: ":path",
		request.PartHeader: strings.ToLower(headerText(p.Name)),
	}[p.Kind]
	switch p.Kind {
	case request.PartSite:
		return "", "", nil
	case request.PartClient:
		d, actions := e.where.envoyActions()
		if d.Key == "" || e.where.who().field != "" {
			return "", "", fmt.Errorf("%s", d.Note)
		}
		e.note("%s", d.Note)
		for _, b := range d.Blocks {
			if e.Blocks == nil || e.Blocks[0].Place != b.Place {
				e.block(b.Place, b.Lines...)
			}
		}
		return d.Key, actions[len(actions)-1], nil
	case request.PartNetwork:
		if e.where.address() && p.N <= 32 {
			return "masked_remote_address", fmt.Sprintf("- masked_remote_address: {v4_prefix_mask_len: %d}", p.N), nil
		}
	case request.PartAgent:
		e.note("requests without a user agent are one client, -, here; Envoy does not limit them")
	case request.PartPath:
		e.note("paths have the query there: requests that differ in it alone count one by one")
	}
	if header == "" {
		return "", "", cannotCount(p)
	}
	key = "by_" + strings.Trim(strings.ReplaceAll(header, "-", "_"), ":")
	return key, fmt.Sprintf("- request_headers: {header_name: \"%s\", descriptor_key: %s}", header, key), nil
}

// envoyHeaders are where tests look, how, and the expression that says the same of a value.
var envoyHeaders = map[string]struct {
	name, how string
	pattern   func(value string) string
}{
	"method": {":method", "exact", regexp.QuoteMeta},
	"host":   {":authority", "exact", regexp.QuoteMeta},
	"prefix": {":path", "prefix", func(v string) string { return regexp.QuoteMeta(v) + ".*" }},
	"path":   {":path", "safe_regex", func(v string) string { return regexp.QuoteMeta(v) + `(\?.*)?` }},
	"regexp": {":path", "safe_regex", wholePattern},
	"agent":  {"user-agent", "safe_regex", func(v string) string { return ".*(" + v + ").*" }},
}

// envoyTests are matches of headers that must all fit.
func envoyTests(t test) (all []string, err error) {
	if name, ok := t.lacking(); ok {
		return []string{fmt.Sprintf(`name: "%s", present_match: %t`, strings.ToLower(name), t.not)}, nil
	}
	header, known := envoyHeaders[t.kind]
	if !known {
		return nil, t.cannot()
	}
	if err := t.names(); err != nil {
		return nil, err
	}
	how, values := header.how, t.values
	several := len(values) > 1 && !t.not // one of them must fit
	if several || how == "safe_regex" {
		how, values = "safe_regex", mapped.Of(values, header.pattern)
	}
	if several {
		values = []string{"(" + strings.Join(values, "|") + ")"}
	}
	for _, v := range mapped.Of(values, yamlText) {
		if how == "safe_regex" {
			v = "{regex: " + v + "}"
		}
		all = append(all, fmt.Sprintf(`name: "%s", string_match: {%s: %s}%s`, header.name, how, v,
			map[bool]string{true: ", invert_match: true"}[t.not]))
	}
	return all, nil
}

// wholePattern is an expression that is found in paths as one for the whole of a path with its query.
func wholePattern(pattern string) string {
	begin, end := ".*", ".*"
	if rest, ok := strings.CutPrefix(pattern, "^"); ok && !strings.Contains(rest, "|") {
		pattern, begin = rest, ""
	}
	if rest, ok := strings.CutSuffix(pattern, "$"); ok && !strings.HasSuffix(rest, `\`) && !strings.Contains(rest, "|") {
		pattern, end = rest, `(\?.*)?`
	}
	if begin != "" || end != "" && end != `(\?.*)?` {
		pattern = "(" + pattern + ")"
	}
	return begin + pattern + end
}

func writeEnvoy(e *Export, all []setting) error {
	limits, descriptors := []string{"rate_limits:"}, []string{"---", "domain: shadow", "descriptors:"}
	for _, s := range all {
		rules, err := e.envoyRules(s)
		if err != nil {
			return err
		}
		for _, r := range rules {
			limits = append(append(limits, "  - actions:"), indent(6, r.actions)...)
			at := 2
			for i, entry := range r.entries {
				pad := strings.Repeat(" ", at)
				if descriptors = append(descriptors, pad+"- key: "+entry[0]); entry[1] != "" {
					descriptors = append(descriptors, pad+"  value: "+entry[1])
				}
				if i+1 < len(r.entries) {
					descriptors = append(descriptors, pad+"  descriptors:")
				} else {
					descriptors = append(descriptors, fmt.Sprintf("%s  rate_limit: {unit: %s, requests_per_unit: %d}", pad,
						policy.EnvoyUnits[s.spec.Period], s.spec.Count), pad+"  shadow_mode: true")
				}
				at += 4
			}
		}
	}
	e.block("in the virtual host", limits...)
	e.block("in the configuration of the rate limit service", descriptors...)
	return nil
}

func writeEnvoyLocal(e *Export, all []setting) error {
	var rates, descriptors []string
	for _, s := range all {
		rules, err := e.envoyRules(s)
		if err != nil {
			return err
		}
		for _, r := range rules {
			rates = append(append(rates, "  - actions:"), indent(6, r.actions)...)
			entries := mapped.Of(r.entries, func(entry [2]string) string {
				return strings.TrimSuffix("{key: "+entry[0]+", value: "+entry[1], ", value: ") + "}"
			})
			descriptors = append(descriptors, "  - entries: ["+strings.Join(entries, ", ")+"]",
				"    token_bucket: {"+policy.EnvoyLocalSetting(s.spec)+"}")
		}
	}
	lines := []string{
		"name: shadow", "typed_config:",
		`  "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit`,
		"  stat_prefix: shadow",
		"  filter_enabled: {default_value: {numerator: 100}}",
		"  filter_enforced: {default_value: {numerator: 0}}",
		"  max_dynamic_descriptors: 100000",
		"  rate_limits:",
	}
	lines = append(append(append(lines, indent(2, rates)...), "  descriptors:"), indent(2, descriptors)...)
	e.block("one of http_filters", lines...)
	return nil
}
