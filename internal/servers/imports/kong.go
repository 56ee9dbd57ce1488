package imports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
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

func isKong(d doc) bool {
	return d.Get("_format_version") != nil || d.Say("kind") == "KongPlugin" || d.Say("kind") == "KongClusterPlugin"
}

// kongOther fits the names of other plugins that limit, and of copies under names of their own.
var kongOther = lazy.Regexp(`rate-?limit|throttl|service-protection`)

// A kongReader finds the plugins of a declarative file, and for which requests they are.
type kongReader struct {
	*Import
	d      doc
	all    []plugged
	sets   map[*policy.Tree]neutral.Set // of routes
	places map[string]neutral.Set       // of routes and services, by their kind and name
	header string                       // which has the API key of a consumer
}

func takeKong(i *Import, docs []doc) {
	var all []plugged
	named := i.kongNamed()
	for _, d := range docs {
		if strings.HasPrefix(d.Say("kind"), "Kong") {
			all = append(all, i.kongResource(d, named)...)
			continue
		}
		r := kongReader{Import: i, d: d, sets: i.kongRoutes(d), places: map[string]neutral.Set{}, header: keyHeader(d)}
		r.shared()
		r.read()
		all = append(all, r.all...)
	}
	p := neutral.Policy{Name: "kong"}
	all = closest(all)
	i.refusals(all, all)
	for _, at := range all {
		switch {
		case at.name == "rate-limiting":
			i.kongLimits(&p, at)
		case kongOther().MatchString(at.name):
			i.Lose(at.d.place(at.at), "the plugin %s is not read", at.name)
		}
	}
	i.Policies = append(i.Policies, p)
}

// kongResource is the plugin of a resource of Kubernetes.
func (i *Import) kongResource(d doc, named map[string][]neutral.Set) []plugged {
	name := d.Say("metadata", "name")
	if d.Say("disabled") == "true" {
		i.Tell(d.place(nil), "the plugin %s is disabled", name)
		return nil
	}
	for _, key := range []string{"configFrom", "configPatches"} {
		if from := d.Get(key); from != nil {
			i.Lose(d.place(from), "%s of the plugin %s is not read: what it sets is not known", key, name)
		}
	}
	if d.Get("config") == nil && kongOther().MatchString(d.Say("plugin")) {
		return nil
	}
	p := plugged{d: d, at: cmp.Or(d.Get("config"), d.Tree), name: d.Say("plugin")}
	var sets []neutral.Set
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if space, of, _ := strings.Cut(key, "/"); of == name && sameSpace(space, d.Say("metadata", "namespace")) {
			sets = append(sets, named[key]...)
		}
	}
	if len(sets) > 1 && kongOther().MatchString(p.name) {
		i.Lose(d.place(nil), "each route that the plugin %s is for counts for itself there, and all together here", name)
	}
	if sets != nil {
		p.set, p.rank = neutral.Union(sets...), 2
	} else if d.Say("metadata", "labels", "global") != "true" {
		i.Lose(d.place(nil), "which routes the plugin %s is for stands elsewhere: it is judged on all requests", name)
	}
	return []plugged{p}
}

// kongServices are the services that are not off, as if whose routes there were none.
func kongServices(d doc) []*policy.Tree {
	return slices.DeleteFunc(slices.Clone(d.List("services")), func(s *policy.Tree) bool { return s.Say("enabled") == "false" })
}

// kongService is the service that a route names.
func kongService(d doc, route *policy.Tree) *policy.Tree {
	name := cmp.Or(route.Say("service"), route.Say("service", "name"), route.Say("service", "id"))
	for _, s := range d.List("services") {
		if name != "" && (s.Say("name") == name || s.Say("id") == name) {
			return s
		}
	}
	return nil
}

// kongAlone are the routes that stand beside services, but not those of a service that is off.
func kongAlone(d doc) []*policy.Tree {
	return slices.DeleteFunc(slices.Clone(d.List("routes")), func(r *policy.Tree) bool { return kongService(d, r).Say("enabled") == "false" })
}

// read finds plugins at routes, at services, for all, and of consumers.
func (r *kongReader) read() {
	for _, s := range r.d.List("services") {
		if s.Say("enabled") == "false" {
			r.Tell(r.d.place(s), "the service %s is not enabled: its routes are left out", cmp.Or(s.Say("name"), s.Say("id")))
		}
	}
	services := kongServices(r.d)
	for _, s := range services {
		r.routes(s.List("routes"), s)
	}
	r.routes(kongAlone(r.d), nil)
	for _, s := range services {
		if set, ok := r.places["service "+cmp.Or(s.Say("name"), s.Say("id"))]; ok {
			r.plugins(s, set, 1)
		} else if s.Get("plugins") != nil {
			r.Tell(r.d.place(s), "no route leads to the service %s", s.Say("name"))
		}
	}
	for _, p := range r.d.List("plugins") {
		places, rank := kongPlaces(p)
		set, ok := neutral.Set{}, true
		if rank > 0 {
			if set, ok = r.places[places[len(places)-1]]; !ok {
				r.Lose(r.d.place(p), "no request is known that comes to the %s: its plugin %s is left out", places[len(places)-1], p.Say("name"))
			}
		}
		if ok && p.Get("consumer") == nil {
			r.plug(p, set, rank)
		}
	}
	r.consumers()
}

// shared gives plugins the settings of decK that they name. Their own hold before these.
func (r *kongReader) shared() {
	r.d.Walk(func(_ string, p *policy.Tree) bool {
		name := p.Get("_config")
		if name == nil {
			return true
		}
		of := r.d.Get("_plugin_configs", name.Text)
		if of == nil {
			r.Lose(r.d.place(name), "_config %s is not here: what it sets is not known", name.Text)
		}
		if p.Get("config") == nil {
			p.Set("config", policy.NewTree(p.Line))
		}
		for _, key := range of.Keys() {
			if p.Get("config", key) == nil {
				p.Get("config").Set(key, of.Get(key))
			}
		}
		return true
	})
}

// routes takes the plugins of routes, and gives their requests to the service.
func (r *kongReader) routes(list []*policy.Tree, of *policy.Tree) {
	for _, at := range list {
		set := r.sets[at]
		r.plugins(at, set, 2)
		r.place("route", at.Say("name"), set)
		r.place("route", at.Say("id"), set)
		service := cmp.Or(of, kongService(r.d, at))
		r.place("service", service.Say("name"), set)
		r.place("service", service.Say("id"), set)
	}
}

// place adds requests to those of a route or service.
func (r *kongReader) place(kind, name string, set neutral.Set) {
	if name == "" {
		return
	}
	if before, ok := r.places[kind+" "+name]; ok {
		set = neutral.Union(before, set)
	}
	r.places[kind+" "+name] = set
}

// plugins takes those that stand at a route or a service.
func (r *kongReader) plugins(of *policy.Tree, set neutral.Set, rank int) {
	for _, p := range of.List("plugins") {
		if p.Get("route") == nil && p.Get("service") == nil && p.Get("consumer") == nil {
			r.plug(p, set, rank)
		}
	}
}

func (r *kongReader) plug(p *policy.Tree, set neutral.Set, rank int) {
	if p.Say("enabled") != "false" {
		r.all = append(r.all, plugged{d: r.d, at: p, name: p.Say("name"), set: set, rank: rank})
	}
}

// kongPlaces are the service and the route that a plugin names, and how close the last of them is to a route.
func kongPlaces(p *policy.Tree) (places []string, rank int) {
	for n, kind := range []string{"service", "route"} {
		if name := cmp.Or(p.Say(kind), p.Say(kind, "name"), p.Say(kind, "id")); name != "" {
			places, rank = append(places, kind+" "+name), n+1
		}
	}
	return places, rank
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
func (i *Import) kongRoutes(d doc) map[*policy.Tree]neutral.Set {
	var all []*policy.Tree
	for _, s := range kongServices(d) {
		all = append(all, s.List("routes")...)
	}
	all = append(all, kongAlone(d)...)
	whole := map[*policy.Tree]neutral.Set{}
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

// Before 3.0 a path that has more than these was an expression.
// Source: Kong/kong 2.8.0, kong/router.lua (is_regex, by the characters of a path that need no escape).
var (
	beforeThree = lazy.Regexp(`^[12](\.|$)`)
	plainPath   = lazy.Regexp(`^[a-zA-Z0-9._~/%-]*$`)
)

// kongRoute is the requests of a route.
func (i *Import) kongRoute(d doc, r *policy.Tree) neutral.Set {
	set, _ := neutral.HostSet("", plainTexts(r.List("hosts")))
	set = set.And(neutral.Within("method", neutral.UpperAll(plainTexts(r.List("methods")))...))
	var paths []neutral.Set
	for _, p := range r.List("paths") {
		pattern, isRegexp := strings.CutPrefix(p.Text, "~")
		isRegexp = isRegexp || beforeThree().MatchString(d.Say("_format_version")) && !plainPath().MatchString(p.Text)
		if _, err := regexp.Compile("^(?:" + pattern + ")"); isRegexp && err == nil {
			paths = append(paths, neutral.Within("regexp", "^(?:"+pattern+")"))
		} else if strings.HasPrefix(p.Text, "/") {
			paths = append(paths, neutral.Below(p.Text))
		} else {
			i.Lose(d.place(p), "path %s is not understood: it is left out", p.Text)
		}
	}
	set = set.And(neutral.AnyOf(paths))
	onlyKnown(i.Tell, d, r, kongRouteWords)
	for _, key := range []string{"headers", "snis", "sources", "destinations", "expression"} {
		if part := r.Get(key); part != nil {
			i.Lose(d.place(part), "%s of a route are not read: it is taken to fit", key)
		}
	}
	return set
}

// What may stand at a plugin, in its settings and at a route.
const (
	kongPlugin = "name id instancename config enabled protocols tags route service consumer createdat updatedat"
	kongConfig = "second minute hour day month year limitby headername path policy faulttolerant hideclientheaders syncrate redis* " +
		"errorcode errormessage"
	kongRouteWords = "name id hosts methods paths headers snis sources destinations expression protocols strippath preservehost " +
		"regexpriority httpsredirectstatuscode pathhandling requestbuffering responsebuffering tags service plugins priority createdat updatedat"
)

// kongLimits adds the windows of a plugin rate-limiting.
func (i *Import) kongLimits(p *neutral.Policy, at plugged) {
	config := at.at
	if c := config.Get("config"); c != nil {
		onlyKnown(i.Lose, at.d, config, kongPlugin)
		if of := plainTexts(config.List("protocols")); of != nil && !(slices.Contains(of, "http") && slices.Contains(of, "https")) {
			i.Lose(at.d.place(config.Get("protocols")), "protocols of a plugin are not read: it is judged whatever they are")
		}
		config = c
	}
	onlyKnown(i.Lose, at.d, config, kongConfig)
	cases := []neutral.KeyCase{{Set: at.set, By: request.ByClient}}
	switch kind := cmp.Or(config.Say("limit_by"), "consumer"); kind {
	case "ip":
	case "consumer", "credential":
		if cases[0].By = request.ByUser; at.one { // whatever the log calls it
			cases[0].By = request.BySite
			break
		}
		i.Tell(at.d.place(at.at), "it counts by %s: the user of the log is taken for that, without one the client", kind)
	case "service":
		cases[0].By = request.BySite
		i.Tell(at.d.place(at.at), "it counts by service: all requests of the plugin count together here")
	case "header": // else by the address
		key, err := request.ParseKey("header:" + config.Say("header_name"))
		if err != nil {
			i.Lose(at.d.place(at.at), "%v", err)
			return
		}
		lacks := neutral.Lacking(key.String())
		cases = []neutral.KeyCase{{Set: at.set.And(lacks.Except()), By: key}, {Set: at.set.And(lacks), By: request.ByClient}}
	case "path": // as well
		path := neutral.Exactly(config.Say("path"))
		cases = []neutral.KeyCase{{Set: at.set.And(path), By: request.BySite}, {Set: at.set.And(path.Except()), By: request.ByClient}}
	default:
		i.Lose(at.d.place(at.at), "it counts by %s, which is not understood", kind)
		return
	}
	for _, unit := range []string{"second", "minute", "hour", "day", "month", "year"} {
		n := config.Get(unit)
		switch {
		case n == nil || n.Text == "":
			continue
		case unit == "month" || unit == "year":
			i.Lose(at.d.place(n), "no limit here has a window of a %s", unit)
			continue
		}
		p.Add("fixed:"+n.Text+"/"+envoyUnits[unit], fmt.Sprintf("%s %s: %s by %s", at.d.place(n), unit, n.Text,
			cmp.Or(config.Say("limit_by"), "consumer")), cases...)
	}
	if policy := config.Say("policy"); policy == "local" || policy == "" {
		i.Tell(at.d.place(at.at), "each node counts for itself; here one counts all requests")
	}
}
