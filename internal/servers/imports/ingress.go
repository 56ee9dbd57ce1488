package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/servers/imports/nginx"
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
	spare neutral.Set
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
	place nginx.Place
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
	h.routes = append(h.routes, ingressRoute{nginx.Place{Kind: kind, Pattern: pattern}, of})
}

// read takes the rules of an Ingress.
func (s *ingressHosts) read(i *Import, d doc, of int) {
	onlyKnown(i.Tell, d, d.Get("spec"), "ingressclassname defaultbackend tls rules backend")
	notes, rules := d.Get("metadata", "annotations"), d.List("spec", "rules")
	for _, rule := range rules {
		onlyKnown(i.Tell, d, rule, "host http")
		name := strings.ToLower(rule.Say("host"))
		h := s.host(name)
		h.aliases = append(h.aliases, i.serverAliases(d)...)
		h.expressions = h.expressions || ingressNote(notes, "use-regex").Say() == "true" || ingressNote(notes, "rewrite-target") != nil
		for _, at := range rule.List("http", "paths") {
			onlyKnown(i.Tell, d, at, "path pathtype backend")
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
func (s *ingressHosts) named(host string) neutral.Set {
	names := []string{host}
	for _, alias := range s.hosts[host].aliases {
		if !slices.Contains(s.names, alias) && !slices.Contains(names, alias) { // else it is a server of its own
			names = append(names, alias)
		}
	}
	return neutral.Within("host", append(names, s.hosts[host].upstreams...)...)
}

// serverAliases are more names of the hosts of an Ingress.
func (i *Import) serverAliases(d doc) (names []string) {
	at := ingressNote(d.Get("metadata", "annotations"), "server-alias")
	for _, name := range texts([]*policy.Tree{cmp.Or(at, &policy.Tree{})}) {
		if strings.HasPrefix(name, "~") {
			i.Lose(d.place(at), "server-alias %s is an expression, and conditions on hosts have none", name)
			continue
		}
		names = append(names, strings.ToLower(name))
	}
	return names
}

// server is the requests that come to the server of a host, which no narrower one takes.
func (s *ingressHosts) server(host string) (set neutral.Set) {
	for _, other := range s.names {
		if other != "" && (host == "" || neutral.Narrower(other, host)) {
			set = set.And(s.named(other).Except())
		}
	}
	if host == "" {
		return set
	}
	return set.And(s.named(host))
}

// share gives the requests of a host to Ingresses, by their numbers.
func (i *Import) share(h *ingressHost, server neutral.Set, ingresses []doc, give func(ingress int, set neutral.Set)) {
	root := nginx.Place{}
	for n := range h.routes {
		p := &h.routes[n].place
		if h.expressions {
			if p.Kind, p.Pattern = "~*", "^"+p.Pattern; !neutral.Compiles(p.Pattern) {
				i.Lose(ingresses[h.routes[n].of].place(nil), "path %s cannot be read in Go's syntax: it is left out", p.Pattern[1:])
				continue
			}
		}
		root.Within = append(root.Within, *p)
	}
	if h.expressions { // the longest is asked first
		slices.SortStableFunc(root.Within, func(a, b nginx.Place) int { return cmp.Compare(len(b.Pattern), len(a.Pattern)) })
	}
	taken, _ := root.Choose(server)
	for _, c := range taken {
		at := slices.IndexFunc(h.routes, func(r ingressRoute) bool {
			return r.place.Kind == c.Place.Kind && r.place.Pattern == c.Place.Pattern
		})
		give(h.routes[at].of, c.Set)
	}
}

func takeIngresses(i *Import, docs []doc) {
	p := neutral.Policy{Name: "ingress-nginx", NginxPaths: true}
	ingresses := slices.DeleteFunc(each(docs, "Ingress"), func(d doc) bool {
		canary := ingressNote(d.Get("metadata", "annotations"), "canary")
		if canary.Say() == "true" {
			i.Tell(d.place(canary), "Ingress %s is a canary: the limits of the main one hold for its requests", d.Say("metadata", "name"))
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
	sets := make([][]neutral.Set, len(limits))
	for _, host := range servers.names {
		i.share(servers.hosts[host], servers.server(host), ingresses, func(n int, set neutral.Set) { sets[n] = append(sets[n], set) })
	}
	status := "503"
	for _, d := range each(i.docs, "ConfigMap") {
		status = cmp.Or(d.Say("data", "limit-req-status-code"), status)
	}
	for n := range limits {
		for _, l := range limits[n] {
			p.Add(l.text, fmt.Sprintf("%s %s: %s of Ingress %s, refused with %s", l.d.place(l.at), annotationName(l.at, l.d), l.at.Text,
				l.d.Say("metadata", "name"), status), neutral.KeyCase{Set: neutral.Union(sets[n]...).And(l.spare), By: request.ByClient})
		}
	}
	if len(p.Limits) > 0 {
		i.Tell("", "ingress-nginx counts in each replica of the controller; here one counts all requests")
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
			i.Lose(d.place(at), "%s has a limit_req, which is not read", key)
		case !own && !(ofHost && strings.HasSuffix(key, "/server-snippet")):
		case snippetRule().MatchString(at.Text):
			i.Lose(d.place(at), "%s is not read: what it answers, or has a location for, counts in the limits here", key)
		default:
			i.Tell(d.place(at), "%s has directives of nginx, which are not read", key)
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
			i.Lose(d.place(at), "%s bounds how many requests are under way at once, which no limit here does", key)
		case strings.HasPrefix(key, "haproxy-ingress.github.io/limit-"):
			i.Lose(d.place(at), "%s is of HAProxy Ingress, which is not read: write --limit haproxy:N/1s", key)
		case strings.HasPrefix(key, "ingress.kubernetes.io/limit-"):
			i.Lose(d.place(at), "%s is none that ingress-nginx reads: the name begins with nginx.", key)
		case notInLimit().MatchString(key), strings.Contains(key, "rate-limit"), strings.Contains(key, "limit-req-"):
			i.Lose(d.place(at), "%s is no limit that is known here", key)
		case anyIngressLimit().MatchString(key) && !knownIngressLimits().MatchString(key):
			i.Lose(d.place(at), "%s is no limit that is known here", key)
		}
	}
	times := 5
	if at := ingressNote(notes, "limit-burst-multiplier"); at != nil {
		n, err := strconv.Atoi(at.Text)
		if times = n; err != nil || n < 0 {
			i.Lose(d.place(at), "limit-burst-multiplier %s is not understood: 5 is taken", at.Text)
			times = 5
		}
	}
	spare := neutral.Set{}
	list := cmp.Or(ingressNote(notes, "limit-allowlist"), ingressNote(notes, "limit-whitelist"))
	if list != nil {
		spare = i.sparing(d.place(list), "", mapped.Add(nil, strings.Split(list.Text, ","), strings.TrimSpace))
	}
	for _, kind := range []struct{ name, unit string }{{"limit-rps", "s"}, {"limit-rpm", "m"}} {
		at := ingressNote(notes, kind.name)
		if at == nil {
			continue
		}
		n, err := strconv.Atoi(at.Text)
		if err != nil || n < 0 {
			i.Lose(d.place(at), "%s %s is not understood", kind.name, at.Text)
		} else if n > 0 {
			all = append(all, ingressLimit{d, at, fmt.Sprintf("nginx:%dr/%s,burst=%d,nodelay", n, kind.unit, n*times), spare})
		}
	}
	if to := cmp.Or(ingressNote(notes, "permanent-redirect"), ingressNote(notes, "temporal-redirect")); to != nil && all != nil {
		i.Tell(d.place(to), "%s answers before limits are asked: those of the Ingress are left out", annotationName(to, d))
		return nil
	}
	return all
}

// sparing are all requests but those of some networks. What is none is told with what it is about.
func (i *Import) sparing(place, about string, words []string) neutral.Set {
	var networks []string
	for _, word := range words {
		if prefix, err := neutral.ParseNetwork(word); err == nil {
			networks = append(networks, neutral.NetworkText(prefix))
		} else {
			i.Lose(place, "%s%s is no network: it is left out", about, word)
		}
	}
	if networks == nil {
		return neutral.Set{}
	}
	return neutral.Within("network", networks...).Except()
}
