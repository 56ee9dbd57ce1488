package imports

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
)

// ingress-nginx: annotations of an Ingress are limits of nginx by the client's address, with a burst of five times the
// rate, or limit-burst-multiplier times. Each has a zone of its own for all hosts and paths of the Ingress, in each
// replica of the controller. Paths become locations, which nginx chooses from.
// Source: kubernetes/ingress-nginx dbb11b9, docs/user-guide/nginx-configuration/annotations.md (Rate Limiting),
// internal/ingress/annotations/ratelimit/main.go, internal/ingress/controller/template/template.go
// (buildRateLimitZones, buildRateLimit), controller/config/config.go (limit-req-status-code),
// rootfs/etc/nginx/template/nginx.tmpl.

var ingressFormat = format{name: "ingress-nginx", has: isIngress, take: takeIngresses}

func isIngress(d doc) bool {
	return d.Say("kind") == "Ingress" || d.Say("kind") == "List" && slices.ContainsFunc(d.List("items"), func(t *policy.Tree) bool {
		return t.Say("kind") == "Ingress"
	})
}

// each are the documents of a kind, with those in lists.
func each(docs []doc, kinds ...string) (all []doc) {
	for _, d := range docs {
		if d.Say("kind") == "List" {
			for _, item := range d.List("items") {
				all = append(all, each([]doc{{item, d.file}}, kinds...)...)
			}
		} else if slices.Contains(kinds, d.Say("kind")) {
			all = append(all, d)
		}
	}
	return all
}

// An ingressLimit is what an annotation says.
type ingressLimit struct {
	d     doc
	at    *policy.Tree
	text  string
	spare Set
}

var (
	notInLimit         = lazy.Regexp(`/global-rate-limit$`)
	knownIngressLimits = lazy.Regexp(`/limit-(rp[sm]|connections|rate|rate-after|burst-multiplier|allowlist|whitelist)$`)
	anyIngressLimit    = lazy.Regexp(`^nginx\.ingress\.kubernetes\.io/limit-`)
)

// An ingressHost is what Ingresses say of a host.
type ingressHost struct {
	routes      []ingressRoute
	expressions bool     // whether its paths are some, of whatever kind
	upstreams   []string // what stands in the place of the host in logs that have none
	aliases     []string // more names
}

// An ingressRoute is a location, and which Ingress it is of.
type ingressRoute struct {
	place nginxPlace
	of    int
}

// ingressHosts holds those with routes, by their names, which are in the order of the configuration.
type ingressHosts struct {
	names []string
	hosts map[string]*ingressHost
}

func (s *ingressHosts) host(name string) *ingressHost {
	if s.hosts[name] == nil {
		s.hosts[name] = new(ingressHost)
	}
	return s.hosts[name]
}

func (s *ingressHosts) add(host, kind, pattern string, of int) {
	h := s.host(host)
	if h.routes == nil {
		s.names = append(s.names, host)
	}
	h.routes = append(h.routes, ingressRoute{nginxPlace{kind: kind, pattern: pattern}, of})
}

// read takes the rules of an Ingress.
func (s *ingressHosts) read(i *Import, d doc, of int) {
	onlyKnown(i.tell, d, d.Get("spec"), "ingressclassname defaultbackend tls rules backend")
	notes, rules := d.Get("metadata", "annotations"), d.List("spec", "rules")
	for _, rule := range rules {
		onlyKnown(i.tell, d, rule, "host http")
		name := strings.ToLower(rule.Say("host"))
		h := s.host(name)
		h.aliases = append(h.aliases, i.serverAliases(d)...)
		h.expressions = h.expressions || ingressNote(notes, "use-regex").Say() == "true" || ingressNote(notes, "rewrite-target") != nil
		for _, at := range rule.List("http", "paths") {
			onlyKnown(i.tell, d, at, "path pathtype backend")
			path := cmp.Or(at.Say("path"), "/")
			if up := upstream(d, at); up != "" && !slices.Contains(h.upstreams, up) {
				h.upstreams = append(h.upstreams, up)
			}
			switch at.Say("pathType") {
			case "Exact":
				s.add(name, "=", path, of)
			case "Prefix":
				path = strings.TrimSuffix(path, "/")
				if s.add(name, "", path+"/", of); path != "" {
					s.add(name, "=", path, of)
				}
			default:
				s.add(name, "", path, of)
			}
		}
	}
	if d.Get("spec", "defaultBackend") != nil && len(rules) == 0 {
		s.add("", "", "/", of)
	}
}

// named are the requests that ask for a host.
func (s *ingressHosts) named(host string) Set {
	names := []string{host}
	for _, alias := range s.hosts[host].aliases {
		if !slices.Contains(s.names, alias) && !slices.Contains(names, alias) { // else it is a server of its own
			names = append(names, alias)
		}
	}
	return within("host", append(names, s.hosts[host].upstreams...)...)
}

// serverAliases are more names of the hosts of an Ingress.
func (i *Import) serverAliases(d doc) (names []string) {
	at := ingressNote(d.Get("metadata", "annotations"), "server-alias")
	for _, name := range texts([]*policy.Tree{cmp.Or(at, &policy.Tree{})}) {
		if strings.HasPrefix(name, "~") {
			i.lose(d.place(at), "server-alias %s is an expression, and conditions on hosts have none", name)
			continue
		}
		names = append(names, strings.ToLower(name))
	}
	return names
}

// server is the requests that come to the server of a host, which no narrower one takes.
func (s *ingressHosts) server(host string) (set Set) {
	for _, other := range s.names {
		if other != "" && (host == "" || narrower(other, host)) {
			set = set.and(s.named(other).except())
		}
	}
	if host == "" {
		return set
	}
	return set.and(s.named(host))
}

// share gives the requests of a host to Ingresses, by their numbers.
func (i *Import) share(h *ingressHost, server Set, ingresses []doc, give func(ingress int, set Set)) {
	root := nginxPlace{}
	for n := range h.routes {
		p := &h.routes[n].place
		if h.expressions {
			if p.kind, p.pattern = "~*", "^"+p.pattern; !compiles(p.pattern) {
				i.lose(ingresses[h.routes[n].of].place(nil), "path %s cannot be read in Go's syntax: it is left out", p.pattern[1:])
				continue
			}
		}
		root.within = append(root.within, *p)
	}
	if h.expressions { // the longest is asked first
		slices.SortStableFunc(root.within, func(a, b nginxPlace) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
	}
	taken, _ := root.choose(server)
	for _, c := range taken {
		at := slices.IndexFunc(h.routes, func(r ingressRoute) bool {
			return r.place.kind == c.place.kind && r.place.pattern == c.place.pattern
		})
		give(h.routes[at].of, c.set)
	}
}

func takeIngresses(i *Import, docs []doc) {
	p := Policy{Name: "ingress-nginx", nginx: true}
	ingresses := slices.DeleteFunc(each(docs, "Ingress"), func(d doc) bool {
		canary := ingressNote(d.Get("metadata", "annotations"), "canary")
		if canary.Say() == "true" {
			i.tell(d.place(canary), "Ingress %s is a canary: the limits of the main one hold for its requests", d.Say("metadata", "name"))
		}
		return canary.Say() == "true"
	})
	var limits [][]ingressLimit
	servers := ingressHosts{hosts: map[string]*ingressHost{}}
	for n, d := range ingresses {
		limits = append(limits, i.ingressLimits(d))
		servers.read(i, d, n)
	}
	limited := func(r ingressRoute) bool { return len(limits[r.of]) > 0 }
	for n, d := range ingresses {
		i.snippets(d, len(limits[n]) > 0, slices.ContainsFunc(servers.names, func(host string) bool {
			routes := servers.hosts[host].routes
			return slices.ContainsFunc(routes, limited) && slices.ContainsFunc(routes, func(r ingressRoute) bool { return r.of == n })
		}))
	}
	sets := make([][]Set, len(limits))
	for _, host := range servers.names {
		i.share(servers.hosts[host], servers.server(host), ingresses, func(n int, set Set) { sets[n] = append(sets[n], set) })
	}
	status := "503"
	for _, d := range each(i.docs, "ConfigMap") {
		status = cmp.Or(d.Say("data", "limit-req-status-code"), status)
	}
	for n := range limits {
		for _, l := range limits[n] {
			p.add(l.text, fmt.Sprintf("%s %s: %s of Ingress %s, refused with %s", l.d.place(l.at), annotationName(l.at, l.d), l.at.Text,
				l.d.Say("metadata", "name"), status), keyCase{union(sets[n]...).and(l.spare), request.ByClient})
		}
	}
	if len(p.Limits) > 0 {
		i.tell("", "ingress-nginx counts in each replica of the controller; here one counts all requests")
	}
	i.Policies = append(i.Policies, p)
}

// upstream returns what logs of ingress-nginx, which have no host, call the backend of a path; "" if it has a dot, as
// no name of a service has.
func upstream(d doc, at *policy.Tree) string {
	port := cmp.Or(at.Say("backend", "service", "port", "number"), at.Say("backend", "service", "port", "name"), at.Say("backend", "servicePort"))
	name := strings.Join([]string{
		d.Say("metadata", "namespace"), cmp.Or(at.Say("backend", "service", "name"), at.Say("backend", "serviceName")), port,
	}, "-")
	if d.Say("metadata", "namespace") == "" || !request.IsUpstream(name) {
		return ""
	}
	return name
}

// ingressNote is an annotation, whatever the prefix of the controller.
func ingressNote(notes *policy.Tree, name string) *policy.Tree {
	for _, key := range notes.Keys() {
		if prefix, is := strings.CutSuffix(key, "/"+name); is && strings.Contains(prefix, "nginx") && prefix != "nginx.org" {
			return notes.Get(key)
		}
	}
	return nil
}

// annotationName is the key of an annotation.
func annotationName(at *policy.Tree, d doc) string {
	notes := d.Get("metadata", "annotations")
	for _, key := range notes.Keys() {
		if notes.Get(key) == at {
			return key
		}
	}
	return ""
}

// snippetRule are lines of a snippet that keep requests from the limits of an Ingress. deny does not: limits come before it.
var snippetRule = lazy.Regexp(`(?m)^\s*(location|return|rewrite)\b|\bif\s*\([^{]*\{[^}]*\b(return|rewrite)\b`)

// snippets tells of directives of nginx beside limits: those of the Ingress, or of one that is for the same host.
func (i *Import) snippets(d doc, own, ofHost bool) {
	notes := d.Get("metadata", "annotations")
	for _, key := range notes.Keys() {
		at := notes.Get(key)
		switch {
		case !strings.HasPrefix(key, "nginx.") || !strings.HasSuffix(key, "-snippet") || strings.HasSuffix(key, "/modsecurity-snippet"):
		case strings.Contains(at.Text, "limit_req"):
			i.lose(d.place(at), "%s has a limit_req, which is not read", key)
		case !own && !(ofHost && strings.HasSuffix(key, "/server-snippet")):
		case snippetRule().MatchString(at.Text):
			i.lose(d.place(at), "%s is not read: what it answers, or has a location for, counts in the limits here", key)
		default:
			i.tell(d.place(at), "%s has directives of nginx, which are not read", key)
		}
	}
}

// ingressLimits are the limits of an Ingress.
func (i *Import) ingressLimits(d doc) (all []ingressLimit) {
	notes := d.Get("metadata", "annotations")
	for _, key := range notes.Keys() {
		at := notes.Get(key)
		switch {
		case haproxyNote().MatchString(key): // read by another format
		case strings.HasSuffix(key, "/limit-connections"):
			i.lose(d.place(at), "%s bounds how many requests are under way at once, which no limit here does", key)
		case strings.HasPrefix(key, "haproxy-ingress.github.io/limit-"):
			i.lose(d.place(at), "%s is of HAProxy Ingress, which is not read: write --limit haproxy:N/1s", key)
		case strings.HasPrefix(key, "ingress.kubernetes.io/limit-"):
			i.lose(d.place(at), "%s is none that ingress-nginx reads: the name begins with nginx.", key)
		case notInLimit().MatchString(key), strings.Contains(key, "rate-limit"), strings.Contains(key, "limit-req-"):
			i.lose(d.place(at), "%s is no limit that is known here", key)
		case anyIngressLimit().MatchString(key) && !knownIngressLimits().MatchString(key):
			i.lose(d.place(at), "%s is no limit that is known here", key)
		}
	}
	times := 5
	if at := ingressNote(notes, "limit-burst-multiplier"); at != nil {
		n, err := strconv.Atoi(at.Text)
		if times = n; err != nil || n < 0 {
			i.lose(d.place(at), "limit-burst-multiplier %s is not understood: 5 is taken", at.Text)
			times = 5
		}
	}
	spare := Set{}
	list := cmp.Or(ingressNote(notes, "limit-allowlist"), ingressNote(notes, "limit-whitelist"))
	if list != nil {
		spare = i.sparing(d.place(list), "", mapped(strings.Split(list.Text, ","), strings.TrimSpace))
	}
	for _, kind := range []struct{ name, unit string }{{"limit-rps", "s"}, {"limit-rpm", "m"}} {
		at := ingressNote(notes, kind.name)
		if at == nil {
			continue
		}
		n, err := strconv.Atoi(at.Text)
		if err != nil || n < 0 {
			i.lose(d.place(at), "%s %s is not understood", kind.name, at.Text)
		} else if n > 0 {
			all = append(all, ingressLimit{d, at, fmt.Sprintf("nginx:%dr/%s,burst=%d,nodelay", n, kind.unit, n*times), spare})
		}
	}
	if to := cmp.Or(ingressNote(notes, "permanent-redirect"), ingressNote(notes, "temporal-redirect")); to != nil && all != nil {
		i.tell(d.place(to), "%s answers before limits are asked: those of the Ingress are left out", annotationName(to, d))
		return nil
	}
	return all
}

// sparing are all requests but those of some networks. What is none is told with what it is about.
func (i *Import) sparing(place, about string, words []string) Set {
	var networks []string
	for _, word := range words {
		if prefix, err := parseNetwork(word); err == nil {
			networks = append(networks, networkText(prefix))
		} else {
			i.lose(place, "%s%s is no network: it is left out", about, word)
		}
	}
	if networks == nil {
		return Set{}
	}
	return within("network", networks...).except()
}

// parseNetwork reads an address or a prefix; bits beyond its length do not count.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}
