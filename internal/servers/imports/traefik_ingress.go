package imports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Traefik reads Ingresses too: an annotation names middlewares for all its routers, one for each path of each host.
// Source: traefik/traefik v3.6.0, pkg/provider/kubernetes/ingress/kubernetes.go (loadRouter, buildHostRule).

const traefikNote = "traefik.ingress.kubernetes.io/router."

// ingress takes down the routers of an Ingress.
func (c *traefikConfig) ingress(d doc) {
	notes := d.Get("metadata", "annotations")
	add := func(at, rule, priority string) {
		r := traefikRouter{name: d.Say("metadata", "name"), rule: rule, at: at}
		for word := range strings.SplitSeq(notes.Say(traefikNote+"middlewares"), ",") {
			if word = strings.TrimSpace(word); word != "" {
				r.middlewares = append(r.middlewares, word)
			}
		}
		for word := range strings.SplitSeq(notes.Say(traefikNote+"entrypoints"), ",") {
			if word = strings.TrimSpace(word); word != "" {
				r.entries = append(r.entries, word)
			}
		}
		r.priority, _ = strconv.Atoi(priority)
		c.routers = append(c.routers, r)
	}
	for _, rule := range d.List("spec", "rules") {
		host := rule.Say("host")
		if rest, wild := strings.CutPrefix(host, "*."); wild {
			host = "HostRegexp(`" + anyLabel + `\.` + regexp.QuoteMeta(rest) + "$`)"
		} else if host != "" {
			host = "Host(`" + host + "`)"
		}
		for _, path := range rule.List("http", "paths") {
			matcher := "PathPrefix"
			switch path.Say("pathType") {
			case "Exact":
				matcher = "Path"
			case "", "ImplementationSpecific":
				matcher = cmp.Or(notes.Say(traefikNote+"pathmatcher"), matcher)
			}
			rules := []string{host, fmt.Sprintf("%s(`%s`)", matcher, path.Say("path"))}
			if path.Say("path") == "" {
				rules = rules[:1]
			}
			add(d.place(path), strings.TrimPrefix(strings.Join(rules, " && "), " && "), notes.Say(traefikNote+"priority"))
		}
	}
	if d.Get("spec", "defaultBackend") != nil && len(d.List("spec", "rules")) == 0 {
		add(d.place(nil), "PathPrefix(`/`)", strconv.Itoa(math.MinInt32))
	}
}
