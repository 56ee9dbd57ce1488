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
	"shadow/internal/servers/imports/neutral"
)

// Traefik: a middleware rateLimit, in a file, as labels of a container, or as a resource of Kubernetes, limits the
// requests of each router that names it, in a bucket of the router's own. Of routers that fit a request the one with the
// longest rule gets it, unless priorities say otherwise. Middlewares are asked one after the other.
// Source: traefik/traefik fd5a576, docs/content/reference/routing-configuration/http/middlewares/ratelimit.md,
// .../http/routing/rules-and-priority.md, pkg/config/dynamic/middlewares.go,
// pkg/middlewares/ratelimiter/rate_limiter.go.

var traefikFormat = format{name: "traefik", has: isTraefik, take: takeTraefik, is: matches(tomlHead), read: readTOML}

func isTraefik(d doc) bool {
	kind := d.Say("kind")
	return field(d.Tree, "http", "middlewares") != nil || field(d.Tree, "http", "routers") != nil && d.Get("static_resources") == nil ||
		strings.Contains(d.Say("apiVersion"), "traefik") && (kind == "Middleware" || kind == "IngressRoute") ||
		kind == "Ingress" && d.Get("metadata", "annotations", traefikNote+"middlewares") != nil ||
		kind == "List" && slices.ContainsFunc(each([]doc{d}, "Middleware", "IngressRoute", "Ingress"), isTraefik) ||
		len(traefikLabels(d)) > 0 || slices.ContainsFunc(entryPoints(d), entryPoint.asks) || hidesContainers(d)
}

// A traefikRouter gets the requests of a rule.
type traefikRouter struct {
	name, rule  string
	at          string
	priority    int
	middlewares []string
	entries     []string    // entry points; none: all
	answering   []string    // middlewares before its limits that may answer
	fits, set   neutral.Set // what its rule fits, and what is left of that
	ruleless    bool        // of a container, which has a rule by default
}

// A traefikConfig is what all documents have.
type traefikConfig struct {
	*Import
	middlewares map[string]doc    // by name, or namespace/name: what stands below rateLimit, or below chain
	known       map[string]string // all names, and what may answer in the place of a service
	routers     []traefikRouter
	entries     []entryPoint
}

// An entryPoint may have middlewares, which all its routers ask first.
type entryPoint struct {
	name, place string
	middlewares []string
}

func (e entryPoint) asks() bool { return len(e.middlewares) > 0 }

func takeTraefik(i *Import, docs []doc) {
	c := &traefikConfig{Import: i, middlewares: map[string]doc{}, known: map[string]string{}}
	hidden := slices.ContainsFunc(docs, hidesContainers)
	for _, d := range docs {
		c.entries = append(c.entries, entryPoints(d)...)
		c.dynamic(doc{field(d.Tree, "http"), d.file}, false)
		for _, labels := range traefikLabels(d) {
			if enable := labels.Say("traefik", "enable"); enable == "false" || enable == "" && hidden {
				c.Tell(d.place(labels.Get("traefik", "http")), "traefik.enable is not true: the labels of this container do nothing")
				continue
			}
			c.dynamic(doc{labels.Get("traefik", "http"), d.file}, true)
		}
		for _, m := range each([]doc{d}, "Middleware") {
			c.middleware(resourceName(m.Say("metadata", "namespace"), m.Get("metadata")), doc{m.Get("spec"), d.file})
		}
		for _, r := range each([]doc{d}, "IngressRoute") {
			for n, route := range r.List("spec", "routes") {
				onlyKnown(c.Tell, r, route, "match syntax kind priority services middlewares observability")
				router := traefikRouter{name: fmt.Sprintf("%s %d", r.Say("metadata", "name"), n), rule: route.Say("match"), at: r.place(route)}
				for _, m := range route.List("middlewares") {
					router.middlewares = append(router.middlewares, resourceName(r.Say("metadata", "namespace"), m))
				}
				router.priority, _ = strconv.Atoi(route.Say("priority"))
				router.entries = texts(r.List("spec", "entryPoints"))
				c.routers = append(c.routers, router)
			}
		}
		for _, ingress := range each([]doc{d}, "Ingress") {
			c.ingress(ingress)
		}
	}
	c.Policies = append(c.Policies, c.policy())
}

// dynamic reads the part http of a configuration, or of a container.
func (c *traefikConfig) dynamic(d doc, contained bool) {
	middlewares, routers := field(d.Tree, "middlewares"), field(d.Tree, "routers")
	for _, name := range middlewares.Keys() {
		c.middleware(name, doc{middlewares.Get(name), d.file})
	}
	for _, name := range routers.Keys() {
		at := routers.Get(name)
		onlyKnown(c.Tell, d, at, "rule rulesyntax priority middlewares entrypoints service tls observability parentrefs")
		r := traefikRouter{name: name, rule: field(at, "rule").Say(), at: d.place(at)}
		if parents := field(at, "parentRefs"); parents != nil {
			c.Lose(d.place(parents), "parentRefs of router %s are not read: it is judged as if it had no parents", name)
		}
		if r.ruleless = contained && r.rule == ""; r.rule == "" && !contained {
			c.Tell(r.at, "router %s has no rule here: it is taken to get all requests", name)
		}
		r.middlewares = texts(field(at, "middlewares").List())
		r.priority, _ = strconv.Atoi(field(at, "priority").Say())
		r.entries = texts(field(at, "entryPoints").List())
		c.routers = append(c.routers, r)
	}
}

// traefikMiddlewares change requests or answers, and limit nothing.
const traefikMiddlewares = "addprefix compress contenttype encodedcharacters errors grpcweb headers passtlsclientcert " +
	"replacepath* retry stripprefix*"

// middleware takes down one that matters.
func (c *traefikConfig) middleware(name string, d doc) {
	c.known[name] = ""
	for _, key := range d.Tree.Keys() {
		part, place := d.Get(key), d.place(d.Get(key))
		switch kind := strings.ToLower(key); kind {
		case "ratelimit", "chain":
			part.Text = kind
			c.middlewares[name] = doc{part, d.file}
		case "inflightreq":
			c.Lose(place, "inFlightReq bounds how many requests are under way at once, which no limit here does")
		case "plugin":
			c.Lose(place, "plugin %s is not read", strings.Join(part.Keys(), ", "))
		case "ipallowlist", "ipwhitelist", "basicauth", "digestauth", "forwardauth", "redirectscheme", "redirectregex", "buffering", "circuitbreaker":
			c.known[name] = fmt.Sprintf("%s (%s)", key, place)
		default:
			onlyKnown(c.Tell, d, d.Tree, traefikMiddlewares)
		}
	}
}

// traefikLabels are the labels of each container of a compose file, as a tree.
func traefikLabels(d doc) (all []*policy.Tree) {
	services := d.Get("services")
	for _, name := range services.Keys() {
		for _, labels := range []*policy.Tree{services.Get(name, "labels"), services.Get(name, "deploy", "labels")} {
			root := policy.NewTree(0)
			for _, key := range labels.Keys() {
				addLabel(root, key, labels.Say(key), labels.Get(key).Line)
			}
			for _, item := range labels.List() {
				key, value, _ := strings.Cut(item.Text, "=")
				addLabel(root, key, value, item.Line)
			}
			if root.Get("traefik", "http") != nil {
				all = append(all, root)
			}
		}
	}
	return all
}

// addLabel puts a label of Traefik's dynamic configuration into a tree.
func addLabel(at *policy.Tree, key, value string, line int) {
	words := strings.Split(key, ".")
	for n := range words {
		if n != 3 { // traefik.http.routers.NAME
			words[n] = strings.ToLower(words[n])
		}
	}
	if words[0] != "traefik" || len(words) < 2 || words[1] != "http" && key != "traefik.enable" {
		return
	}
	for _, word := range words[:len(words)-1] {
		if at.Get(word) == nil {
			at.Set(word, policy.NewTree(line))
		}
		at = at.Get(word)
	}
	at.Set(words[len(words)-1], &policy.Tree{Line: line, Text: value})
}

// look finds the one middleware of a name, which may have its provider behind it and its namespace in front.
func (c *traefikConfig) look(name string) (string, bool) {
	name, _, _ = strings.Cut(name, "@")
	if _, ok := c.known[name]; ok {
		return name, true
	}
	var found []string
	_, short, asked := strings.Cut(name, "/")
	for _, known := range slices.Sorted(maps.Keys(c.known)) {
		of, rest, spaced := strings.Cut(known, "/")
		switch {
		case asked && !spaced && known == short, // of a resource without its namespace
			!asked && spaced && (rest == name || of+"-"+rest == name),
			!asked && !spaced && strings.HasSuffix(name, "-"+known):
			found = append(found, known)
		}
	}
	if len(found) != 1 {
		return name, false
	}
	return found[0], true
}

var composeMark = lazy.Regexp(`\$\{\w[^}]*\}`)

// policy are the limits of all routers.
func (c *traefikConfig) policy() neutral.Policy {
	p := neutral.Policy{Name: "traefik", Combine: "in-turn"}
	slices.SortStableFunc(c.routers, func(a, b traefikRouter) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.name, b.name))
	})
	used, taken := map[string]bool{}, []*traefikRouter(nil)
	for n := range c.routers {
		r := &c.routers[n]
		c.enter(r)
		if r.ruleless {
			c.Lose(r.at, "router %s has no rule: which requests the default one gives it is not read, and its limits are left out", r.name)
			c.attach(&neutral.Policy{}, r, r.middlewares, used, 0)
			continue
		}
		set, unknown, err := parseRule(r.rule)
		if err != nil {
			c.Lose(r.at, "rule %s: %v: the limits of its router are left out", r.rule, err)
			continue
		}
		for _, text := range unknown {
			c.Lose(r.at, "no condition says %s: the router's limits are judged on requests that the rest of its rule fits", text)
		}
		if mark := composeMark().FindString(r.rule); mark != "" {
			c.Lose(r.at, "rule %s has a variable, %s: give what docker compose config writes", r.rule, mark)
		}
		r.set, r.fits = set, set
		for _, before := range taken {
			switch {
			case neutral.Apart(before.fits, set):
			case !r.besides(before):
				r.set = r.set.And(before.fits.Except())
			case c.limited(r) || c.limited(before):
				c.Lose(r.at, "only the entry point (%s) tells requests of router %s from those of %s: they are taken to come to both",
					strings.Join(r.entries, ", "), r.name, before.name)
			}
		}
		if unknown == nil {
			taken = append(taken, r)
		}
		if r.set.Never && c.limited(r) {
			c.Lose(r.at, "router %s gets no requests here: others before it take them", r.name)
		}
		c.attach(&p, r, r.middlewares, used, 0)
	}
	routed := p.Limits
	p.Limits = nil // entry points ask their middlewares before routers do
	for _, name := range slices.Sorted(maps.Keys(c.middlewares)) {
		if d := c.middlewares[name]; !used[name] && d.Text == "ratelimit" {
			c.Lose(d.place(nil), "no router here names the middleware %s: it is judged on all requests, before others", name)
			c.attach(&p, &traefikRouter{name: "all", at: d.place(nil)}, []string{name}, used, 0)
		}
	}
	p.Limits = append(p.Limits, routed...)
	return p
}

// enter puts the middlewares of its entry points before those of a router.
func (c *traefikConfig) enter(r *traefikRouter) {
	var of, others []entryPoint
	for _, e := range c.entries {
		switch {
		case len(r.entries) > 0 && !slices.ContainsFunc(r.entries, func(name string) bool { return strings.EqualFold(name, e.name) }):
		case len(e.middlewares) > 0 && (of == nil || slices.Equal(of[0].middlewares, e.middlewares)):
			of = append(of, e)
		default:
			others = append(others, e)
		}
	}
	if of == nil {
		return
	}
	if len(others) > 0 || len(r.entries) > len(of) {
		c.Lose(of[0].place, "the middlewares of entry point %s are judged on all requests of router %s, from whichever entry point", of[0].name, r.name)
	}
	r.middlewares = slices.Concat(of[0].middlewares, r.middlewares)
}

// besides reports whether a router listens where another one does not.
func (r *traefikRouter) besides(other *traefikRouter) bool {
	return len(r.entries) > 0 && len(other.entries) > 0 &&
		!slices.ContainsFunc(r.entries, func(e string) bool { return slices.Contains(other.entries, e) })
}

// limited reports whether a router has a limit, or a chain that may have one.
func (c *traefikConfig) limited(r *traefikRouter) bool {
	return slices.ContainsFunc(r.middlewares, func(name string) bool {
		name, _ = c.look(name)
		return c.middlewares[name].Tree != nil
	})
}

// plainTexts returns the text of each item.
func plainTexts(items []*policy.Tree) []string {
	return mapped.Add(nil, items, func(item *policy.Tree) string { return item.Text })
}

// texts returns the texts of a list, whose items may have several.
func texts(items []*policy.Tree) (all []string) {
	for _, item := range items {
		for word := range strings.SplitSeq(item.Say(), ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}

func (r *traefikRouter) weight() int { return cmp.Or(r.priority, len(r.rule)) }

// mostNested is the depth to which chains may name chains.
const mostNested = 10

// attach adds the limits of middlewares to those of a router.
func (c *traefikConfig) attach(p *neutral.Policy, r *traefikRouter, names []string, used map[string]bool, depth int) {
	for _, name := range names {
		name, ok := c.look(name)
		d := c.middlewares[name]
		switch {
		case !ok && name != "":
			c.Tell(r.at, "the middleware %s of router %s is not here: if it limits, give its file too", name, r.name)
		case d.Tree == nil && c.known[name] != "":
			r.answering = append(r.answering, c.known[name])
		}
		if d.Tree == nil || depth > mostNested {
			continue // it does not limit, or stands elsewhere
		}
		used[name] = true
		if d.Text == "chain" {
			space, _, spaced := strings.Cut(name, "/")
			if !spaced {
				space = ""
			}
			var inner []string
			for _, m := range field(d.Tree, "middlewares").List() {
				if inner = append(inner, texts([]*policy.Tree{m})...); m.Text == "" {
					inner = append(inner, resourceName(space, m))
				}
			}
			c.attach(p, r, inner, used, depth+1)
			continue
		}
		for _, before := range r.answering {
			c.Lose(r.at, "%s may answer requests before the middleware %s counts them; here they count", before, name)
		}
		c.limits(p, d, name, r)
	}
}

// field is a part by its name in any case, with underscores or without.
func field(t *policy.Tree, names ...string) *policy.Tree {
	for _, name := range names {
		i := slices.IndexFunc(t.Keys(), func(key string) bool { return plainKey(key) == plainKey(name) })
		if i < 0 {
			return nil
		}
		t = t.Get(t.Keys()[i])
	}
	return t
}
