package imports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// Envoy Gateway: a BackendTrafficPolicy has rules with selectors, for the routes that it names.

func isGateway(d doc) bool {
	return len(each([]doc{d}, "BackendTrafficPolicy", "HTTPRoute")) > 0
}

// A gatewayTarget is what a policy is for. What is closer to a rule of a route takes the place of what is around it.
type gatewayTarget struct {
	set    neutral.Set
	rank   int  // of a Gateway, a listener, a route, a rule
	known  bool // whether it is here
	policy int
	gates  []string // the Gateway, or those that the routes are at
	apart  int      // how many count apart: each match of a rule, for each host
}

// A gatewayReader finds what policies are for.
type gatewayReader struct {
	*Import
	kinds   map[string][]doc
	targets []gatewayTarget
}

func takeGateway(i *Import, docs []doc) {
	r := gatewayReader{Import: i, kinds: map[string][]doc{"HTTPRoute": each(docs, "HTTPRoute"), "Gateway": each(i.docs, "Gateway")}}
	i.unreadExtensions()
	policies := each(docs, "BackendTrafficPolicy")
	for n, d := range policies {
		r.find(d, n)
	}
	r.tellOthers(policies)
	for n, d := range policies {
		refs := append(d.List("spec", "targetRefs"), d.List("spec", "targetRef")...)
		several := d.Get("spec", "targetSelectors") != nil || len(refs) > 1 || len(refs) == 1 && refs[0].Say("kind") == "Gateway" ||
			slices.ContainsFunc(r.targets, func(t gatewayTarget) bool { return t.policy == n && t.apart > 1 })
		whole, limits := r.holds(n), d.Get("spec", "rateLimit")
		r.tellMerge(d, limits, len(policies) > 1)
		for _, kind := range []string{"local", "global"} { // without a type both hold
			if limits.Get(kind) == nil || limits.Say("type") != "" && !strings.EqualFold(limits.Say("type"), kind) {
				continue
			}
			p, local := neutral.Policy{Name: "envoy-gateway " + d.Say("metadata", "name"), Combine: "each"}, kind == "local"
			rules := slices.Clone(limits.List(kind, "rules"))
			if local {
				p.Combine = "in-turn"
				i.Tell(d.place(limits), "each Envoy counts for itself; here one counts all requests")
				slices.SortStableFunc(rules, func(a, b *policy.Tree) int { return cmp.Compare(gatewayTurn(a), gatewayTurn(b)) })
			}
			if several && slices.ContainsFunc(rules, func(rule *policy.Tree) bool { return rule.Say("shared") != "true" }) {
				i.Lose(d.place(limits), "each host, match and listener of a route counts for itself, unless a rule is shared; here they count together")
			}
			i.gatewayRules(&p, d, rules, whole, local)
			i.Policies = append(i.Policies, p)
		}
	}
}

// gatewayRules adds the limits of rules. A local one for all is asked last, for what fits no other one.
func (i *Import) gatewayRules(p *neutral.Policy, d doc, rules []*policy.Tree, whole neutral.Set, local bool) {
	rest := whole
	for _, rule := range rules {
		set := whole
		if local && len(rule.List("clientSelectors")) == 0 {
			set = rest
		}
		rest = rest.And(i.gatewayRule(p, d, rule, set, local).Except())
	}
}

// tellMerge tells of a policy that adds to those around it, which is lost if some may be here.
func (r *gatewayReader) tellMerge(d doc, limits *policy.Tree, others bool) {
	merge, note := d.Get("spec", "mergeType"), r.Tell
	if merge == nil || limits == nil {
		return
	}
	if others {
		note = r.Lose
	}
	note(d.place(merge), "mergeType is not read: the limits of a policy around it hold besides it there, and not here")
}

// tellOthers tells of policies that answer requests before limits, or say what the client is.
func (r *gatewayReader) tellOthers(policies []doc) {
	for _, d := range each(r.docs, "SecurityPolicy") {
		own := gatewayReader{Import: new(Import), kinds: r.kinds}
		own.find(d, 0)
		limited := slices.ContainsFunc(r.targets, func(l gatewayTarget) bool {
			return policies[l.policy].Get("spec", "rateLimit") != nil && slices.ContainsFunc(own.targets, func(t gatewayTarget) bool {
				return neutral.Meet(l.set, t.set)
			})
		})
		for _, key := range []string{"cors", "extAuth", "apiKeyAuth", "basicAuth", "oidc", "jwt", "authorization"} {
			if at := d.Get("spec", key); at != nil && limited {
				r.Lose(d.place(at), "%s may answer requests before a limit counts them; here they count", key)
			}
		}
	}
	for _, d := range each(r.docs, "ClientTrafficPolicy") {
		for _, key := range []string{"xForwardedFor", "customHeader"} {
			if at := d.Get("spec", "clientIPDetection", key); at != nil {
				header := strings.ToLower(cmp.Or(at.Say("name"), "x-forwarded-for"))
				r.Tell(d.place(at), "clients are taken from a header: --client-from %s, with --trusted-proxy", header)
			}
		}
	}
}

// find takes down what a policy is for, by names or by labels.
func (r *gatewayReader) find(d doc, n int) {
	if d.Get("spec", "mergeType") != nil && d.Get("spec", "rateLimit") == nil { // the limits around it hold
		return
	}
	refs := append(d.List("spec", "targetRefs"), d.List("spec", "targetRef")...)
	for _, ref := range refs {
		r.target(d, ref, ref.Say("kind"), ref.Say("name"), ref.Say("sectionName"), n)
	}
	for _, s := range d.List("spec", "targetSelectors") {
		onlyKnown(r.Lose, d, s, "group kind matchlabels")
		labels, found := s.Get("matchLabels"), false
		for _, of := range r.kinds[s.Say("kind")] {
			lacks := func(key string) bool { return of.Say("metadata", "labels", key) != labels.Say(key) }
			if sameSpace(of.Say("metadata", "namespace"), d.Say("metadata", "namespace")) && !slices.ContainsFunc(labels.Keys(), lacks) {
				found = true
				r.target(d, s, s.Say("kind"), of.Say("metadata", "name"), "", n)
			}
		}
		switch {
		case found:
		case r.kinds[s.Say("kind")] != nil:
			r.Lose(d.place(s), "no %s here has the labels: what it selects elsewhere is not judged", s.Say("kind"))
			r.targets = append(r.targets, gatewayTarget{set: neutral.None, policy: n})
		default:
			r.target(d, s, s.Say("kind"), "with these labels", "", n)
		}
	}
}

// target takes down that a policy is for a route or a Gateway, or for a section of it.
func (r *gatewayReader) target(d doc, at *policy.Tree, kind, name, section string, of int) {
	place, space := d.place(at), d.Say("metadata", "namespace")
	t := gatewayTarget{policy: of, rank: min(1, len(section))}
	if kind != "Gateway" {
		t.rank += 2
	} else {
		t.gates = []string{name}
	}
	var sets []neutral.Set
	for _, route := range r.kinds["HTTPRoute"] {
		own := route.Say("metadata", "namespace")
		switch {
		case kind == "HTTPRoute" && route.Say("metadata", "name") == name && sameSpace(own, space):
			sets = append(sets, r.httpRoute(route, section))
			for _, rule := range route.List("spec", "rules") {
				if section == "" || rule.Say("name") == section {
					t.apart += max(1, len(rule.List("matches"))) * max(1, len(route.List("spec", "hostnames"))) * r.listeners(route)
				}
			}
			for _, parent := range route.List("spec", "parentRefs") {
				t.gates = append(t.gates, parent.Say("name"))
			}
		case kind == "Gateway" && slices.ContainsFunc(route.List("spec", "parentRefs"), func(parent *policy.Tree) bool {
			return parent.Say("name") == name && sameSpace(cmp.Or(parent.Say("namespace"), own), space) && (section == "" || cmp.Or(parent.Say("sectionName"), section) == section)
		}):
			sets = append(sets, r.httpRoute(route, ""))
		}
	}
	switch t.known = sets != nil; {
	case !t.known && kind == "Gateway":
		r.Tell(place, "no route of the Gateway %s is here: it is judged on all requests", name)
	case !t.known && kind != "HTTPRoute":
		r.Lose(place, "%s %s is not read: it is judged on all requests", kind, name)
	case !t.known:
		r.Tell(place, "%s %s is not here: it is judged on all requests", kind, name)
	case kind == "Gateway":
		r.Tell(place, "of the Gateway %s the routes that are here are judged", name)
		if section != "" {
			r.Lose(place, "which requests come to the listener %s is not read: all of its routes are judged", section)
		}
	}
	t.set = neutral.AnyOf(sets)
	r.targets = append(r.targets, t)
}

// listeners returns at how many a route is, as far as its Gateways are here.
func (r *gatewayReader) listeners(route doc) (n int) {
	for _, parent := range route.List("spec", "parentRefs") {
		found := 0
		for _, gate := range r.kinds["Gateway"] {
			for _, l := range gate.List("spec", "listeners") {
				if gate.Say("metadata", "name") == parent.Say("name") && l.Say("name") == cmp.Or(parent.Say("sectionName"), l.Say("name")) &&
					!neutral.Apart(neutral.Within("host", cmp.Or(l.Say("hostname"), "*")), neutral.Within("host", plainTexts(route.List("spec", "hostnames"))...)) {
					found++
				}
			}
		}
		n += max(1, found)
	}
	return max(1, n)
}

// sameSpace reports whether two namespaces may be one: what says none is given it from elsewhere.
func sameSpace(a, b string) bool { return a == b || a == "" || b == "" }

// holds returns the requests that a policy is for, and no closer one.
func (r *gatewayReader) holds(of int) neutral.Set {
	var own []neutral.Set
	for _, t := range r.targets {
		if t.policy != of {
			continue
		}
		var closer []neutral.Set
		for _, other := range r.targets {
			elsewhere := len(t.gates) > 0 && len(other.gates) > 0 &&
				!slices.ContainsFunc(t.gates, func(name string) bool { return slices.Contains(other.gates, name) })
			if other.known && other.rank > t.rank && other.policy != of && !elsewhere {
				closer = append(closer, other.set)
			}
		}
		own = append(own, t.set.Minus(closer))
	}
	return neutral.AnyOf(own)
}

// gatewayTurn ranks a local rule by when Envoy asks it: the slowest first, the one for all last.
func gatewayTurn(rule *policy.Tree) float64 {
	n, err := strconv.ParseFloat(rule.Say("limit", "requests"), 64)
	period, bad := limit.ParsePeriod("1" + envoyUnits[strings.ToLower(rule.Say("limit", "unit"))])
	if len(rule.List("clientSelectors")) == 0 || err != nil || bad != nil {
		return math.Inf(1)
	}
	return n / float64(period)
}

// gatewayRule adds the limit of a rule: for each that its selectors tell apart. It returns which requests count.
func (i *Import) gatewayRule(p *neutral.Policy, d doc, rule *policy.Tree, set neutral.Set, local bool) neutral.Set {
	onlyKnown(i.Lose, d, rule, "name clientselectors limit cost shared shadowmode xratelimitheaders")
	onlyKnown(i.Lose, d, rule.Get("limit"), "requests unit")
	unit, ok := envoyUnits[strings.ToLower(rule.Say("limit", "unit"))]
	n := rule.Say("limit", "requests")
	if !ok || n == "" {
		i.Lose(d.place(rule), "a limit of %s in a %s is not understood", n, rule.Say("limit", "unit"))
		return neutral.None
	}
	text := "envoy:" + n + "/" + unit
	if local {
		text = "token:" + n + "/" + unit
	}
	if cost := rule.Get("cost"); cost != nil {
		i.Lose(d.place(cost), "the cost of a rule is not read: a request costs 1")
	}
	dry := ""
	if rule.Say("shadowMode") == "true" {
		dry = ", which is a dry run there"
		i.Tell(d.place(rule), neutral.RefusesNothing)
	}
	var words []string
	for _, s := range rule.List("clientSelectors") { // all of them must fit
		one, parts := i.gatewaySelector(d, s)
		set, words = set.And(one), append(words, parts...)
	}
	by, err := neutral.KeyOf(words)
	if err != nil {
		i.Lose(d.place(rule), "%v", err)
		return neutral.None
	}
	set = set.Having(slices.DeleteFunc(words, func(w string) bool { return !neutral.CanLack(w) })...)
	p.Add(text, fmt.Sprintf("%s rule of %s%s, refused with 429", d.place(rule), d.Say("metadata", "name"), dry),
		neutral.KeyCase{Set: set, By: by})
	return set
}

// gatewaySelector is the requests that a selector fits, and what it tells apart.
func (i *Import) gatewaySelector(d doc, s *policy.Tree) (set neutral.Set, words []string) {
	onlyKnown(i.Lose, d, s, "headers methods path sourcecidr")
	if cidr := s.Get("sourceCIDR"); cidr != nil {
		if prefix, err := neutral.ParseNetwork(cmp.Or(cidr.Say("value"), cidr.Text)); err != nil {
			i.Lose(d.place(cidr), "sourceCIDR %s is not understood: it is taken to fit", cidr.Say("value"))
		} else { // 0.0.0.0/0 fits IPv4 alone
			set = inverted(neutral.Within("network", neutral.NetworkText(prefix)), cidr)
		}
		if cidr.Say("type") == "Distinct" {
			words = append(words, "client")
		}
	}
	for _, h := range s.List("headers") {
		key, err := request.ParseKey("header:" + h.Say("name"))
		switch {
		case err == nil && h.Say("type") == "Distinct" && h.Say("invert") != "true":
			words = append(words, key.String())
		case err == nil && strings.EqualFold(h.Say("name"), "user-agent") && h.Say("type") != "RegularExpression":
			set = set.And(inverted(neutral.Within("agent", "^"+regexp.QuoteMeta(h.Say("value"))+"$"), h))
		default:
			how, text := "", h.Say("value")
			if h.Say("type") == "RegularExpression" {
				how, text = "reg", "^(?:"+text+")$"
			}
			one, known := headerText(strings.ToLower(h.Say("name")), how, text)
			if !known {
				i.Lose(d.place(h), "no condition says the header %s: it is taken to fit", h.Say("name"))
				continue
			}
			set = set.And(inverted(one, h))
		}
	}
	set = set.And(neutral.AnyOf(mapped.Add(nil, s.List("methods"), func(m *policy.Tree) neutral.Set {
		return inverted(neutral.Within("method", strings.ToUpper(m.Say("value"))), m)
	})))
	if path := s.Get("path"); path != nil {
		one := gatewayPath(path)
		switch path.Say("type") { // these are matched with the query
		case "Exact":
			one, _ = neutral.TargetSet("", path.Say("value"), false)
		case "RegularExpression":
			one, _ = neutral.TargetSet("reg", "^(?:"+path.Say("value")+")$", false)
		}
		set = set.And(inverted(one, path))
	}
	return set, words
}

// inverted are the requests of a match, which may say that it must not fit.
func inverted(set neutral.Set, match *policy.Tree) neutral.Set {
	return set.Unless(match.Say("invert") == "true")
}
