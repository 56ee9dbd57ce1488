package servers

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Kong, APISIX and ingress-nginx have limits at routes: paths, hosts and perhaps methods say for which requests. A request
// gets to one route.

var kongTarget = Target{
	Name: "kong", Title: "Kong", Comment: "#", Ending: ".yaml", own: ownKong,
	Beside: "a request is judged by one rate-limiting plugin, that of the route before the service's and the " +
		"global one: none may be " +
		"there already. `deck gateway sync` takes out what a file does not have: `deck gateway apply` does not",
	Grid:    "whole requests per second, minute, hour or day, in windows of the clock",
	Enforce: "Kong has no dry run: it refuses as soon as the plugin is there. Put the address of your service in the place of SERVICE",
	nearest: fixedWindows("fixed", "windows of the clock", 1, limit.Second, limit.Minute, limit.Hour, limit.Day), write: writeKong,
}

var apisixTarget = Target{
	Name: "apisix", Title: "APISIX", Comment: "#", Ending: ".yaml", own: ownAPISIX, Combine: policy.InTurn,
	Beside: "a request gets to one route, and its plugin takes the place of the service's: neither may limit " +
		"these requests already",
	Grid:    "limit-req: whole requests per second or minute and a burst; limit-count: whole seconds",
	Enforce: "APISIX has no dry run: it refuses as soon as the plugin is there. Put the address of your service in the place of SERVICE",
	nearest: nearestAPISIX, write: writeAPISIX,
}

var ingressTarget = Target{
	Name: "ingress-nginx", Title: "ingress-nginx", Comment: "#", Ending: ".yaml", own: ownIngress,
	Beside: "a request gets to one Ingress, that of the longest path: none that limits may serve these requests " +
		"already",
	Grid: "whole requests per second or minute, and a burst of a multiple of them",
	Enforce: "ingress-nginx has no dry run of its own: it refuses at once, in each replica for itself. Put your service in the place " +
		"of SERVICE. limit-burst-multiplier and limit-allowlist are of all limits of an Ingress",
	nearest: nearestIngress, write: writeIngress,
	up: func(s limit.Spec, n int64) int64 { return limit.CeilDiv(n, s.Count) * s.Count },
}

func ownKong(s limit.Spec) bool {
	return s.Algorithm == "fixed" && (s.Options == "" || s.Options == "align=epoch") && policy.EnvoyUnits[s.Period] != "" && s.Period != limit.Week
}

func ownAPISIX(s limit.Spec) bool {
	return s.Algorithm == "nginx" || s.Algorithm == "fixed" && s.Options == restyOptions && (s.Period-limit.Millisecond)%limit.Second == 0
}

// restyOptions fit resty.limit.count, whose windows live on in the millisecond of their end.
const restyOptions = "align=first,clock=1ms"

func ownIngress(s limit.Spec) bool {
	burst := s.Args().Int("burst", 0)
	return s.Algorithm == "nginx" && burst > 0 && burst%s.Count == 0 && strings.HasSuffix(s.Options, ",nodelay")
}

// nearestAPISIX is limit-req, or for what is no bucket limit-count.
func nearestAPISIX(spec limit.Spec, s limit.Shape) (near limit.Spec, deviation string) {
	filled := float64(s.AtOnce) * float64(s.Period) / float64(s.Count) // from empty
	per := limit.Time(math.Max(1, math.Round(filled/float64(limit.Second)))) * limit.Second
	if !s.Kin {
		per += limit.Millisecond
		if near = (limit.Spec{Algorithm: "fixed", Count: s.AtOnce, Period: per, Options: restyOptions}); near == spec {
			return near, ""
		}
		return near, "windows that begin with a request, and end a millisecond late"
	}
	return nearest("nginx")(spec, s)
}

// nearestIngress returns the nearest limit of nginx whose burst is a multiple of its rate.
func nearestIngress(spec limit.Spec, shape limit.Shape) (near limit.Spec, deviation string) {
	if near, deviation = nearest("nginx")(spec, shape); near.Count == 0 {
		return near, deviation
	}
	own := near.Args().Int("burst", 0)
	burst := max(1, int64(math.Round(float64(own)/float64(near.Count)))) * near.Count
	if own != burst {
		shape.AtOnce = burst + 1
		_, deviation = nearest("nginx")(spec, shape)
		deviation = strings.TrimPrefix(fmt.Sprintf("%s; a burst of %d, not %d", deviation, burst, own), "; ")
	}
	return policy.NginxLimit(near.Count, near.Period, burst), deviation
}

// A route is requests that a route can be for.
type route struct {
	hosts, methods, prefixes, paths, patterns []string
}

// routeOf is the route of a setting.
func routeOf(s setting, expressions bool) (r route, err error) {
	if common, path, ok := segment(s.when); ok {
		s.when = []clause{append(slices.Clip(common), test{kind: "prefix", values: []string{path + "/"}})}
		defer func() { r.paths = append(r.paths, path) }()
	}
	if len(s.when) > 1 {
		return r, fmt.Errorf("its routes have conditions that all must fit, and this takes several sets of them")
	}
	fields := map[string]*[]string{
		"host": &r.hosts, "method": &r.methods, "prefix": &r.prefixes, "path": &r.paths, "regexp": &r.patterns,
	}
	seen := map[string]bool{}
	for _, t := range slices.Concat(s.when...) {
		kind := t.kind
		if kind == "prefix" || kind == "regexp" {
			kind = "path"
		}
		if fields[t.kind] == nil || t.not || seen[kind] || t.kind == "regexp" && !expressions ||
			t.kind == "host" && slices.ContainsFunc(t.values, isOddMask) {
			return r, t.cannot()
		}
		seen[kind], *fields[t.kind] = true, t.values
	}
	return r, nil
}

// lines are the conditions of a route in YAML, with paths behind a key.
func (r route) lines(key string, paths []string) (lines []string) {
	for _, line := range []string{yamlList(key, paths), yamlList("hosts", r.hosts), yamlList("methods", r.methods)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// yamlList is a list between brackets; "" of nothing.
func yamlList(key string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return key + ": [" + strings.Join(mapped.Of(values, yamlText), ", ") + "]"
}

// yamlText is a text between quotes.
func yamlText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// yamlItem is lines as an item of a list.
func yamlItem(at int, lines ...string) []string {
	item := indent(at+2, lines)
	item[0] = strings.Repeat(" ", at) + "- " + lines[0]
	return item
}

// oneRoute says that limits of several routes do not hold together.
func (e *Export) oneRoute(all []setting) {
	if !allDisjoint(all) {
		e.lose("a request gets to one route there: limits for other requests that may be the same ones do not hold together")
	}
}

// wantAddresses is the error of clients that a gateway does not know.
func (e *Export) wantAddresses() error {
	if !e.where.address() || e.where.Cut {
		return fmt.Errorf("its clients are addresses, not %s", e.where.Client)
	}
	return nil
}

// plainClient is wantAddresses where it counts by them.
func (e *Export) plainClient() error {
	err := e.wantAddresses()
	if err == nil {
		e.noteProxies()
	}
	return err
}

// noteProxies says that addresses must come from the same header.
func (e *Export) noteProxies() {
	if e.where.forwarded() != "" {
		e.note("clients are taken from %s here: it must trust the same proxies", e.where.forwarded())
	}
}

func writeKong(e *Export, all []setting) error {
	lines := []string{"_format_version: \"3.0\"", "services:", "  - name: shadow", "    url: http://SERVICE", "    routes:"}
	e.oneRoute(all)
	for _, s := range all {
		r, err := routeOf(s, true)
		if err != nil {
			return err
		}
		by, err := e.kongKey(s.by)
		if err != nil {
			return err
		}
		paths := slices.Clip(r.prefixes)
		paths = mapped.Add(paths, r.paths, func(p string) string { return "~" + regexp.QuoteMeta(p) + "$" })
		for _, p := range r.patterns {
			if !strings.HasPrefix(p, "^/") {
				return fmt.Errorf("its expressions for paths begin with a slash, and not as %s", p)
			}
			paths = append(paths, "~"+p[1:])
		}
		if len(paths) == 0 {
			paths = []string{"/"}
		}
		lines = append(lines, "      - name: "+s.name)
		lines = append(lines, indent(8, r.lines("paths", paths))...)
		lines = append(lines, "        plugins:", "          - name: rate-limiting",
			fmt.Sprintf("            config: {%s: %d, policy: local, %s}", policy.EnvoyUnits[s.spec.Period], s.spec.Count, by))
	}
	e.note("each node counts for itself")
	e.block("", lines...)
	return nil
}

func (e *Export) kongKey(parts []request.Part) (string, error) {
	p, err := only(parts)
	if err != nil {
		return "", err
	}
	switch p.Kind {
	case request.PartClient:
		return "limit_by: ip", e.plainClient()
	case request.PartSite:
		return "limit_by: service", nil
	case request.PartHeader:
		return "limit_by: header, header_name: " + headerText(p.Name), nil
	}
	return "", cannotCount(p)
}

func writeAPISIX(e *Export, all []setting) error {
	lines := []string{"routes:"}
	e.oneRoute(all)
	for _, s := range all {
		plain, exempt := s.exempted()
		r, err := routeOf(plain, false)
		if err != nil {
			return err
		}
		plugin, err := e.apisixPlugin(s)
		if err != nil {
			return err
		}
		uris := append(slices.Clip(r.paths), mapped.Of(r.prefixes, func(p string) string { return p + "*" })...)
		if len(uris) == 0 {
			uris = []string{"/*"}
		}
		if exempt != nil {
			e.noteProxies()
			plugin = fmt.Sprintf(`%s, _meta: {filter: [[remote_addr, "!", ipmatch, ["%s"]]]}}`, strings.TrimSuffix(plugin, "}"),
				strings.Join(exempt, `", "`))
		}
		lines = append(append(lines, "  - id: "+s.name), indent(4, r.lines("uris", uris))...)
		lines = append(lines, "    plugins:", "      "+plugin, "    upstream: {nodes: {SERVICE: 1}, type: roundrobin}")
	}
	e.block("", append(lines, "#END")...)
	return nil
}

func (e *Export) apisixKey(s setting) (string, error) {
	p, err := only(s.by)
	if err != nil {
		return "", err
	}
	switch {
	case p.Kind == request.PartClient:
		return "key_type: var, key: remote_addr", e.plainClient()
	case p.Kind == request.PartSite && s.spec.Algorithm != "nginx":
		return "key_type: constant, key: all", nil
	case p.Kind == request.PartHost:
		return "key_type: var, key: host", nil
	case p.Kind == request.PartHeader:
		return "key_type: var, key: http_" + nginxHeader(p.Name), nil
	}
	return "", cannotCount(p)
}

func (e *Export) apisixPlugin(s setting) (string, error) {
	key, err := e.apisixKey(s)
	if err != nil || s.spec.Algorithm != "nginx" {
		return fmt.Sprintf("limit-count: {count: %d, time_window: %d, policy: local, rejected_code: 429, %s}", s.spec.Count,
			s.spec.Period/limit.Second, key), err
	}
	rate := fmt.Sprint(s.spec.Count)
	if s.spec.Period == limit.Minute {
		rate = fmt.Sprint(float64(s.spec.Count) / 60)
	}
	if n := s.spec.Args().Int("delay", 0); n > 0 {
		e.note("it delays all that is beyond the rate, not only what is beyond %d", n)
	}
	burst := s.spec.Args().Int("burst", 0)
	return fmt.Sprintf("limit-req: {rate: %s, burst: %d, nodelay: %t, rejected_code: 429, %s}", rate, burst,
		burst == 0 || strings.HasSuffix(s.spec.Options, "nodelay"), key), nil
}

func writeIngress(e *Export, all []setting) error {
	e.oneRoute(all)
	if err := e.plainClient(); err != nil {
		return err
	}
	var lines []string
	for i, s := range all {
		if len(s.by) > 1 || s.by[0].Kind != request.PartClient {
			return fmt.Errorf("it counts by addresses, not by %s", joinParts(s.by))
		}
		plain, exempt := s.exempted()
		r, err := routeOf(plain, false)
		if err == nil && r.methods != nil {
			err = test{kind: "method", values: r.methods}.cannot()
		}
		if err != nil {
			return err
		}
		if i > 0 {
			lines = append(lines, "---")
		}
		rate := map[bool]string{true: "limit-rpm", false: "limit-rps"}[s.spec.Period == limit.Minute]
		const prefix = "    nginx.ingress.kubernetes.io/"
		lines = append(lines, "apiVersion: networking.k8s.io/v1", "kind: Ingress", "metadata:",
			"  name: "+strings.ReplaceAll(s.name, "_", "-"), "  annotations:",
			fmt.Sprintf("%s%s: \"%d\"", prefix, rate, s.spec.Count),
			fmt.Sprintf("%slimit-burst-multiplier: \"%d\"", prefix, s.spec.Args().Int("burst", 0)/s.spec.Count))
		if exempt != nil {
			lines = append(lines, prefix+"limit-allowlist: "+strings.Join(exempt, ","))
		}
		lines = append(append(lines, "spec:", "  ingressClassName: nginx", "  rules:"), r.ingressRules()...)
	}
	e.block("", lines...)
	return nil
}

// ingressRules are the rules of a route: one for each host.
func (r route) ingressRules() (rules []string) {
	if r.paths == nil && r.prefixes == nil {
		r.prefixes = []string{"/"}
	}
	lines := []string{"http:", "  paths:"}
	add := func(kind string, paths []string) {
		for _, p := range paths {
			lines = append(lines, yamlItem(4, "path: "+yamlText(p), "pathType: "+kind,
				"backend: {service: {name: SERVICE, port: {number: 80}}}")...)
		}
	}
	add("Exact", r.paths)
	add("ImplementationSpecific", r.prefixes)
	if r.hosts == nil {
		return yamlItem(4, lines...)
	}
	for _, host := range r.hosts {
		rules = append(rules, yamlItem(4, append([]string{"host: '" + host + "'"}, lines...)...)...)
	}
	return rules
}
