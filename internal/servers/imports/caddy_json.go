package imports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/caddyfile"
	"shadow/internal/servers/imports/neutral"
)

// Matchers of Caddy, and its configuration in JSON, whose routes stand in routes.

// caddyPath is a matcher of paths: an asterisk at an end stands for anything, and two for any text around. Others are
// those of shells, which no slash fits.
// Source: caddyserver/caddy v2.10.0, modules/caddyhttp/matchers.go (MatchPath.Match).
func (r *caddyReader) caddyPath(place, pattern string) neutral.Set {
	if !r.cased {
		r.Tell(place, "matchers of Caddy take a path in any case; here paths are as they are written")
		r.cased = true
	}
	if r.changes != "" {
		r.Lose(place, "a path is matched behind %s, which may change it: it is matched as it is logged here", r.changes)
	}
	if strings.HasPrefix(pattern, "/") {
		pattern = r.strip + pattern
	}
	inner := strings.Trim(pattern, "*")
	switch {
	case inner == "":
		return neutral.Set{}
	case strings.ContainsAny(pattern, `[\`):
		r.unknown++
		r.Lose(place, "path %s is not read: it is taken to fit", pattern)
		return neutral.Set{}
	case !strings.ContainsAny(pattern, "*?"):
		return neutral.Exactly(pattern)
	case pattern == inner+"*" && !strings.Contains(inner, "*"):
		return neutral.Below(inner)
	case pattern == "*"+inner && !strings.Contains(inner, "*"):
		set, _ := neutral.TextSet("regexp", "end", []string{inner}, false)
		return set
	case pattern == "*"+inner+"*" && !strings.Contains(inner, "*"):
		return neutral.Within("regexp", regexp.QuoteMeta(inner))
	}
	glob := strings.NewReplacer(`\*`, "[^/]*", `\?`, "[^/]").Replace(regexp.QuoteMeta(pattern))
	return neutral.Within("regexp", "^"+glob+"$")
}

// caddyMatch is the requests of a mapping of matchers.
func (r *caddyReader) caddyMatch(place func(*policy.Tree) string, t *policy.Tree) neutral.Set {
	all := neutral.Set{}
	for _, kind := range t.Keys() {
		values := plainTexts(t.List(kind))
		if kind == "header" {
			for _, name := range t.Get(kind).Keys() {
				for _, v := range t.List(kind, name) {
					values = append(values, name, v.Text)
				}
			}
		}
		one, known := r.caddyMatcher(place, t, kind, values)
		if !known || len(values) == 0 && t.Get(kind).Keys() == nil {
			r.unknown++
			r.Lose(place(t.Get(kind)), "no condition says %s %s: it is taken to fit", kind, strings.Join(values, " "))
			continue
		}
		all = all.And(one)
	}
	return all
}

// caddyMatcher is the requests that fit one matcher; false if no condition says so.
func (r *caddyReader) caddyMatcher(place func(*policy.Tree) string, t *policy.Tree, kind string, values []string) (neutral.Set, bool) {
	switch kind {
	case "path":
		return neutral.Union(mapped.Add(nil, values, func(v string) neutral.Set { return r.caddyPath(place(t.Get(kind)), v) })...), true
	case "path_regexp":
		pattern := t.Say(kind, "pattern")
		if len(values) > 0 && pattern == "" {
			pattern = values[len(values)-1]
		}
		one, known := neutral.TextSet("regexp", "reg", []string{pattern}, false)
		return one, known && r.strip == "" && r.changes == ""
	case "header":
		if len(values) != 2 || values[1] != "*" {
			return neutral.None, false
		}
		key, err := request.ParseKey("header:" + values[0])
		return neutral.Lacking(key.String()).Except(), err == nil
	case "method":
		return neutral.Within("method", neutral.UpperAll(values)...), true
	case "host":
		return neutral.HostSet("", values)
	case "remote_ip", "client_ip":
		if ranges := t.List(kind, "ranges"); ranges != nil {
			values = plainTexts(ranges)
		}
		return neutral.NetworkSet(values)
	case "not":
		before := r.unknown
		if one := r.either(place, t.List(kind)).Except(); r.unknown == before {
			return one, true
		}
		return neutral.Set{}, true
	}
	return neutral.None, false
}

// either is the requests that fit one of some mappings of matchers.
func (r *caddyReader) either(place func(*policy.Tree) string, all []*policy.Tree) neutral.Set {
	return neutral.Union(mapped.Add(nil, all, func(m *policy.Tree) neutral.Set { return r.caddyMatch(place, m) })...)
}

// matched is the requests of the matcher of a directive.
func (r *caddyReader) matched(b *caddyfile.Block) neutral.Set {
	if len(b.Words) < 2 || b.Name() == "redir" && len(b.Words) == 2 {
		return neutral.Set{}
	}
	switch word := b.Words[1]; {
	case strings.HasPrefix(word, "/"):
		return r.caddyPath(b.Place, word)
	case strings.HasPrefix(word, "@") && r.matchers[word] != nil:
		m := r.matchers[word]
		inner := slices.Clone(m.Inner)
		if len(m.Words) > 1 {
			inner = append(inner, &caddyfile.Block{Words: m.Words[1:], Place: m.Place})
		}
		return r.matcher(inner)
	}
	return neutral.Set{}
}

// caddyMerged are matchers whose lines are one matcher with all their values.
var caddyMerged = strings.Fields("path host method remote_ip client_ip")

// mergedLines returns matchers, those of several lines as one.
func mergedLines(blocks []*caddyfile.Block) (all []*caddyfile.Block) {
	for _, b := range blocks {
		before := slices.IndexFunc(all, func(a *caddyfile.Block) bool { return a.Name() == b.Name() })
		if before < 0 || !slices.Contains(caddyMerged, b.Name()) {
			all = append(all, b)
			continue
		}
		merged := *all[before]
		merged.Words = slices.Concat(merged.Words, b.Words[1:])
		all[before] = &merged
	}
	return all
}

// matcher returns the requests that fit all matchers of a set.
func (r *caddyReader) matcher(blocks []*caddyfile.Block) neutral.Set {
	all := neutral.Set{}
	for _, b := range mergedLines(blocks) {
		inner := slices.Clone(b.Inner)
		switch {
		case b.Name() == "not":
			if len(b.Words) > 1 {
				inner = append(inner, &caddyfile.Block{Words: b.Words[1:], Place: b.Place})
			}
			before := r.unknown
			if set := r.matcher(inner); r.unknown == before {
				all = all.And(set.Except())
			}
		case b.Name() != "":
			tree := policy.NewTree(0)
			values := &policy.Tree{Items: []*policy.Tree{}}
			for _, w := range b.Words[1:] {
				values.Items = append(values.Items, &policy.Tree{Text: w})
			}
			tree.Set(b.Name(), values)
			all = all.And(r.caddyMatch(func(*policy.Tree) string { return b.Place }, tree))
		}
	}
	return all
}

var caddyPlaceholder = lazy.Regexp(`\{[^{}]*\}|[^{}]+`)

// caddyPart returns what limits count by for a placeholder; "" if nothing.
func caddyPart(name string) string {
	name = strings.TrimPrefix(name, "http.request.")
	switch name {
	case "remote_host", "remote.host", "client_ip", "remote", "vars.client_ip", "http.vars.client_ip":
		return "client"
	case "host", "hostport", "http.request.host":
		return "host"
	case "path", "uri.path", "orig_uri.path":
		return "path"
	case "uri", "orig_uri":
		return neutral.WholeTarget
	case "http.auth.user.id", "auth.user.id":
		return "user"
	}
	for _, prefix := range []string{"header.", "cookie."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if prefix == "header." && strings.EqualFold(rest, "user-agent") {
				return "agent"
			}
			if key, err := request.ParseKey(strings.TrimSuffix(prefix, ".") + ":" + rest); err == nil {
				return key.String()
			}
		}
	}
	return ""
}

func isCaddy(d doc) bool {
	return some(d.Tree, func(_ string, part *policy.Tree) bool { return part.Say("handler") == "rate_limit" })
}

func takeCaddy(i *Import, docs []doc) {
	for _, d := range docs {
		r := &caddyReader{Import: i, strange: map[string]bool{}}
		r.servers = d.Get("apps", "http", "servers")
		for _, name := range r.servers.Keys() {
			onlyKnown(i.Tell, d, r.servers.Get(name), caddyServerWords)
		}
		r.routes(d, d.Tree, neutral.Set{}, 0)
		r.done()
	}
}

const caddyServerWords = "listen listenerwrappers packetconnwrappers readtimeout readheadertimeout writetimeout idletimeout " +
	"keepalive* maxheaderbytes enablefullduplex routes errors namedroutes tlsconnectionpolicies automatichttps strictsnihost " +
	"trustedproxies* clientipheaders logs protocols listenprotocols metrics allowh2c experimentalhttp3 allow0rtt"

// listens are the requests to the ports of a server, beside others with limits on other ports. Those of a log without ports
// are taken to come to each.
func (r *caddyReader) listens(d doc, t *policy.Tree) neutral.Set {
	ports := func(t *policy.Tree) (all []string) {
		for _, address := range texts(t.List("listen")) {
			all = append(all, address[strings.LastIndexByte(address, ':')+1:])
		}
		return neutral.SortedPorts(all)
	}
	if t.Get("listen") == nil || !isCaddy(doc{t, d.file}) {
		return neutral.Set{}
	}
	for _, name := range r.servers.Keys() {
		if other := r.servers.Get(name); isCaddy(doc{other, d.file}) && !slices.Equal(ports(t), ports(other)) {
			r.Lose(d.place(t), "only a log with the port tells requests to this server (%s) from others; else all are taken to come to it",
				strings.Join(ports(t), ", "))
			return neutral.Within("port", append(ports(t), request.NoPort)...)
		}
	}
	return neutral.Set{}
}

var caddyHandler = lazy.Regexp(`^(acme_server|copy_response(_headers)?|encode|headers|intercept|invoke|log_append|map|metrics|push|` +
	`request_body|templates|tracing|vars)$`)

// mostRoutes is the depth to which routes may stand in routes.
const mostRoutes = 50

// routes looks for handlers below a part, with the requests that routes have matched on the way.
func (r *caddyReader) routes(d doc, t *policy.Tree, set neutral.Set, depth int) {
	if t == nil || depth > mostRoutes {
		return
	}
	set = set.And(r.listens(d, t))
	if t.Get("handle") != nil {
		onlyKnown(r.Tell, d, t, "match handle group terminal")
	}
	if match := t.List("match"); match != nil && t.Get("handle") != nil {
		set = set.And(r.either(d.place, match))
	}
	switch handler := t.Say("handler"); handler {
	case "subroute":
		answers, changes := r.answers, r.changes
		defer func() { r.answers, r.changes = answers, changes }()
	case "rewrite":
		r.changes = d.place(t)
	case "static_response", "error", "authentication", "file_server", "reverse_proxy":
		r.answers = append(r.answers, fmt.Sprintf("%s (%s)", handler, d.place(t)))
	case "rate_limit":
		r.rateLimit(d, t, set)
		return
	default:
		if handler != "" && !caddyHandler().MatchString(handler) && !r.strange[handler] {
			r.strange[handler] = true
			r.Tell(d.place(t), "%s is a handler that is not known: it is taken to limit nothing", handler)
		}
	}
	for _, item := range t.Items {
		r.routes(d, item, set, depth+1)
	}
	for _, key := range t.Keys() {
		part := t.Get(key)
		if key == "errors" && part.Get("routes") != nil && part.Get("listen") == nil && isCaddy(doc{part, d.file}) {
			r.Lose(d.place(part), "a rate_limit within errors is not read")
			continue
		}
		r.routes(d, part, set, depth+1)
	}
}

// rateLimit takes the zones of a handler.
func (r *caddyReader) rateLimit(d doc, t *policy.Tree, set neutral.Set) {
	for _, a := range r.answers {
		r.Lose(d.place(t), "%s may answer requests before the limits behind it, where they count here", a)
	}
	if distributed := t.Get("distributed"); distributed != nil {
		r.Tell(d.place(distributed), distributedCaddy)
	}
	onlyKnown(r.Lose, d, t, "handler ratelimits distributed storage jitter sweepinterval logkey")
	zones := t.Get("rate_limits")
	for _, name := range zones.Keys() {
		z := zones.Get(name)
		onlyKnown(r.Lose, d, z, "match key window maxevents ipv4prefix ipv6prefix")
		match := neutral.Set{}
		if list := z.List("match"); list != nil {
			match = r.either(d.place, list)
		}
		window := z.Say("window")
		if ns, err := strconv.ParseInt(window, 10, 64); err == nil {
			window = fmt.Sprintf("%dus", ns/1000)
		}
		r.zone(d.place(z), name, map[string]string{
			"key": z.Say("key"), "window": window, "events": z.Say("max_events"),
			"ipv4_prefix": z.Say("ipv4_prefix"), "ipv6_prefix": z.Say("ipv6_prefix"),
		}, set.And(match))
	}
}
