package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
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
	p := Policy{Name: "haproxy-ingress"}
	periods := map[string]string{}
	for _, d := range each(docs, "Ingress") {
		said := map[string]*policy.Tree{}
		notes := d.Get("metadata", "annotations")
		for _, key := range notes.Keys() {
			if prefix := haproxyNote().FindString(key); prefix != "" {
				said[key[len(prefix):]] = notes.Get(key)
			}
		}
		most := said["requests"]
		if most == nil {
			continue
		}
		period := cmp.Or(said["period"].Say(), "1s")
		n, err := strconv.ParseInt(most.Text, 10, 64)
		if _, bad := limit.ParsePeriod(period); bad != nil || err != nil {
			i.lose(d.place(most), "%s requests in %s are not understood", most.Text, period)
			continue
		}
		set := i.ingressPaths(d)
		for key, at := range said {
			switch key {
			case "requests", "period", "size", "status-code":
			case "whitelist":
				for word := range strings.FieldsFuncSeq(at.Text, func(c rune) bool { return c == ',' || c == ' ' }) {
					if prefix, err := parseNetwork(word); err == nil {
						set = set.and(within("network", networkText(prefix)).except())
						continue
					}
					i.lose(d.place(at), "%s is no network: it is left out", word)
				}
			default:
				i.lose(d.place(at), "rate-limit-%s is not understood", key)
			}
		}
		name := d.Say("metadata", "name")
		if other, ok := periods[period]; ok {
			i.lose(d.place(most), "the Ingresses %s and %s count in one table there, and each for itself here", other, name)
		}
		periods[period] = name
		p.Limits = append(p.Limits, Limit{
			Text: fmt.Sprintf("haproxy:%d/%s", n, period), Match: set, Count: set,
			Told: []string{fmt.Sprintf("%s rate-limit-requests: %d of Ingress %s, refused with %s", d.place(most), n, name,
				cmp.Or(said["status-code"].Say(), "403"))},
		})
	}
	i.Policies = append(i.Policies, p)
}

// ingressPaths returns the requests of the paths of an Ingress. Those that a longer path of another takes are not told.
func (i *Import) ingressPaths(d doc) Set {
	var sets []Set
	for _, rule := range d.List("spec", "rules") {
		host := Set{}
		if name := strings.ToLower(rule.Say("host")); name != "" {
			host = within("host", name)
		}
		for _, at := range rule.List("http", "paths") {
			path := cmp.Or(at.Say("path"), "/")
			if at.Say("pathType") == "Exact" {
				sets = append(sets, host.and(exactly(path)))
				continue
			}
			if path = strings.TrimSuffix(path, "/"); path != "" {
				sets = append(sets, host.and(union(exactly(path), below(path+"/"))))
			} else {
				sets = append(sets, host)
			}
		}
	}
	if sets == nil {
		return Set{}
	}
	return union(sets...)
}

func isNginxPolicy(d doc) bool {
	return slices.ContainsFunc(each([]doc{d}, "Policy", "VirtualServer", "VirtualServerRoute"), func(d doc) bool {
		return strings.HasPrefix(d.Say("apiVersion"), "k8s.nginx.org/")
	})
}

func takeNginxPolicies(i *Import, docs []doc) {
	policies, used, p := map[string]doc{}, map[string]bool{}, Policy{Name: "nginx-policy"}
	for _, d := range each(docs, "Policy") {
		if d.Get("spec", "rateLimit") != nil {
			policies[d.Say("metadata", "name")] = d
		}
	}
	sets, names := map[string]Set{}, []string(nil) // of a VirtualServer, where each Policy has one zone
	add := func(d doc, list []*policy.Tree, set Set) (found bool) {
		for _, at := range list {
			name := at.Say("name")
			if _, ok := policies[name]; !ok {
				i.tell(d.place(at), "the Policy %s is not here, or has no rateLimit: if it limits, give its file too", name)
				continue
			}
			found, used[name] = true, true
			if before, ok := sets[name]; ok {
				sets[name] = union(before, set)
				continue
			}
			sets[name], names = set, append(names, name)
		}
		return found
	}
	for _, d := range each(docs, "VirtualServer") {
		host := within("host", strings.ToLower(d.Say("spec", "host")))
		root := nginxPlace{}
		for _, r := range d.List("spec", "routes") {
			kind, pattern := "", r.Say("path")
			for _, k := range []string{"~*", "~", "="} {
				if rest, ok := strings.CutPrefix(pattern, k); ok && kind == "" {
					kind, pattern = k, strings.TrimSpace(rest)
				}
			}
			if strings.HasPrefix(kind, "~") && !compiles(pattern) {
				i.lose(d.place(r), "path %s cannot be read in Go's syntax: it is left out", r.Say("path"))
				continue
			}
			root.within = append(root.within, nginxPlace{kind: kind, pattern: pattern})
			if r.Get("route") != nil {
				i.lose(d.place(r), "the VirtualServerRoute %s is not read", r.Say("route"))
			}
		}
		taken, _ := root.choose(host)
		for _, r := range d.List("spec", "routes") {
			for _, c := range taken {
				own := c.place.kind+c.place.pattern == strings.ReplaceAll(r.Say("path"), " ", "")
				if own && !add(d, r.List("policies"), c.set) { // those of a route hold instead
					add(d, d.List("spec", "policies"), c.set)
				}
			}
		}
		if len(d.List("spec", "routes")) == 0 {
			add(d, d.List("spec", "policies"), host)
		}
		for _, name := range names {
			p.Limits = append(p.Limits, i.nginxPolicy(policies[name], sets[name])...)
		}
		clear(sets)
		names = nil
	}
	for _, d := range each(docs, "Policy") {
		if name := d.Say("metadata", "name"); d.Get("spec", "rateLimit") != nil && !used[name] {
			i.lose(d.place(nil), "no VirtualServer here names the Policy %s: it is judged on all requests", name)
			p.Limits = append(p.Limits, i.nginxPolicy(d, Set{})...)
		}
	}
	i.Policies = append(i.Policies, p)
}

// nginxPolicy returns the limits of a Policy at a place.
func (i *Import) nginxPolicy(d doc, set Set) (all []Limit) {
	at := d.Get("spec", "rateLimit")
	for _, key := range at.Keys() {
		switch part := at.Get(key); key {
		case "rate", "key", "burst", "delay", "noDelay", "zoneSize", "logLevel", "rejectCode", "dryRun":
		case "scale":
			i.tell(d.place(part), "scale divides the rate by the replicas; here one counts all requests")
		default:
			i.lose(d.place(part), "%s of a Policy is not read", key)
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
		part, known := partOf(name)
		if !known {
			i.lose(d.place(at.Get("key")), "%s is nothing that limits here count by: it is left out of the key", name)
			continue
		}
		words = append(words, part.text)
	}
	if words == nil {
		return nil
	}
	for _, k := range present(set, words, nil, false) {
		all = append(all, Limit{
			Text: text, By: k.by, Match: k.set, Count: k.set,
			Told: []string{fmt.Sprintf("%s Policy %s by %s, refused with %s", d.place(at), d.Say("metadata", "name"), at.Say("key"),
				cmp.Or(at.Say("rejectCode"), "503"))},
		})
	}
	i.tell("", "each replica of the controller counts for itself; here one counts all requests")
	return all
}
