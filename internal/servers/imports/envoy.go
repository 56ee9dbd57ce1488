package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/neutral"
)

// Envoy: actions make a descriptor of a request, a list of keys with values. The local filter has buckets for descriptors,
// and one for all requests; the rate limit service has a tree of them, with windows of the clock. Envoy Gateway has both
// in a BackendTrafficPolicy.
// Sources: envoyproxy/envoy, api/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit.proto,
// api/envoy/type/v3/token_bucket.proto, source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc,
// source/extensions/filters/http/ratelimit/ratelimit.cc (stages, settings of routes before those of virtual hosts),
// source/extensions/filters/http/local_ratelimit/local_ratelimit.cc (20 dynamic descriptors);
// envoyproxy/ratelimit f2fb157, README.md, src/config/config_impl.go (GetLimit), src/utils/utilities.go;
// envoyproxy/gateway, api/v1alpha1/ratelimit_types.go, internal/gatewayapi/backendtrafficpolicy.go
// (buildRateLimitRule).

var (
	envoyFormat   = format{name: "envoy", has: isEnvoy, take: takeEnvoy}
	gatewayFormat = format{name: "envoy-gateway", has: isGateway, take: takeGateway}
)

func isEnvoy(d doc) bool {
	return d.Get("domain") != nil && d.Get("descriptors") != nil || some(d.Tree, func(key string, part *policy.Tree) bool {
		return key == "token_bucket" || key == "rate_limits" && len(part.List()) > 0 && part.List()[0].Get("actions") != nil
	})
}

// An envoyEntry is what an action adds to a descriptor.
type envoyEntry struct {
	key, value string
	parts      []string // what it counts by: of IPv4 and of IPv6, if that differs
	set        neutral.Set
}

// An envoyAction is the descriptor that some requests have.
type envoyAction struct {
	entries []envoyEntry
	set     neutral.Set
	place   string
	stage   string // that a filter must have to take it
	in      []int  // the lists where it stands; 0: beside those of a virtual host
}

// A envoyLocal is a local filter, or its settings at a route.
type envoyLocal struct {
	d   doc
	at  *policy.Tree
	set neutral.Set
	of  []*policy.Tree // the parts with settings around it, from a virtual host to what is closest; of a filter none
	off bool
}

// overrides reports whether settings stand closer to some requests than others, which do not hold for these.
func (l *envoyLocal) overrides(other *envoyLocal) bool {
	n := len(other.of)
	return len(l.of) > n && (n == 0 || l.of[n-1] == other.of[n-1])
}

type envoyReader struct {
	*Import
	actions []envoyAction
	acting  string // the place of the first of them
	lists   int    // of actions, so far
	local   []envoyLocal
	around  []*policy.Tree // the parts with settings on the way
	within  bool           // whether these settings are looked at
	own     []neutral.Set  // of routes with actions, which have none of their virtual host
	off     []neutral.Set  // for which the rate limit service is not asked
	filters []envoyFilter
	status  string // with which what is read now refuses; "": 429
}

// An envoyFilter asks the rate limit service.
type envoyFilter struct{ domain, stage, status string }

func takeEnvoy(i *Import, docs []doc) {
	r := &envoyReader{Import: i}
	for _, d := range docs {
		r.look(d, d.Tree, neutral.Set{}, 0)
	}
	r.locals()
	r.services(docs)
	if r.acting != "" && len(r.local) == 0 && !slices.ContainsFunc(docs, func(d doc) bool { return d.Get("domain") != nil }) {
		r.Lose(r.acting, "nothing here says what the rate limit service makes of these actions: give its descriptors too")
	}
}

// envoyLocalWords may stand in a local filter.
const envoyLocalWords = "@type statprefix status tokenbucket filterenabled filterenforced requestheaderstoaddwhennotenforced " +
	"responseheaderstoadd descriptors stage localratelimitperdownstreamconnection localclusterratelimit enablexratelimitheaders " +
	"vhratelimits alwaysconsumedefaulttokenbucket ratelimitedasresourceexhausted ratelimits maxdynamicdescriptors name typedconfig"

// otherFilter fits filters that limit connections, and what is not HTTP.
var otherFilter = lazy.Regexp(`\bfilters\.(network|listener|udp|thrift|dubbo)\w*\.\w*rate_?limit`)

// look finds actions and local filters below a part, with the requests of the routes on the way.
func (r *envoyReader) look(d doc, t *policy.Tree, set neutral.Set, depth int) {
	if t == nil || depth > 100 || r.elsewhere(d, t) {
		return
	}
	if domains := envoyDomains(t); !slices.Contains(domains, "*") {
		set = set.And(neutral.Within("host", domains...))
	}
	r.take(d, t, set)
	if t.Get("typed_per_filter_config") != nil {
		r.around = append(slices.Clip(r.around), t)
		defer func() { r.around = r.around[:len(r.around)-1] }()
	}
	owned, first, last := len(r.own), 0, 0
	for _, key := range t.Keys() {
		switch part := t.Get(key); key {
		case "rate_limits":
			if t.Get("stat_prefix") != nil { // those of a local filter, which reads them itself
				continue
			}
			r.acting = cmp.Or(r.acting, d.place(part))
			first = len(r.actions)
			r.actions = append(r.actions, r.actionsOf(d, t, set)...)
			if last = len(r.actions); t.Get("routes") == nil && t.Say("include_vh_rate_limits") != "true" && len(part.List()) > 0 {
				r.own = append(r.own, set)
			}
		case "virtual_hosts":
			r.hosts(d, part.List(), set, depth)
		case "routes":
			r.routes(d, part.List(), set, depth)
		case "weighted_clusters":
			if isEnvoy(doc{part, d.file}) {
				r.Lose(d.place(part), "limits of weighted clusters are judged on all requests of their route")
			}
			r.look(d, part, set, depth+1)
		case "typed_per_filter_config":
			r.perFilter(d, part, set, depth)
		case "http_filters":
			r.answering(d, part.List())
			fallthrough
		default:
			for _, item := range append(part.Items, part) {
				r.look(d, item, set, depth+1)
			}
		}
	}
	if t.Get("routes") != nil { // a virtual host
		for n := first; n < last; n++ {
			r.actions[n].set = r.actions[n].set.Minus(r.own[owned:])
		}
		r.own = r.own[:owned]
	}
}

// elsewhere tells of a filter that limits no requests of HTTP, or is off, and reports whether a part is one.
func (r *envoyReader) elsewhere(d doc, t *policy.Tree) bool {
	if kind := cmp.Or(otherFilter().FindString(t.Say("@type")), otherFilter().FindString(t.Say("name"))); kind != "" {
		r.Lose(d.place(t), "%s bounds what is no request of HTTP: it is left out", kind)
		return true
	}
	if t.Say("disabled") == "true" && t.Get("typed_config") != nil && isEnvoy(doc{t, d.file}) {
		r.Tell(d.place(t), "the filter %s is disabled there: it is judged only where a route has settings of its own", t.Say("name"))
		return true
	}
	return false
}

// take takes down the filter that a part is, and tells of what of it is not read.
func (r *envoyReader) take(d doc, t *policy.Tree, set neutral.Set) {
	for _, keys := range []string{"routeConfiguration vhost name", "routeConfiguration vhost route name", "context", "listener portNumber", "routeConfiguration portNumber"} {
		if at := t.Get("match").Get(strings.Fields(keys)...); at.Say() != "" && isEnvoy(doc{t, d.file}) && !everyHost().MatchString(at.Text) { // a patch of Istio
			r.Lose(d.place(at), "the patch is for the %s %s alone: it is judged on all requests", keys[strings.LastIndexByte(keys, ' ')+1:], at.Text)
		}
	}
	if labels := t.Get("workloadSelector", "labels"); labels != nil && isEnvoy(doc{t, d.file}) {
		r.Lose(d.place(labels), "workloadSelector is not read: what is for some workloads is judged on all requests")
	}
	if t.Get("domain") != nil && (t.Get("rate_limit_service") != nil || strings.HasSuffix(t.Say("@type"), ".ratelimit.v3.RateLimit")) {
		r.filters = append(r.filters, envoyFilter{t.Say("domain"), cmp.Or(t.Say("stage"), "0"), t.Say("rate_limited_status", "code")})
	}
	if at := t.Get("vh_rate_limits"); at != nil && at.Text != "OVERRIDE" && at.Text != "0" {
		r.Lose(d.place(at), "vh_rate_limits %s is not read: actions of a route take the place of those of its virtual host", at.Text)
	}
	if t.Get("token_bucket") != nil && t.Get("entries") == nil || t.Get("descriptors") != nil && t.Get("stat_prefix") != nil {
		onlyKnown(r.Lose, d, t, envoyLocalWords)
		onlyKnown(r.Lose, d, t.Get("token_bucket"), "maxtokens tokensperfill fillinterval")
		r.local = append(r.local, envoyLocal{d: d, at: t, set: set, of: r.settings()})
	}
}

// settings are the parts with settings around those that are looked at; nil if these are none.
func (r *envoyReader) settings() []*policy.Tree {
	if !r.within {
		return nil
	}
	return slices.Clone(r.around)
}

// perFilter looks at the settings of filters at a route or a virtual host.
func (r *envoyReader) perFilter(d doc, part *policy.Tree, set neutral.Set, depth int) {
	r.within = true
	defer func() { r.within = false }()
	for _, name := range part.Keys() {
		at := part.Get(name)
		switch limits := strings.Contains(name, "ratelimit"); {
		case limits && at.Say("disabled") == "true" && strings.Contains(name, "local"):
			r.Tell(d.place(at), "%s is disabled there: its requests are not judged", name)
			r.local = append(r.local, envoyLocal{d: d, at: at, set: set, of: r.settings(), off: true})
		case limits && at.Say("disabled") == "true":
			r.Tell(d.place(at), "%s is disabled there: its requests are not judged", name)
			r.off = append(r.off, set)
		case limits && at.Get("domain") != nil:
			r.Lose(d.place(at), "a domain of the requests of a route is not read: that of the filter is taken")
		}
		r.look(d, at, set, depth+1)
	}
}

// hosts looks at virtual hosts. That with the narrowest of the domains that fit gets a request.
func (r *envoyReader) hosts(d doc, list []*policy.Tree, set neutral.Set, depth int) {
	domains := mapped.Add(nil, list, envoyDomains)
	for n, host := range list {
		var others []string
		for _, name := range slices.Concat(slices.Concat(domains[:n]...), slices.Concat(domains[n+1:]...)) {
			if slices.ContainsFunc(domains[n], func(mine string) bool { return neutral.Narrower(name, mine) }) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
		own := set
		if others != nil {
			own = own.And(neutral.Within("host", others...).Except())
		}
		r.look(d, host, own, depth+1)
	}
}

// envoyDomains returns the domains of a virtual host, without ports.
func envoyDomains(host *policy.Tree) []string {
	return mapped.Add(nil, host.List("domains"), func(h *policy.Tree) string {
		name, _, _ := strings.Cut(strings.ToLower(h.Text), ":")
		return name
	})
}

// routes looks at routes. The first that fits gets a request.
func (r *envoyReader) routes(d doc, list []*policy.Tree, left neutral.Set, depth int) {
	for _, route := range list {
		one, known := r.route(d, route.Get("match"))
		r.look(d, route, left.And(one), depth+1)
		if known {
			if route.Get("redirect") != nil || route.Get("direct_response") != nil { // for these no descriptor is made
				r.own = append(r.own, left.And(one))
			}
			left = left.And(one.Except())
		}
	}
}

// actionsOf returns the descriptors that the rate_limits of a part make.
func (r *envoyReader) actionsOf(d doc, of *policy.Tree, set neutral.Set) (all []envoyAction) {
	r.lists++
	in := []int{r.lists}
	if of.Say("include_vh_rate_limits") == "true" {
		in[0] = 0
	}
	for _, l := range of.List("rate_limits") {
		onlyKnown(r.Lose, d, l, "actions stage disablekey limit hitsaddend applyonstreamdone xratelimitoption")
		if hits := l.Get("hits_addend"); hits != nil && hits.Say("number") != "1" {
			r.Lose(d.place(hits), "hits_addend is not read: a request counts as 1 here")
		}
		for _, key := range []string{"limit", "apply_on_stream_done"} {
			if at := l.Get(key); at != nil && at.Text != "false" {
				r.Lose(d.place(at), "%s is not read: these actions are judged as if it were not there", key)
			}
		}
		if a, ok := r.action(d, l, set); ok {
			a.place, a.stage, a.in = d.place(l), cmp.Or(l.Say("stage"), "0"), in
			all = append(all, a)
		}
	}
	return all
}

// everyHost fits names of virtual hosts that have all hosts of a port, and the context of any proxy.
var everyHost = lazy.Regexp(`^(\*(:\d+)?|inbound\|.*|ANY)$`)

// action reads what makes a descriptor; false if requests have none that is known.
func (r *envoyReader) action(d doc, l *policy.Tree, set neutral.Set) (a envoyAction, ok bool) {
	a.set = set
	for _, at := range l.List("actions") {
		for _, kind := range at.Keys() {
			e, bad, err := r.entry(d, kind, at.Get(kind))
			if err != nil {
				r.Lose(d.place(bad), "%v: its descriptor is left out", err)
				return a, false
			}
			a.entries = append(a.entries, e)
		}
	}
	return a, len(a.entries) > 0
}

// entry returns what an action adds to a descriptor, or which part of it is not understood, and why.
func (r *envoyReader) entry(d doc, kind string, of *policy.Tree) (e envoyEntry, bad *policy.Tree, err error) {
	e = envoyEntry{key: of.Say("descriptor_key"), value: of.Say("descriptor_value")}
	switch kind {
	case "remote_address":
		e.key, e.parts = "remote_address", []string{"client"}
	case "masked_remote_address":
		e.key = kind
		e.parts = []string{"client/" + cmp.Or(of.Say("v4_prefix_mask_len"), "32"), "client/" + cmp.Or(of.Say("v6_prefix_mask_len"), "128")}
	case "request_headers":
		if of.Say("skip_if_absent") == "true" {
			r.Lose(d.place(of), "skip_if_absent is not read: without %s there is no descriptor", of.Say("header_name"))
		}
		name := strings.ToLower(of.Say("header_name"))
		if name == "x-forwarded-for" {
			r.Tell(d.place(of), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
		}
		part, err := envoyPart(name)
		e.parts = []string{part}
		return e, of, err
	case "generic_key":
		e.key = cmp.Or(e.key, kind)
	case "header_value_match":
		e.key = cmp.Or(e.key, "header_match")
		for _, h := range of.List("headers") {
			one, known := headerMatch(h)
			if !known {
				return e, h, fmt.Errorf("no condition says the header %s", h.Say("name"))
			}
			e.set = e.set.And(one)
		}
		e.set = e.set.Unless(of.Say("expect_match") == "false")
	case "remote_address_match":
		networks := mapped.Add(nil, of.List("address_matcher", "ranges"), func(n *policy.Tree) string {
			return n.Say("address_prefix") + "/" + cmp.Or(n.Say("prefix_len"), "0")
		})
		one, known := neutral.NetworkSet(networks)
		if !known {
			return e, of, fmt.Errorf("%s are no networks", strings.Join(networks, ", "))
		}
		e.key, e.set = cmp.Or(e.key, kind), one.Unless(of.Say("address_matcher", "invert_match") == "true")
	default:
		return e, of, fmt.Errorf("the action %s is not read", kind)
	}
	return e, nil, nil
}

// envoyPart returns what limits count by for a header.
func envoyPart(name string) (string, error) {
	if part := envoyParts[name]; part != "" {
		return part, nil
	}
	key, err := request.ParseKey("header:" + name)
	if err != nil || strings.HasPrefix(name, ":") {
		return "", fmt.Errorf("no limit here counts by %s", name)
	}
	return key.String(), nil
}

var envoyParts = map[string]string{
	":path": neutral.WholeTarget, ":authority": "host", "host": "host", "user-agent": "agent", "x-forwarded-for": "client",
}
