package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/servers/imports/nginx"
	"shadow/limit"
)

// Two more controllers of Kubernetes: HAProxy's, by annotations of an Ingress, and that of F5 NGINX, by a Policy that a
// VirtualServer names.
// Sources: haproxytech/kubernetes-ingress 202b2fe, pkg/annotations/ingress/reqRateLimit.go (by address, one table for each
// period), documentation/annotations.md; https://docs.nginx.com/nginx-ingress-controller/configuration/policy-resource/
// policy-reference/ (all rate limits of a place hold), .../precedence-and-overrides/ (those of a route take the place of
// those around it).

var (
	haproxyIngressFormat = format{name: "haproxy-ingress", has: hasHAProxyNotes, take: takeHAProxyIngresses}
	nginxPolicyFormat    = format{name: "nginx-policy", has: isNginxPolicy, take: takeNginxPolicies}
)

var haproxyNote = lazy.Regexp(`^(haproxy\.(org|com)|ingress\.kubernetes\.io)/rate-limit-`)

func hasHAProxyNotes(d doc) bool {
	return slices.ContainsFunc(each([]doc{d}, "Ingress"), func(d doc) bool {
		return slices.ContainsFunc(d.Get("metadata", "annotations").Keys(), haproxyNote().MatchString)
	})
}

func takeHAProxyIngresses(i *Import, docs []doc) {
	p := neutral.Policy{Name: "haproxy-ingress"}
	periods := map[string]string{}
	for _, d := range each(docs, "Ingress") {
		said := map[string]*policy.Tree{}
		notes := d.Get("metadata", "annotations")
		for _, key := range notes.Keys() {
			if prefix := haproxyNote().FindString(key); prefix != "" {
				said[key[len(prefix):]] = notes.Get(key)
			}
		}
		if said["requests"] != nil {
			i.haproxyIngress(&p, d, said, periods)
		}
	}
	i.Policies = append(i.Policies, p)
}

// haproxyIngress adds the limit of an Ingress. Those of the same period count together there.
func (i *Import) haproxyIngress(p *neutral.Policy, d doc, said map[string]*policy.Tree, periods map[string]string) {
	most, period, name := said["requests"], cmp.Or(said["period"].Say(), "1s"), d.Say("metadata", "name")
	n, err := strconv.ParseInt(most.Text, 10, 64)
	if _, bad := limit.ParsePeriod(period); bad != nil || err != nil {
		i.Lose(d.place(most), "%s requests in %s are not understood", most.Text, period)
		return
	}
	set := i.ingressPaths(d)
	for _, key := range slices.Sorted(maps.Keys(said)) {
		switch at := said[key]; key {
		case "requests", "period", "size", "status-code":
		case "whitelist":
			for word := range strings.FieldsFuncSeq(at.Text, func(c rune) bool { return c == ',' || c == ' ' }) {
				if prefix, err := neutral.ParseNetwork(word); err == nil {
					set = set.And(neutral.Within("network", neutral.NetworkText(prefix)).Except())
					continue
				}
				i.Lose(d.place(at), "%s is no network: it is left out", word)
			}
		default:
			i.Lose(d.place(at), "rate-limit-%s is not understood", key)
		}
	}
	if other, ok := periods[period]; ok {
		i.Lose(d.place(most), "the Ingresses %s and %s count in one table there, and each for itself here", other, name)
	}
	periods[period] = name
	p.Add(fmt.Sprintf("haproxy:%d/%s", n, period), fmt.Sprintf("%s rate-limit-requests: %d of Ingress %s, refused with %s",
		d.place(most), n, name, cmp.Or(said["status-code"].Say(), "403")), neutral.KeyCase{Set: set, By: request.ByClient})
}

// ingressPaths returns the requests of the paths of an Ingress. Those that a longer path of another takes are not told.
func (i *Import) ingressPaths(d doc) neutral.Set {
	var sets []neutral.Set
	for _, rule := range d.List("spec", "rules") {
		host := neutral.Set{}
		if name := strings.ToLower(rule.Say("host")); name != "" {
			host = neutral.Within("host", name)
		}
		for _, at := range rule.List("http", "paths") {
			path := cmp.Or(at.Say("path"), "/")
			fits := segments(path)
			if at.Say("pathType") == "Exact" {
				fits = neutral.Exactly(path)
			}
			sets = append(sets, host.And(fits))
		}
	}
	return neutral.AnyOf(sets)
}

func isNginxPolicy(d doc) bool {
	return slices.ContainsFunc(each([]doc{d}, "Policy", "VirtualServer", "VirtualServerRoute"), func(d doc) bool {
		return strings.HasPrefix(d.Say("apiVersion"), "k8s.nginx.org/")
	})
}

var routeKind = lazy.Regexp(`^(~\*?|=)`)

// A nginxPolicies reads which requests each Policy is for.
type nginxPolicies struct {
	*Import
	policies map[string]doc
	used     map[string]bool
	sets     map[string]neutral.Set // of a VirtualServer, where each Policy has one zone
	names    []string               // of these, in their order
}

// add takes down that policies are for some requests; false if none of them limits.
func (r *nginxPolicies) add(d doc, list []*policy.Tree, set neutral.Set) (found bool) {
	for _, at := range list {
		name := at.Say("name")
		if _, ok := r.policies[name]; !ok {
			r.Tell(d.place(at), "the Policy %s is not here, or has no rateLimit: if it limits, give its file too", name)
			continue
		}
		found, r.used[name] = true, true
		if before, ok := r.sets[name]; ok {
			r.sets[name] = neutral.Union(before, set)
			continue
		}
		r.sets[name], r.names = set, append(r.names, name)
	}
	return found
}

// server takes down which policies are for the requests of a VirtualServer.
func (r *nginxPolicies) server(d doc) {
	r.sets, r.names = map[string]neutral.Set{}, nil
	host, root, all := neutral.Within("host", strings.ToLower(d.Say("spec", "host"))), nginx.Place{}, d.List("spec", "policies")
	routes := d.List("spec", "routes")
	for _, at := range routes {
		path := at.Say("path")
		kind := routeKind().FindString(path)
		pattern := strings.TrimPrefix(path, kind)
		if kind != "" {
			pattern = strings.TrimSpace(pattern)
		}
		if strings.HasPrefix(kind, "~") && !neutral.Compiles(pattern) {
			r.Lose(d.place(at), "path %s cannot be read in Go's syntax: it is left out", path)
			continue
		}
		root.Within = append(root.Within, nginx.Place{Kind: kind, Pattern: pattern})
		if at.Get("route") != nil {
			r.Lose(d.place(at), "the VirtualServerRoute %s is not read", at.Say("route"))
		}
	}
	taken, _ := root.Choose(host)
	for _, at := range routes {
		for _, c := range taken {
			own := c.Place.Kind+c.Place.Pattern == strings.ReplaceAll(at.Say("path"), " ", "")
			if own && !r.add(d, at.List("policies"), c.Set) { // those of a route hold instead
				r.add(d, all, c.Set)
			}
		}
	}
	if len(routes) == 0 {
		r.add(d, all, host)
	}
}

func takeNginxPolicies(i *Import, docs []doc) {
	r := nginxPolicies{Import: i, policies: map[string]doc{}, used: map[string]bool{}}
	p := neutral.Policy{Name: "nginx-policy", NginxPaths: true}
	for _, d := range each(docs, "Policy") {
		if d.Get("spec", "rateLimit") != nil {
			onlyKnown(i.Tell, d, d.Get("spec"), "ratelimit ingressclassname accesscontrol basicauth jwt ingressmtls egressmtls oidc waf "+
				"apikey cache cors externalauth")
			r.policies[d.Say("metadata", "name")] = d
		}
	}
	for _, d := range each(docs, "VirtualServer") {
		r.server(d)
		for _, name := range r.names {
			i.nginxPolicy(&p, r.policies[name], r.sets[name])
		}
	}
	for _, d := range each(docs, "Policy") {
		if name := d.Say("metadata", "name"); d.Get("spec", "rateLimit") != nil && !r.used[name] {
			by := "no VirtualServer here names"
			for _, route := range each(docs, "VirtualServerRoute") {
				if some(route.Tree, func(key string, part *policy.Tree) bool { return key == "policies" && part.Say("name") == name }) {
					by = "only a VirtualServerRoute names, which is not read,"
				}
			}
			i.Lose(d.place(nil), "%s the Policy %s: it is judged on all requests", by, name)
			i.nginxPolicy(&p, d, neutral.Set{})
		}
	}
	i.Policies = append(i.Policies, p)
}

// nginxPolicy adds the limits of a Policy at a place.
func (i *Import) nginxPolicy(p *neutral.Policy, d doc, set neutral.Set) {
	at := d.Get("spec", "rateLimit")
	for _, key := range at.Keys() {
		switch part := at.Get(key); key {
		case "rate", "key", "burst", "delay", "noDelay", "zoneSize", "logLevel", "rejectCode":
		case "dryRun":
			if part.Text == "true" {
				i.Tell(d.place(part), neutral.RefusesNothing)
			}
		case "scale":
			i.Tell(d.place(part), "scale divides the rate by the replicas; here one counts all requests")
		default:
			i.Lose(d.place(part), "%s of a Policy is not read", key)
		}
	}
	text := "nginx:" + at.Say("rate")
	for _, key := range []string{"burst", "delay"} {
		if n := at.Say(key); n != "" {
			text += "," + key + "=" + n
		}
	}
	if at.Say("noDelay") == "true" {
		text += ",nodelay"
	}
	var words []string
	for _, name := range strings.FieldsFunc(at.Say("key"), func(c rune) bool { return strings.ContainsRune("${} ", c) }) {
		part, known := nginx.PartOf(name)
		if !known {
			i.Lose(d.place(at.Get("key")), "%s is nothing that limits here count by: it is left out of the key", name)
			continue
		}
		words = append(words, part)
	}
	if words == nil {
		i.Lose(d.place(at), "nothing is left of the key of the Policy %s: it is left out", d.Say("metadata", "name"))
		return
	}
	p.Add(text, fmt.Sprintf("%s Policy %s by %s, refused with %s", d.place(at), d.Say("metadata", "name"), at.Say("key"),
		cmp.Or(at.Say("rejectCode"), "503")), neutral.Present(set, words, nil, false)...)
	i.Tell("", "each replica of the controller counts for itself; here one counts all requests")
}

var otherKey = lazy.Regexp(`(?i)rate[_-]?limit|throttl|\blimit-rp[sm]\b`)

// unreadLimits tells of limits of products that have no reader: in documents beside those that are read, and in resources
// of CloudFormation.
func (i *Import) unreadLimits() {
	tell := func(d doc, of *policy.Tree, what string) {
		told := false
		of.Walk(func(key string, part *policy.Tree) bool {
			limits := otherKey().MatchString(key) && !strings.Contains(strings.ToLower(key), "header") || otherKey().MatchString(what)
			if key == "values" && otherKey().MatchString(part.Text) { // of a chart, as text
				limits = true
			}
			if limits && !told {
				told = true
				i.Lose(d.place(part), "%s: %s is of a product that is not read: write --limit token:RATE/s,burst=BURST or fixed:N/PERIOD", what,
					cmp.Or(key, d.Say("metadata", "name"), "it"))
			}
			return !told
		})
	}
	for _, d := range i.docs {
		items := []doc{d}
		if d.Say("kind") == "List" {
			items = mapped.Add(nil, d.List("items"), func(t *policy.Tree) doc { return doc{t, d.file} })
		}
		for _, d := range items {
			known := slices.ContainsFunc(formats, func(f format) bool { return i.isOf(d, f) })
			if kind := d.Say("kind"); !known && kind != "CustomResourceDefinition" {
				tell(d, d.Tree, cmp.Or(kind, "the document"))
			}
		}
		for _, name := range d.Get("Resources").Keys() {
			if r := d.Get("Resources", name); !strings.HasPrefix(r.Say("Type"), "AWS::WAFv2") {
				tell(d, r, cmp.Or(r.Say("Type"), name))
			}
		}
	}
}

// Kong: Ingresses and HTTPRoutes name plugins. Source: Kong/kubernetes-ingress-controller, the annotations
// konghq.com/plugins and konghq.com/methods, and paths that begin with /~.

// kongNamed returns the requests of the paths of Ingresses and of the HTTPRoutes that name plugins, by the namespace and the
// name of these.
func (i *Import) kongNamed() map[string][]neutral.Set {
	named, whole, of := map[string][]neutral.Set{}, map[*policy.Tree]neutral.Set{}, map[*policy.Tree][]string{}
	var all []*policy.Tree
	add := func(d doc, at *policy.Tree, plugins []string, set neutral.Set) {
		all, whole[at] = append(all, at), set
		for _, name := range plugins {
			space, other, elsewhere := strings.Cut(name, ":")
			if !elsewhere {
				space, other = d.Say("metadata", "namespace"), name
			}
			of[at] = append(of[at], space+"/"+other)
		}
	}
	for _, d := range each(i.docs, "Ingress", "HTTPRoute", "Service", "KongConsumer", "KongConsumerGroup") {
		notes := d.Get("metadata", "annotations")
		plugins := texts(notes.List("konghq.com/plugins"))
		if d.Say("kind") == "HTTPRoute" && plugins != nil {
			add(d, d.Tree, plugins, i.httpRoute(d, ""))
		} else if plugins != nil && d.Say("kind") != "Ingress" {
			i.Lose(d.place(notes.Get("konghq.com/plugins")), "the plugins %s of a %s are not read here", strings.Join(plugins, ", "), d.Say("kind"))
		}
		for _, rule := range d.List("spec", "rules") {
			for _, path := range rule.List("http", "paths") {
				set, _ := neutral.HostSet("", texts([]*policy.Tree{rule.Get("host")}))
				set = set.And(neutral.Within("method", neutral.UpperAll(texts(notes.List("konghq.com/methods")))...))
				expression, isRegexp := strings.CutPrefix(path.Say("path"), "/~")
				switch kind := path.Say("pathType"); {
				case isRegexp:
					one, _ := neutral.TextSet("regexp", "reg", []string{"^(?:" + expression + ")"}, false)
					set = set.And(one)
				case kind == "Exact":
					set = set.And(neutral.Exactly(path.Say("path")))
				case kind == "Prefix":
					set = set.And(segments(path.Say("path")))
				default:
					set = set.And(neutral.Below(cmp.Or(path.Say("path"), "/")))
				}
				add(d, path, plugins, set)
			}
		}
	}
	i.extended(func(d doc, ref *policy.Tree, set neutral.Set) {
		if ref.Say("kind") == "KongPlugin" {
			add(d, ref, []string{ref.Say("name")}, set)
		}
	})
	own := ownSets(all, whole, func(path *policy.Tree) (kinds, length int) { return 0, len(path.Say("path")) })
	for _, at := range all {
		for _, name := range of[at] {
			named[name] = append(named[name], own[at])
		}
	}
	return named
}
