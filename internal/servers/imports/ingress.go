package imports

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
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

var notInLimit = lazy.Regexp(`/global-rate-limit$`)

func takeIngresses(i *Import, docs []doc) {
	p := Policy{Name: "ingress-nginx"}
	type route struct {
		place nginxPlace
		of    int
	}
	var limits [][]ingressLimit
	hosts, expressions := map[string][]route{}, map[string]bool{}
	upstreams := map[string][]string{} // of each host
	var names []string
	for _, d := range each(docs, "Ingress") {
		limits = append(limits, i.ingressLimits(d))
		of, notes := len(limits)-1, d.Get("metadata", "annotations")
		add := func(host string, kind, pattern string) {
			if hosts[host] == nil {
				names = append(names, host)
			}
			hosts[host] = append(hosts[host], route{nginxPlace{kind: kind, pattern: pattern}, of})
		}
		for _, rule := range d.List("spec", "rules") {
			host := strings.ToLower(rule.Say("host"))
			if ingressNote(notes, "use-regex").Say() == "true" || ingressNote(notes, "rewrite-target") != nil {
				expressions[host] = true
			}
			for _, at := range rule.List("http", "paths") {
				path := cmp.Or(at.Say("path"), "/")
				if up := upstream(d, at); up != "" && !slices.Contains(upstreams[host], up) {
					upstreams[host] = append(upstreams[host], up)
				}
				switch at.Say("pathType") {
				case "Exact":
					add(host, "=", path)
				case "Prefix":
					path = strings.TrimSuffix(path, "/")
					if add(host, "", path+"/"); path != "" {
						add(host, "=", path)
					}
				default:
					add(host, "", path)
				}
			}
		}
		if d.Get("spec", "defaultBackend") != nil && len(d.List("spec", "rules")) == 0 {
			add("", "", "/")
		}
	}
	sets := make([][]Set, len(limits))
	for _, host := range names {
		server := Set{}
		for _, other := range names {
			if other != "" && (host == "" || narrower(other, host)) {
				server = server.and(within("host", append([]string{other}, upstreams[other]...)...).except())
			}
		}
		if host != "" {
			server = server.and(within("host", append([]string{host}, upstreams[host]...)...))
		}
		root := nginxPlace{}
		for _, r := range hosts[host] {
			if expressions[host] { // whatever its kind
				r.place.kind, r.place.pattern = "~*", "^"+r.place.pattern
				if _, err := regexp.Compile(r.place.pattern); err != nil {
					i.lose(each(docs, "Ingress")[r.of].place(nil), "path %s cannot be read in Go's syntax: it is left out", r.place.pattern[1:])
					continue
				}
			}
			root.within = append(root.within, r.place)
		}
		if expressions[host] { // the longest is asked first
			slices.SortStableFunc(root.within, func(a, b nginxPlace) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
		}
		taken, _ := root.choose(server)
		of := func(p nginxPlace) int {
			at := slices.IndexFunc(hosts[host], func(r route) bool {
				return r.place.kind == p.kind && r.place.pattern == p.pattern || expressions[host] && "^"+r.place.pattern == p.pattern
			})
			return hosts[host][at].of
		}
		for _, c := range taken {
			n := of(c.place)
			sets[n] = append(sets[n], c.set)
		}
	}
	status := "503"
	for _, d := range each(i.docs, "ConfigMap") {
		status = cmp.Or(d.Say("data", "limit-req-status-code"), status)
	}
	for n := range limits {
		for _, l := range limits[n] {
			set := union(sets[n]...)
			p.Limits = append(p.Limits, Limit{
				Text: l.text, Match: set.and(l.spare), Count: set.and(l.spare),
				Told: []string{fmt.Sprintf("%s %s: %s of Ingress %s, refused with %s", l.d.place(l.at),
					annotationName(l.at, l.d), l.at.Text, l.d.Say("metadata", "name"), status)},
			})
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

// ingressLimits are the limits of an Ingress.
func (i *Import) ingressLimits(d doc) (all []ingressLimit) {
	notes := d.Get("metadata", "annotations")
	for _, key := range notes.Keys() {
		at := notes.Get(key)
		switch {
		case haproxyNote().MatchString(key): // read by another format
		case strings.HasSuffix(key, "/limit-connections"):
			i.lose(d.place(at), "%s bounds how many requests are under way at once, which no limit here does", key)
		case strings.HasPrefix(key, "ingress.kubernetes.io/limit-"):
			i.lose(d.place(at), "%s is none that ingress-nginx reads: the name begins with nginx.", key)
		case notInLimit().MatchString(key), strings.Contains(key, "rate-limit"), strings.Contains(key, "limit-req-"):
			i.lose(d.place(at), "%s is no limit that is known here", key)
		case strings.HasSuffix(key, "-snippet") && strings.Contains(at.Text, "limit_req"):
			i.lose(d.place(at), "%s has a limit_req, which is not read", key)
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
		var networks []string
		for text := range strings.SplitSeq(list.Text, ",") {
			prefix, err := parseNetwork(strings.TrimSpace(text))
			if err != nil {
				i.lose(d.place(list), "%s is no network: it is left out", strings.TrimSpace(text))
				continue
			}
			networks = append(networks, networkText(prefix))
		}
		if networks != nil {
			spare = within("network", networks...).except()
		}
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
	return all
}

// parseNetwork reads an address or a prefix; bits beyond its length do not count.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}
