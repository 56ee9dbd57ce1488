package servers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
)

// writeGateway has rules with selectors that must all fit.
func writeGateway(e *Export, all []setting) error {
	if err := e.wantAddresses(); err != nil {
		return err
	}
	var routes []gatewayRoute
	for _, s := range all {
		hosts, rules, err := e.gatewayRules(s)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(routes, func(r gatewayRoute) bool { return slices.Equal(r.hosts, hosts) })
		if at < 0 {
			at, routes = len(routes), append(routes, gatewayRoute{hosts: hosts})
		}
		routes[at].rules = append(routes[at].rules, rules...)
	}
	lines, err := gatewayRoutes(routes)
	if err != nil {
		return err
	}
	e.note("each route counts for itself there, unless a rule is shared")
	if routes[0].hosts != nil {
		e.note("put your gateway and service in the place of GATEWAY and SERVICE, or name the route that you have for these hosts " +
			"in targetRefs")
	}
	e.block("", lines...)
	return nil
}

// gatewayRules are the hosts that a setting is for, and its rules: one for each family of addresses that it tells apart.
func (e *Export) gatewayRules(s setting) (hosts, rules []string, err error) {
	if s.when = one(s.when); len(s.when) > 1 {
		return nil, nil, fmt.Errorf("its selectors must all fit, and this takes several sets of them")
	}
	var selectors []string
	source := "" // one of a rule
	for _, t := range slices.Concat(s.when...) {
		if t.kind == "host" && !t.not && hosts == nil {
			hosts = t.values
			continue
		}
		one, err := gatewayTest(t)
		switch {
		case err != nil:
			return nil, nil, err
		case t.kind != "network":
			selectors = append(selectors, one)
		case source != "":
			return nil, nil, fmt.Errorf("its rules have one network each")
		default:
			e.noteProxies()
			source = one
		}
	}
	sources := []string{source}
	for _, p := range s.by {
		switch p.Kind {
		case request.PartSite:
		case request.PartClient:
			if source == "" {
				sources = []string{`value: "0.0.0.0/0"`, `value: "::/0"`}
			}
			for i := range sources {
				sources[i] += ", type: Distinct"
			}
		case request.PartHeader:
			selectors = append(selectors, "headers: [{name: "+strings.ToLower(headerText(p.Name))+", type: Distinct}]")
			e.lose("requests without %s are not limited there, and count by their client here", p)
		default:
			return nil, nil, cannotCount(p)
		}
	}
	for _, source := range sources {
		own := selectors
		if source != "" {
			own = append([]string{"sourceCIDR: {" + source + "}"}, selectors...)
		}
		var lines []string
		if own != nil {
			lines = append([]string{"clientSelectors:"}, mapped.Of(own, func(s string) string { return "  - " + s })...)
		}
		unit := policy.EnvoyUnits[s.spec.Period]
		rules = append(rules, yamlItem(8, append(lines, fmt.Sprintf("limit: {requests: %d, unit: %s}", s.spec.Count,
			strings.ToUpper(unit[:1])+unit[1:]), "shadowMode: true")...)...)
	}
	return hosts, rules, nil
}

// A gatewayRoute is the rules for some hosts, which are those of a route; none: all hosts.
type gatewayRoute struct {
	hosts, rules []string
}

// gatewayRoutes are routes with their policies. A request belongs to one of them.
func gatewayRoutes(routes []gatewayRoute) (lines []string, err error) {
	var seen []string
	for n, r := range routes {
		for _, host := range r.hosts {
			if isMask(strings.TrimPrefix(host, "*.")) || len(routes) > 1 && (isMask(host) || slices.Contains(seen, host)) {
				return nil, fmt.Errorf("its routes have names of hosts, each in one of them, not %s", host)
			}
			seen = append(seen, host)
		}
		if r.hosts == nil && len(routes) > 1 {
			return nil, fmt.Errorf("its routes have limits of their own, and some of these are for all hosts")
		}
		name, route := "shadow", "ROUTE"
		if n > 0 {
			name = fmt.Sprintf("shadow-%d", n+1)
			lines = append(lines, "---")
		}
		if r.hosts != nil {
			route = name
			lines = append(lines, "apiVersion: gateway.networking.k8s.io/v1", "kind: HTTPRoute", "metadata: {name: "+name+"}", "spec:",
				"  parentRefs: [{name: GATEWAY}]", "  hostnames: ['"+strings.Join(r.hosts, "', '")+"']",
				"  rules: [{backendRefs: [{name: SERVICE, port: 80}]}]", "---")
		}
		lines = append(lines, "apiVersion: gateway.envoyproxy.io/v1alpha1", "kind: BackendTrafficPolicy", "metadata: {name: "+name+"}",
			"spec:", "  mergeType: StrategicMerge", "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: "+route+"}]", "  rateLimit:",
			"    type: Global", "    global:", "      rules:")
		lines = append(lines, r.rules...)
	}
	return lines, nil
}

// gatewayTest is a selector, or what a source is.
func gatewayTest(t test) (string, error) {
	invert := map[bool]string{true: ", invert: true"}[t.not]
	if len(t.values) > 1 && !(t.kind == "method" && !t.not) {
		return "", fmt.Errorf("its selectors have one value, not %s", strings.Join(t.values, ", "))
	}
	expression := func(pattern string) string {
		return "path: {type: RegularExpression, value: " + yamlText(pattern) + invert + "}"
	}
	switch value := t.values[0]; t.kind {
	case "method":
		methods := mapped.Of(t.values, func(v string) string { return "{value: " + v + invert + "}" })
		return "methods: [" + strings.Join(methods, ", ") + "]", nil
	case "path":
		return expression(regexp.QuoteMeta(value) + `(\?.*)?`), nil // Exact is asked with the query
	case "prefix":
		return expression(regexp.QuoteMeta(value) + ".*"), nil
	case "regexp":
		return expression(wholePattern(value)), nil
	case "network":
		return `value: "` + prefixOf(value).String() + `"` + invert, nil
	}
	return "", t.cannot()
}
