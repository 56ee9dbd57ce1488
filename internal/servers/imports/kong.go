package imports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
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
	rank int  // how close it is to a route; those of consumers are closer than all
	one  bool // of one consumer: its requests count together
}

// refusing plugins of Kong and APISIX come before those that limit.
var refusing = lazy.Regexp(`^(.*-auth(-.*)?|jwt.*|wolf-rbac|oauth2.*|openid-connect|.*-restriction|bot-detection|acl|authz-.*|opa|csrf|` +
	`uri-blocker|request-(validat|size-limit).*|client-control|cors|saml.*|fault-injection|mocking|(serverless-)?pre-function)$`)

// refusals tells of plugins that refuse requests before limits count them.
func (i *Import) refusals(all, limits []plugged) {
	for _, at := range all {
		if refusing().MatchString(at.name) && slices.ContainsFunc(limits, func(l plugged) bool {
			return slices.Contains([]string{"rate-limiting", "limit-count", "limit-req"}, l.name) && !at.set.and(l.set).never &&
				!apart(at.set, l.set) && !disjoint(at.set.c, l.set.c)
		}) {
			i.lose(at.d.place(at.at), "the plugin %s may answer requests before a limit counts them; here they count", at.name)
		}
	}
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
			all = append(all, plugged{d: d, at: d.Get("config"), name: d.Say("plugin")})
			continue
		}
		add := func(plugins *policy.Tree, set Set, rank int) {
			for _, p := range plugins.List() {
				if p.Say("enabled") == "false" || p.Get("route") != nil || p.Get("service") != nil || p.Get("consumer") != nil {
					continue
				}
				all = append(all, plugged{d: d, at: p, name: p.Say("name"), set: set, rank: rank})
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
					all = append(all, plugged{d: d, at: p, name: p.Say("name"), set: set, rank: rank})
				}
			}
		}
		all = append(all, i.kongConsumers(d, places)...)
	}
	p := Policy{Name: "kong"}
	all = closest(all)
	i.refusals(all, all)
	for _, at := range all {
		switch at.name {
		case "rate-limiting":
			p.Limits = append(p.Limits, i.kongLimits(at)...)
		case "rate-limiting-advanced", "response-ratelimiting", "graphql-rate-limiting-advanced", "ai-rate-limiting-advanced", "service-protection":
			i.lose(at.d.place(at.at), "the plugin %s is not read", at.name)
		}
	}
	i.Policies = append(i.Policies, p)
}

// kongConsumers returns the plugins of consumers. An API key that is a text of the configuration tells a consumer, where the
// log has its header.
// Source: Kong/kong 22246ef, kong/runloop/plugins_iterator.lua (of a consumer, at a route, a service or anywhere, comes
// before any other), kong/plugins/key-auth/schema.lua (key_names, apikey by default).
func (i *Import) kongConsumers(d doc, places map[string]Set) (all []plugged) {
	header := "apikey"
	d.Walk(func(_ string, p *policy.Tree) bool {
		if p.Say("name") == "key-auth" && len(p.List("config", "key_names")) > 0 {
			header = p.List("config", "key_names")[0].Text
		}
		return true
	})
	add := func(c, p *policy.Tree) {
		name := cmp.Or(c.Say("username"), c.Say("custom_id"), c.Say("id"))
		if p.Say("enabled") == "false" || p.Say("name") != "rate-limiting" {
			if strings.HasPrefix(p.Say("name"), "rate-limiting") {
				i.lose(d.place(p), "the plugin %s of consumer %s is not read", p.Say("name"), name)
			}
			return
		}
		rank, set := 3, Set{}
		for n, kind := range []string{"service", "route"} {
			of := cmp.Or(p.Say(kind), p.Say(kind, "name"))
			if of == "" {
				continue
			}
			rank, set = 4+n, places[kind+" "+of]
			if _, ok := places[kind+" "+of]; !ok {
				i.tell(d.place(p), "no route leads to the %s %s", kind, of)
				return
			}
		}
		var keys []string
		for _, k := range c.List("keyauth_credentials") {
			keys = append(keys, "header:"+header+"="+k.Say("key"))
		}
		if keys == nil {
			i.lose(d.place(p), "consumer %s has no API key here, so nothing tells its requests: its limit is not read", name)
			return
		}
		i.lose(d.place(p), "consumer %s is told by its API key: only a log with the header %s shows it", name, header)
		all = append(all, plugged{d: d, at: p, name: p.Say("name"), set: set.and(within("with", keys...)), rank: rank, one: true})
	}
	for _, c := range d.List("consumers") {
		for _, p := range c.List("plugins") {
			add(c, p)
		}
		for _, p := range d.List("plugins") {
			if of := cmp.Or(p.Say("consumer"), p.Say("consumer", "username")); of != "" && of == c.Say("username") {
				add(c, p)
			}
		}
	}
	d.Walk(func(key string, part *policy.Tree) bool {
		if key == "consumers" {
			return false
		}
		if strings.HasPrefix(part.Say("name"), "rate-limiting") && (part.Get("consumer") != nil && part.Get("service") == nil &&
			!slices.Contains(d.List("plugins"), part) || part.Get("consumer_group") != nil) {
			i.lose(d.place(part), "a limit for some consumers is not read")
		}
		if key == "consumer_groups" && strings.Contains(fmt.Sprint(policyNames(part)), "rate-limiting") {
			i.lose(d.place(part), "a limit of a consumer group is not read")
			return false
		}
		return true
	})
	return all
}

// policyNames returns the names of all plugins within a part.
func policyNames(part *policy.Tree) (names []string) {
	part.Walk(func(_ string, p *policy.Tree) bool {
		names = append(names, p.Say("name"))
		return true
	})
	return names
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
	set, _ := hostSet("", plainTexts(r.List("hosts")))
	set = set.and(within("method", upperAll(plainTexts(r.List("methods")))...))
	var paths []Set
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
		if cases[0].by = request.ByUser; at.one { // whatever the log calls it
			cases[0].by = request.BySite
			break
		}
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
