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

// APISIX: see kong.go for its sources.

func isAPISIX(d doc) bool {
	kind := d.Say("kind")
	if kind == "PluginConfig" && strings.Contains(d.Say("apiVersion"), "apisix") || slices.Contains(strings.Fields("ApisixRoute ApisixGlobalRule ApisixPluginConfig"), kind) {
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

// An apisixReader gathers plugins, each with the requests that it is run for.
type apisixReader struct {
	*Import
	all     []plugged
	configs map[string][]neutral.Set // of the routes that name a resource with plugins
}

// Of plugins of one name, that with the highest rank is run for a request. Those of everywhere are run besides.
const everywhere, ofRoute, ofConfig, ofService = 4, 3, 2, 1

func takeAPISIX(i *Import, docs []doc) {
	r := apisixReader{Import: i, configs: map[string][]neutral.Set{}}
	for _, d := range docs {
		r.read(d)
		r.resource(d)
	}
	i.extended(func(_ doc, ref *policy.Tree, set neutral.Set) {
		r.configs[ref.Say("name")] = append(r.configs[ref.Say("name")], set)
	})
	for _, d := range each(i.docs, "Ingress") {
		if name := d.Say("metadata", "annotations", "k8s.apisix.apache.org/plugin-config-name"); name != "" {
			r.configs[name] = append(r.configs[name], i.ingressPaths(d))
		}
	}
	for _, d := range docs {
		if name := d.Say("metadata", "name"); strings.HasSuffix(d.Say("kind"), "PluginConfig") {
			if r.configs[name] == nil {
				r.Lose(d.place(nil), "no route here names %s: its plugins are judged on all requests", name)
			}
			r.add(d, d.Get("spec", "plugins"), neutral.AnyOf(r.configs[name]), ofConfig)
		}
	}
	i.Policies = append(i.Policies, r.policy())
}

// add takes the plugins of a part.
func (r *apisixReader) add(d doc, plugins *policy.Tree, set neutral.Set, rank int) {
	for _, name := range plugins.Keys() {
		if at := plugins.Get(name); at.Say("_meta", "disable") != "true" {
			r.all = append(r.all, plugged{d: d, at: at, name: name, set: set, rank: rank})
		}
	}
	for _, p := range plugins.List() { // of a resource: a list with names
		if p.Say("enable") != "false" {
			r.all = append(r.all, plugged{d: d, at: p.Get("config"), name: p.Say("name"), set: set, rank: rank})
		}
	}
}

// read takes the plugins of a file of APISIX itself.
func (r *apisixReader) read(d doc) {
	services, configs := map[string][]neutral.Set{}, map[string][]neutral.Set{}
	var routes []*policy.Tree
	for _, route := range apisixAlone(d) {
		if route.Say("status") == "0" {
			r.Tell(d.place(route.Get("status")), "a route of status 0 is off: it is left out")
			continue
		}
		routes = append(routes, r.withHosts(d, route))
	}
	own := apisixRoutes(routes, "uri", "uris")
	for _, route := range routes {
		set := own[route]
		r.apisixVars(d, route)
		r.add(d, route.Get("plugins"), set, ofRoute)
		services[route.Say("service_id")] = append(services[route.Say("service_id")], set)
		configs[route.Say("plugin_config_id")] = append(configs[route.Say("plugin_config_id")], set)
	}
	for _, s := range d.List("services") {
		r.add(d, s.Get("plugins"), neutral.Union(services[s.Say("id")]...), ofService)
	}
	for _, c := range d.List("plugin_configs") {
		r.add(d, c.Get("plugins"), neutral.Union(configs[c.Say("id")]...), ofConfig)
	}
	for _, g := range d.List("global_rules") {
		r.add(d, g.Get("plugins"), neutral.Set{}, everywhere)
	}
	for _, c := range append(d.List("consumers"), d.List("consumer_groups")...) {
		if c.Get("plugins", "limit-count") != nil || c.Get("plugins", "limit-req") != nil {
			r.Lose(d.place(c), "a limit for some consumers is not read")
		}
	}
}

// withHosts is a route with the hosts of its service, if it has none of its own.
func (r *apisixReader) withHosts(d doc, route *policy.Tree) *policy.Tree {
	for _, s := range d.List("services") {
		if s.Say("id") == route.Say("service_id") && s.Get("hosts") != nil && route.Get("host") == nil && route.Get("hosts") == nil {
			route.Set("hosts", s.Get("hosts"))
		}
	}
	return route
}

// resource takes the plugins of a resource of Kubernetes.
func (r *apisixReader) resource(d doc) {
	matches := mapped.Add(nil, d.List("spec", "http"), func(route *policy.Tree) *policy.Tree { return route.Get("match") })
	own := apisixRoutes(matches, "path", "paths")
	for _, route := range d.List("spec", "http") {
		r.apisixVars(d, route.Get("match"))
		r.add(d, route.Get("plugins"), own[route.Get("match")], ofRoute)
		name := route.Say("plugin_config_name")
		r.configs[name] = append(r.configs[name], own[route.Get("match")])
	}
	if d.Say("kind") == "ApisixGlobalRule" {
		r.add(d, d.Get("spec", "plugins"), neutral.Set{}, everywhere)
	}
}

// policy returns the limits of all plugins. What is global holds besides the others, and is asked first.
func (r *apisixReader) policy() neutral.Policy {
	var first, others []plugged
	for _, at := range r.all {
		if at.rank == everywhere {
			first = append(first, at)
		} else {
			others = append(others, at)
		}
	}
	others = closest(others)
	r.refusals(first, r.all)
	r.refusals(others, others)
	for _, list := range [][]plugged{first, others} { // limit-count has a higher priority than limit-req
		slices.SortStableFunc(list, func(a, b plugged) int { return cmp.Compare(a.name, b.name) })
	}
	p := neutral.Policy{Name: "apisix", Combine: "in-turn"}
	for _, at := range append(first, others...) {
		r.apisixLimit(&p, at)
	}
	return p
}

// apisixRoutes are the requests of routes: of those that fit one the one with the longest path gets it, and of the same
// path that with the highest priority.
func apisixRoutes(all []*policy.Tree, uri, uris string) map[*policy.Tree]neutral.Set {
	whole := map[*policy.Tree]neutral.Set{}
	for _, r := range all {
		whole[r] = apisixRoute(r, uri, uris)
	}
	return ownSets(all, whole, func(r *policy.Tree) (kinds, length int) {
		for _, p := range append(r.List(uri), r.List(uris)...) {
			length = max(length, 2*len(p.Text)-2*strings.Count(p.Text, "*")+1-strings.Count(p.Text, "*"))
		}
		priority, _ := strconv.Atoi(r.Say("priority"))
		return length, priority
	})
}

// apisixRoute is the requests of a route, by the names of its paths. One ends in * or is the whole.
func apisixRoute(r *policy.Tree, uri, uris string) neutral.Set {
	set := neutral.Within("method", neutral.UpperAll(plainTexts(r.List("methods")))...)
	var paths []neutral.Set
	for _, p := range append(r.List(uri), r.List(uris)...) {
		if prefix, ok := strings.CutSuffix(p.Text, "*"); ok {
			paths = append(paths, neutral.Below(prefix))
		} else {
			paths = append(paths, neutral.Exactly(p.Text))
		}
	}
	if paths != nil {
		set = set.And(neutral.Union(paths...))
	}
	hosts, _ := neutral.HostSet("", plainTexts(append(r.List("host"), r.List("hosts")...)))
	return set.And(hosts)
}

// apisixVars tells of conditions that are not read.
func (i *Import) apisixVars(d doc, r *policy.Tree) {
	onlyKnown(i.Tell, d, r, apisixRouteWords)
	for _, key := range []string{"vars", "exprs", "remote_addr", "remote_addrs", "remoteAddrs", "filter_func", "script"} {
		if part := r.Get(key); part != nil {
			i.Lose(d.place(part), "%s of a route are not read: it is taken to fit", key)
		}
	}
}

// apisixFilter is the requests that a plugin is run for.
func (i *Import) apisixFilter(d doc, config *policy.Tree) (set neutral.Set) {
	for _, test := range config.List("_meta", "filter") {
		words := test.List()
		if len(words) == 4 && words[0].Text == "remote_addr" && words[1].Text == "!" && words[2].Text == "ipmatch" {
			if one, known := neutral.NetworkSet(plainTexts(words[3].List())); known {
				set = set.And(one.Except())
				continue
			}
		}
		i.Lose(d.place(test), "filter of a plugin is not read but for networks: it is taken to fit")
	}
	return set
}

// What may stand at a route, and in the settings of both plugins.
const (
	apisixRouteWords = "id uri* path* name method* host* vars exprs filterfunc remoteaddr* plugins pluginconfig* upstream* service* " +
		"priority status timeout enablewebsocket labels desc script* createtime updatetime"
	apisixWords = "key keytype rejectedcode rejectedmsg policy allowdegradation showlimitquotaheader redis* meta"
)

// apisixOther fits the names of other plugins that limit.
var apisixOther = lazy.Regexp(`limit|throttl|workflow`)

// apisixLimit adds what a plugin limits.
func (i *Import) apisixLimit(p *neutral.Policy, at plugged) {
	config, place := at.at, at.d.place(at.at)
	if at.set.Never && apisixOther().MatchString(at.name) {
		i.Tell(place, "%s: no request is known that comes to it", at.name)
		return
	}
	switch at.name {
	case "limit-count":
		onlyKnown(i.Lose, at.d, config, "count timewindow windowtype group rules "+apisixWords)
		if config.Say("window_type") == "sliding" {
			i.Lose(place, "limit-count: a sliding window is not read")
			return
		}
		if group := config.Say("group"); group != "" {
			i.Lose(place, "limit-count: the routes of the group %s count together there, and each for itself here", group)
		}
		if config.Get("rules") == nil {
			i.apisixKeyed(p, at, config, i.apisixCount(at, config))
		}
		for _, rule := range config.List("rules") { // which are asked in turn
			i.apisixKeyed(p, at, rule, i.apisixCount(at, rule))
		}
	case "limit-req":
		onlyKnown(i.Lose, at.d, config, "rate burst nodelay "+apisixWords)
		text, err := apisixRate(config)
		if err != nil {
			i.Lose(place, "limit-req: %v", err)
		}
		i.apisixKeyed(p, at, config, text)
	case "limit-conn":
		i.Lose(place, "limit-conn bounds how many requests are under way at once, which no limit here does")
	default:
		if apisixOther().MatchString(at.name) {
			i.Lose(place, "the plugin %s may limit or answer requests, and is not read", at.name)
		}
	}
}

// apisixRate returns the limit of a limit-req, which is that of nginx.
func apisixRate(config *policy.Tree) (text string, err error) {
	said := config.Say("rate")
	rate, bad := strconv.ParseFloat(said, 64)
	burst, err := strconv.ParseInt(config.Say("burst"), 10, 64)
	switch {
	case err != nil || bad != nil || rate <= 0:
		return "", fmt.Errorf("rate %s and burst %s are not understood", said, config.Say("burst"))
	case rate == float64(int64(rate)):
		text = fmt.Sprintf("nginx:%dr/s,burst=%d", int64(rate), burst)
	case rate*60 == float64(int64(rate*60)):
		text = fmt.Sprintf("nginx:%dr/m,burst=%d", int64(rate*60), burst)
	default:
		return "", fmt.Errorf("nginx has no rate of %s a second", said)
	}
	if config.Say("nodelay") == "true" {
		text += ",nodelay"
	}
	return text, nil
}

// apisixCount is the window of limit-count, or of one of its rules; "" if it depends on requests.
func (i *Import) apisixCount(at plugged, part *policy.Tree) string {
	count, window := part.Say("count"), part.Say("time_window")
	if strings.Contains(count+window, "$") {
		i.Lose(at.d.place(part), "limit-count: %s in %s s depends on each request: it is left out", count, window)
		return ""
	}
	if kind := at.at.Say("policy"); kind != "local" && kind != "" {
		return fmt.Sprintf("fixed:%s/%ss,align=first", count, window)
	}
	i.Tell(at.d.place(at.at), "limit-count: each node counts for itself; here one counts all requests")
	return fmt.Sprintf("apisix-limit-count:%s/%ss", count, window)
}

// apisixVariable matches the variables of a key.
var apisixVariable = lazy.Regexp(`\$\{?(\w+)`)

// apisixKeyed adds the limits of a part of a plugin by its key. A rule counts nothing without a variable of its key.
func (i *Import) apisixKeyed(p *neutral.Policy, at plugged, part *policy.Tree, text string) {
	if text == "" {
		return
	}
	config, isRule := at.at, part != at.at
	place, says := at.d.place(part), cmp.Or(part.Say("key"), "remote_addr")
	var words []string
	names := [][]string{{"", says}}
	if kind := cmp.Or(config.Say("key_type"), "var"); !isRule && kind != "constant" && (kind == "var") == strings.Contains(says, "$") {
		names[0][1], says = "remote_addr", "remote_addr" // no variable is called so
	}
	if found := apisixVariable().FindAllStringSubmatch(says, -1); !isRule && config.Say("key_type") == "constant" {
		names = nil // one count of all requests, whatever its text
	} else if found != nil || isRule {
		names = found
	}
	for _, variable := range names {
		name := variable[1]
		known, named := nginx.PartOf(name)
		if name == "consumer_name" || name == "service_id" || name == "route_id" || !named {
			i.Lose(place, "%s is nothing that limits here count by: it is left out of the key", name)
			continue
		}
		words = append(words, known)
	}
	if isRule && names == nil {
		i.Tell(place, "limit-count: a rule whose key %s has no variable counts nothing", says)
	}
	if priority := config.Say("_meta", "priority"); priority != "" {
		i.Lose(place, "%s: the priority %s is not read", at.name, priority)
	}
	set := at.set.And(i.apisixFilter(at.d, config))
	for _, key := range neutral.Present(set, words, nil, !isRule || words == nil && names != nil) {
		if words != nil && key.By == request.BySite { // without any part of a key
			key.By = request.ByClient
		}
		p.Add(text, fmt.Sprintf("%s %s by %s, refused with %s", place, at.name, says, cmp.Or(config.Say("rejected_code"), "503")), key)
	}
}
