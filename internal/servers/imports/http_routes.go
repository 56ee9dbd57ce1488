package imports

import (
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/neutral"
)

// HTTPRoutes of the Gateway API, which several products have.

// httpRoute returns the requests of an HTTPRoute, or of one of its rules: of any of its matches, for any of its hosts.
func (i *Import) httpRoute(d doc, section string) neutral.Set {
	var all []neutral.Set
	for _, rule := range d.List("spec", "rules") {
		if section == "" || rule.Say("name") == section {
			all = append(all, i.httpRule(d, rule))
		}
	}
	if all == nil && section != "" {
		i.Lose(d.place(nil), "the route %s has no rule %s", d.Say("metadata", "name"), section)
		return neutral.None
	}
	return httpHosts(d).And(neutral.AnyOf(all))
}

func httpHosts(d doc) neutral.Set {
	return neutral.Within("host", mapped.Add(nil, plainTexts(d.List("spec", "hostnames")), strings.ToLower)...)
}

// httpRule returns the requests of a rule of an HTTPRoute, for any host.
func (i *Import) httpRule(d doc, rule *policy.Tree) neutral.Set {
	var all []neutral.Set
	for _, m := range rule.List("matches") {
		one := gatewayPath(m.Get("path"))
		if method := m.Say("method"); method != "" {
			one = one.And(neutral.Within("method", strings.ToUpper(method)))
		}
		if m.Get("headers") != nil || m.Get("queryParams") != nil {
			i.Lose(d.place(m), "headers and queryParams of a match are not read: they are taken to fit")
		}
		all = append(all, one)
	}
	return neutral.AnyOf(all)
}

// extended calls do with what rules of HTTPRoutes name beside the standard, and the requests of these rules.
func (i *Import) extended(do func(d doc, ref *policy.Tree, set neutral.Set)) {
	for _, d := range each(i.docs, "HTTPRoute") {
		for _, rule := range d.List("spec", "rules") {
			for _, f := range rule.List("filters") {
				if ref := f.Get("extensionRef"); ref != nil {
					do(d, ref, httpHosts(d).And(i.httpRule(d, rule)))
				}
			}
		}
	}
}

// mayLimit fits words of resources that limit, or name others that do.
var mayLimit = lazy.Regexp(`(?i)rate_?limit|throttl|inflight|^(chain|plugin)$`)

// unreadExtensions tells of what rules of HTTPRoutes name and no reader takes from there.
func (i *Import) unreadExtensions() {
	i.extended(func(d doc, ref *policy.Tree, _ neutral.Set) {
		kind, name := ref.Say("kind"), ref.Say("name")
		here := each(i.docs, kind)
		n := slices.IndexFunc(here, func(of doc) bool { return of.Say("metadata", "name") == name })
		switch {
		case kind == "HTTPRouteFilter":
		case n < 0:
			i.Tell(d.place(ref), "%s %s is not here: if it limits, give its file too", kind, name)
		case kind != "KongPlugin" && kind != "PluginConfig" && some(here[n].Tree, func(key string, _ *policy.Tree) bool { return mayLimit().MatchString(key) }):
			i.Lose(d.place(ref), "%s %s is not read for the rule that names it here: this rule is not judged by it", kind, name)
		}
	})
}

// gatewayPath returns the requests of a match of paths.
func gatewayPath(at *policy.Tree) (set neutral.Set) {
	switch value := at.Say("value"); at.Say("type") {
	case "Exact":
		return neutral.Exactly(value)
	case "RegularExpression":
		set, _ = neutral.TextSet("regexp", "reg", []string{"^(?:" + value + ")$"}, false)
		return set
	default:
		return segments(value)
	}
}

// segments returns the requests whose path begins with whole parts between slashes.
func segments(path string) (set neutral.Set) {
	if path = strings.TrimSuffix(path, "/"); path != "" {
		set = neutral.Union(neutral.Exactly(path), neutral.Below(path+"/"))
	}
	return set
}
