package imports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/policy"
	"shadow/request"
)

// Kong and APISIX, from their declarative files: plugins stand at a route, at its service or for all. The one that is
// closest to a route takes the place of those around it.
// Sources: Kong/kong 22246ef, kong/plugins/rate-limiting/handler.lua (all are asked, then all are charged), schema.lua,
// policies/init.lua, kong/tools/timestamp.lua (windows of the clock); openresty/lua-resty-limit-traffic,
// lib/resty/limit/count.lua (windows that begin with a request); apache/apisix f519a0f, apisix/plugins/limit-count.lua,
// limit-count/init.lua, limit-count-local.lua, limit-req.lua, docs/en/latest/terminology/plugin.md and global-rule.md
// (plugins that take the place of others, and their order).

var (
	kongFormat   = format{name: "kong", has: isKong, take: takeKong}
	apisixFormat = format{name: "apisix", has: isAPISIX, take: takeAPISIX}
)

// A plugged limit is a plugin at a place.
type plugged struct {
	d    doc
	at   *policy.Tree // its settings
	name string
	set  Set
	rank int // how close it is to a route
}

// closest takes from each set what closer plugins of the same name have.
func closest(all []plugged) []plugged {
	slices.SortStableFunc(all, func(a, b plugged) int { return cmp.Compare(b.rank, a.rank) })
	for n := range all {
		for _, before := range all[:n] {
			if before.name == all[n].name && before.rank > all[n].rank && !apart(before.set, all[n].set) {
				all[n].set = all[n].set.and(before.set.except())
			}
		}
	}
	return all
}

func isKong(d doc) bool {
	return d.Get("_format_version") != nil || d.Say("kind") == "KongPlugin" || d.Say("kind") == "KongClusterPlugin"
}

func takeKong(i *Import, docs []doc) {
	var all []plugged
	for _, d := range docs {
		if d.Get("_format_version") == nil {
			i.tell(d.place(nil), "which routes the plugin %s is for stands elsewhere: it is judged on all requests", d.Say("metadata", "name"))
			all = append(all, plugged{d, d.Get("config"), d.Say("plugin"), Set{}, 0})
			continue
		}
		add := func(plugins *policy.Tree, set Set, rank int) {
			for _, p := range plugins.List() {
				if p.Say("enabled") == "false" || p.Get("route") != nil || p.Get("service") != nil || p.Get("consumer") != nil {
					continue
				}
				all = append(all, plugged{d, p, p.Say("name"), set, rank})
			}
		}
		places := map[string]Set{}
		sets := i.kongRoutes(d)
		routes := func(list *policy.Tree, of *policy.Tree) {
			for _, r := range list.List() {
				set := sets[r]
				places["route "+r.Say("name")] = set
				add(r.Get("plugins"), set, 2)
				service := "service " + cmp.Or(of.Say("name"), r.Say("service"), r.Say("service", "name"))
				if before, ok := places[service]; ok {
					set = union(before, set)
				}
				places[service] = set
			}
		}
		services := d.List("services")
		for _, s := range services {
			routes(s.Get("routes"), s)
		}
		routes(d.Get("routes"), nil)
		for _, s := range services {
			if set, ok := places["service "+s.Say("name")]; ok {
				add(s.Get("plugins"), set, 1)
			} else if s.Get("plugins") != nil {
				i.tell(d.place(s), "no route leads to the service %s", s.Say("name"))
			}
		}
		for _, p := range d.List("plugins") {
			if p.Say("enabled") == "false" {
				continue
			}
			rank, of := 0, ""
			for n, kind := range []string{"service", "route"} {
				if name := cmp.Or(p.Say(kind), p.Say(kind, "name")); name != "" {
					rank, of = n+1, kind+" "+name
				}
			}
			if set, ok := places[of]; of == "" || ok {
				if p.Get("consumer") == nil {
					all = append(all, plugged{d, p, p.Say("name"), set, rank})
				}
			}
		}
		d.Walk(func(key string, part *policy.Tree) bool {
			if key == "consumers" || key == "consumer_groups" || part.Get("consumer") != nil {
				part.Walk(func(_ string, p *policy.Tree) bool {
					if strings.HasPrefix(p.Say("name"), "rate-limiting") {
						i.lose(d.place(p), "a limit for some consumers is not read")
					}
					return true
				})
				return false
			}
			return true
		})
	}
	p := Policy{Name: "kong"}
	for _, at := range closest(all) {
		switch at.name {
		case "rate-limiting":
			p.Limits = append(p.Limits, i.kongLimits(at)...)
		case "rate-limiting-advanced", "response-ratelimiting", "graphql-rate-limiting-advanced", "ai-rate-limiting-advanced", "service-protection":
			i.lose(at.d.place(at.at), "the plugin %s is not read", at.name)
		}
	}
	i.Policies = append(i.Policies, p)
}

// kongRoutes are the requests of all routes. Of those that fit a request the one with more conditions gets it, then the one
// with the longer path.
func (i *Import) kongRoutes(d doc) map[*policy.Tree]Set {
	var all []*policy.Tree
	for _, s := range d.List("services") {
		all = append(all, s.List("routes")...)
	}
	all = append(all, d.List("routes")...)
	whole := map[*policy.Tree]Set{}
	for _, r := range all {
		whole[r] = i.kongRoute(d, r)
	}
	return ownSets(all, whole, func(r *policy.Tree) (kinds, length int) {
		for _, key := range []string{"hosts", "methods", "paths", "headers", "snis"} {
			kinds += min(1, len(r.List(key)))
		}
		for _, p := range r.List("paths") {
			length = max(length, len(p.Text))
		}
		return kinds, length
	})
}

// ownSets takes from the requests of each route those that a weightier one gets: of more kinds of conditions, else with a
// longer path.
func ownSets(
	all []*policy.Tree, whole map[*policy.Tree]Set, weight func(*policy.Tree) (kinds, length int),
) map[*policy.Tree]Set {
	own := map[*policy.Tree]Set{}
	for _, r := range all {
		set := whole[r]
		kinds, length := weight(r)
		for _, other := range all {
			more, longer := weight(other)
			if (more > kinds || more == kinds && longer > length) && !apart(whole[other], whole[r]) && !disjoint(whole[other].c, whole[r].c) {
				set = set.and(whole[other].except())
			}
		}
		own[r] = set
	}
	return own
}

// kongRoute is the requests of a route.
func (i *Import) kongRoute(d doc, r *policy.Tree) Set {
	set := Set{}
	var hosts, methods []string
	var paths []Set
	for _, h := range r.List("hosts") {
		name, _, _ := strings.Cut(strings.ToLower(h.Text), ":")
		hosts = append(hosts, name)
	}
	for _, m := range r.List("methods") {
		methods = append(methods, strings.ToUpper(m.Text))
	}
	for _, p := range r.List("paths") {
		pattern, isRegexp := strings.CutPrefix(p.Text, "~")
		if _, err := regexp.Compile("^(?:" + pattern + ")"); isRegexp && err == nil {
			paths = append(paths, within("regexp", "^(?:"+pattern+")"))
		} else if strings.HasPrefix(p.Text, "/") {
			paths = append(paths, below(p.Text))
		} else {
			i.lose(d.place(p), "path %s is not understood: it is left out", p.Text)
		}
	}
	if hosts != nil {
		set = set.and(within("host", hosts...))
	}
	if methods != nil {
		set = set.and(within("method", methods...))
	}
	if paths != nil {
		set = set.and(union(paths...))
	}
	for _, key := range []string{"headers", "snis", "sources", "destinations", "expression"} {
		if part := r.Get(key); part != nil {
			i.lose(d.place(part), "%s of a route are not read: it is taken to fit", key)
		}
	}
	return set
}

// kongLimits are the windows of a plugin rate-limiting.
func (i *Import) kongLimits(at plugged) (all []Limit) {
	config := at.at
	if c := config.Get("config"); c != nil {
		config = c
	}
	cases := []keyCase{{at.set, request.ByClient}}
	switch kind := cmp.Or(config.Say("limit_by"), "consumer"); kind {
	case "ip":
	case "consumer", "credential":
		cases[0].by = request.ByUser
		i.tell(at.d.place(at.at), "it counts by %s: the user of the log is taken for that, without one the client", kind)
	case "service":
		cases[0].by = request.BySite
		i.tell(at.d.place(at.at), "it counts by service: all requests of the plugin count together here")
	case "header": // else by the address
		key, err := request.ParseKey("header:" + config.Say("header_name"))
		if err != nil {
			i.lose(at.d.place(at.at), "%v", err)
			return nil
		}
		lacks := within("without", key.String())
		cases = []keyCase{{at.set.and(lacks.except()), key}, {at.set.and(lacks), request.ByClient}}
	case "path": // as well
		path := exactly(config.Say("path"))
		cases = []keyCase{{at.set.and(path), request.BySite}, {at.set.and(path.except()), request.ByClient}}
	default:
		i.lose(at.d.place(at.at), "it counts by %s, which is not understood", kind)
		return nil
	}
	for _, unit := range []string{"second", "minute", "hour", "day", "month", "year"} {
		n := config.Get(unit)
		switch {
		case n == nil || n.Text == "":
			continue
		case unit == "month" || unit == "year":
			i.lose(at.d.place(n), "no limit here has a window of a %s", unit)
			continue
		}
		for _, c := range cases {
			all = append(all, Limit{
				Text: "fixed:" + n.Text + "/" + map[string]string{"second": "s", "minute": "m", "hour": "h", "day": "d"}[unit],
				By:   c.by, Match: c.set, Count: c.set,
				Told: []string{fmt.Sprintf("%s %s: %s by %s", at.d.place(n), unit, n.Text,
					cmp.Or(config.Say("limit_by"), "consumer"))},
			})
		}
	}
	if policy := config.Say("policy"); policy == "local" || policy == "" {
		i.tell(at.d.place(at.at), "each node counts for itself; here one counts all requests")
	}
	return all
}

func isAPISIX(d doc) bool {
	if kind := d.Say("kind"); kind == "ApisixRoute" || kind == "ApisixGlobalRule" || kind == "ApisixPluginConfig" {
		return true
	}
	found := d.Get("routes") == nil && len(apisixAlone(d)) > 0
	for _, list := range []string{"routes", "services", "global_rules", "plugin_configs", "consumers"} {
		for _, r := range d.List(list) {
			plugins := r.Get("plugins")
			found = found || plugins != nil && plugins.Items == nil && (r.Get("uri") != nil || r.Get("uris") != nil || r.Get("id") != nil)
		}
	}
	return found
}

// apisixAlone is the route that a document is, as the admin interface takes it.
func apisixAlone(d doc) []*policy.Tree {
	if p := d.Get("plugins"); p != nil && p.Items == nil && (d.Get("uri") != nil || d.Get("uris") != nil) {
		return []*policy.Tree{d.Tree}
	}
	return d.List("routes")
}

func takeAPISIX(i *Import, docs []doc) {
	var all []plugged
	const everywhere, ofRoute, ofConfig, ofService = 4, 3, 2, 1
	add := func(d doc, plugins *policy.Tree, set Set, rank int) {
		for _, name := range plugins.Keys() {
			if at := plugins.Get(name); at.Say("_meta", "disable") != "true" {
				all = append(all, plugged{d, at, name, set, rank})
			}
		}
		if plugins != nil {
			for _, p := range plugins.Items { // of a resource: a list with names
				if p.Say("enable") != "false" {
					all = append(all, plugged{d, p.Get("config"), p.Say("name"), set, rank})
				}
			}
		}
	}
	for _, d := range docs {
		services, configs := map[string][]Set{}, map[string][]Set{}
		own := apisixRoutes(apisixAlone(d), "uri", "uris")
		for _, r := range apisixAlone(d) {
			set := own[r]
			i.apisixVars(d, r)
			add(d, r.Get("plugins"), set, ofRoute)
			services[r.Say("service_id")] = append(services[r.Say("service_id")], set)
			configs[r.Say("plugin_config_id")] = append(configs[r.Say("plugin_config_id")], set)
		}
		for _, s := range d.List("services") {
			add(d, s.Get("plugins"), union(services[s.Say("id")]...), ofService)
		}
		for _, c := range d.List("plugin_configs") {
			add(d, c.Get("plugins"), union(configs[c.Say("id")]...), ofConfig)
		}
		for _, g := range d.List("global_rules") {
			add(d, g.Get("plugins"), Set{}, everywhere)
		}
		for _, c := range d.List("consumers") {
			if c.Get("plugins", "limit-count") != nil || c.Get("plugins", "limit-req") != nil {
				i.lose(d.place(c), "a limit for some consumers is not read")
			}
		}
		var matches []*policy.Tree
		for _, r := range d.List("spec", "http") {
			matches = append(matches, r.Get("match"))
		}
		own = apisixRoutes(matches, "path", "paths")
		for _, r := range d.List("spec", "http") {
			i.apisixVars(d, r.Get("match"))
			add(d, r.Get("plugins"), own[r.Get("match")], ofRoute)
		}
		switch d.Say("kind") {
		case "ApisixGlobalRule":
			add(d, d.Get("spec", "plugins"), Set{}, everywhere)
		case "ApisixPluginConfig":
			add(d, d.Get("spec", "plugins"), Set{}, 0)
		}
	}
	var first, others []plugged // what is global holds besides the others, and is asked first
	for _, at := range all {
		if at.rank == everywhere {
			first = append(first, at)
		} else {
			others = append(others, at)
		}
	}
	others = closest(others)
	for _, list := range [][]plugged{first, others} { // limit-count has a higher priority than limit-req
		slices.SortStableFunc(list, func(a, b plugged) int { return cmp.Compare(a.name, b.name) })
	}
	p := Policy{Name: "apisix", Combine: "in-turn"}
	for _, at := range append(first, others...) {
		if l, ok := i.apisixLimit(at); ok {
			p.Limits = append(p.Limits, l...)
		}
	}
	i.Policies = append(i.Policies, p)
}

// apisixRoutes are the requests of routes: of those that fit one the one with the longest path gets it.
func apisixRoutes(all []*policy.Tree, uri, uris string) map[*policy.Tree]Set {
	whole := map[*policy.Tree]Set{}
	for _, r := range all {
		whole[r] = apisixRoute(r, uri, uris)
	}
	return ownSets(all, whole, func(r *policy.Tree) (kinds, length int) {
		for _, p := range append(r.List(uri), r.List(uris)...) {
			length = max(length, 2*len(p.Text)-2*strings.Count(p.Text, "*")+1-strings.Count(p.Text, "*"))
		}
		return 0, length
	})
}

// apisixRoute is the requests of a route, by the names of its paths. One ends in * or is the whole.
func apisixRoute(r *policy.Tree, uri, uris string) Set {
	set := Set{}
	var paths []Set
	for _, p := range append(r.List(uri), r.List(uris)...) {
		if prefix, ok := strings.CutSuffix(p.Text, "*"); ok {
			paths = append(paths, below(prefix))
		} else {
			paths = append(paths, exactly(p.Text))
		}
	}
	if paths != nil {
		set = set.and(union(paths...))
	}
	var names []string
	for _, h := range append(r.List("host"), r.List("hosts")...) {
		names = append(names, strings.ToLower(h.Text))
	}
	if names != nil {
		set = set.and(within("host", names...))
	}
	var verbs []string
	for _, m := range r.List("methods") {
		verbs = append(verbs, strings.ToUpper(m.Text))
	}
	if verbs != nil {
		set = set.and(within("method", verbs...))
	}
	return set
}

// apisixVars tells of conditions that are not read.
func (i *Import) apisixVars(d doc, r *policy.Tree) {
	for _, key := range []string{"vars", "exprs", "remote_addr", "remote_addrs", "remoteAddrs", "filter_func"} {
		if part := r.Get(key); part != nil {
			i.lose(d.place(part), "%s of a route are not read: it is taken to fit", key)
		}
	}
}

// apisixLimit is what a plugin limits.
func (i *Import) apisixLimit(at plugged) (all []Limit, ok bool) {
	config := at.at
	var text string
	place := at.d.place(config)
	switch at.name {
	case "limit-count":
		if config.Get("rules") != nil {
			i.lose(place, "limit-count: rules are not read")
			return nil, false
		}
		if config.Say("window_type") == "sliding" {
			i.lose(place, "limit-count: a sliding window is not read")
			return nil, false
		}
		if group := config.Say("group"); group != "" {
			i.tell(place, "limit-count: the routes of the group %s count together there", group)
		}
		text = fmt.Sprintf("fixed:%s/%ss,align=first", config.Say("count"), config.Say("time_window"))
		if kind := config.Say("policy"); kind == "local" || kind == "" {
			text = fmt.Sprintf("apisix-limit-count:%s/%ss", config.Say("count"), config.Say("time_window"))
			i.tell(place, "limit-count: each node counts for itself; here one counts all requests")
		}
	case "limit-req":
		rate, err := strconv.ParseFloat(config.Say("rate"), 64)
		burst, bad := strconv.ParseInt(config.Say("burst"), 10, 64)
		switch {
		case err != nil || bad != nil || rate <= 0:
			i.lose(place, "limit-req: rate %s and burst %s are not understood", config.Say("rate"), config.Say("burst"))
			return nil, false
		case rate == float64(int64(rate)):
			text = fmt.Sprintf("nginx:%dr/s,burst=%d", int64(rate), burst)
		case rate*60 == float64(int64(rate*60)):
			text = fmt.Sprintf("nginx:%dr/m,burst=%d", int64(rate*60), burst)
		default:
			i.lose(place, "limit-req: a rate of %s a second is none of nginx", config.Say("rate"))
			return nil, false
		}
		if config.Say("nodelay") == "true" {
			text += ",nodelay"
		}
	case "limit-conn":
		i.lose(place, "limit-conn bounds how many requests are under way at once, which no limit here does")
		return nil, false
	default:
		return nil, false
	}
	var words []string
	for _, name := range strings.Fields(strings.ReplaceAll(cmp.Or(config.Say("key"), "remote_addr"), "$", " ")) {
		part, known := partOf(name)
		if config.Say("key_type") == "constant" {
			continue
		}
		if name == "consumer_name" || name == "service_id" || name == "route_id" || !known {
			i.lose(place, "%s is nothing that limits here count by: it is left out of the key", name)
			continue
		}
		words = append(words, part.text)
	}
	if priority := config.Say("_meta", "priority"); priority != "" {
		i.lose(place, "%s: the priority %s is not read", at.name, priority)
	}
	for _, key := range present(at.set, words, nil, true) {
		if words != nil && key.by == request.BySite { // without any part of a key
			key.by = request.ByClient
		}
		all = append(all, Limit{
			Text: text, By: key.by, Match: key.set, Count: key.set,
			Told: []string{fmt.Sprintf("%s %s by %s, refused with %s", place, at.name, cmp.Or(config.Say("key"), "remote_addr"),
				cmp.Or(config.Say("rejected_code"), "503"))},
		})
	}
	return all, true
}
