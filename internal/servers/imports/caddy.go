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
	"shadow/internal/servers/imports/caddyfile"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// Caddy: the handler rate_limit of mholt/caddy-ratelimit has zones, each with a key, a window and how many it admits in
// it. The zone with the highest rate is asked first; what a later one refuses stays counted in those before.
// Source: mholt/caddy-ratelimit 5625512, caddyfile.go, handler.go (order of zones, prefixes), ratelimit.go,
// ringbuffer.go.

var caddyFormat = format{name: "caddy", is: matches(caddyLine), read: readCaddyfile, has: isCaddy, take: takeCaddy}

var caddyLine = lazy.Regexp(`(?m)^\s*(rate_limit\s*(\S+\s*)?\{|(reverse_proxy|file_server|php_fastcgi|encode|tls|handle(_path)?|import|order)(\s+[^;\n]*)?$)`)

type caddyReader struct {
	*Import
	limits   []caddyLimit
	zones    int
	servers  *policy.Tree // of a configuration in JSON
	order    []string
	matchers map[string]*caddyfile.Block
	strip    string   // what handle_path has taken from paths
	changes  string   // the place of what has changed paths before
	answers  []string // places of what may have answered before, in JSON
	unknown  int      // matchers that no condition says
	cased    bool     // that paths have any case was told

	strange map[string]bool // handlers that are not known and were told
}

// A caddyLimit is one case of a zone, whose count all zones of its name share.
type caddyLimit struct {
	neutral.Limit
	rate      float64
	name, key string
	place     string
	zone      int
}

func readCaddyfile(i *Import, file string, text []byte) error {
	r := &caddyReader{Import: i, order: slices.Clone(caddyOrder)}
	all, err := (&caddyfile.Reader{Lose: i.Lose}).Read(file, string(text))
	if err != nil {
		return err
	}
	var sites, parts []*caddyfile.Block
	for _, b := range all {
		switch name := b.Name(); {
		case r.rank(name) >= 0 || strings.HasPrefix(name, "@"): // a part of a site
			parts = append(parts, b)
		case strings.HasPrefix(name, "(") || strings.HasPrefix(name, "&("):
			if b.Has("rate_limit") {
				r.Tell(b.Place, "nothing imports %s: its limits do nothing", name)
			}
		case name != "" && b.Inner != nil:
			sites = append(sites, b)
		case b.Inner != nil:
			r.ordered(b)
		}
	}
	r.level(parts, neutral.Set{}, true, false)
	for _, s := range sites {
		set := neutral.Set{}
		hosts, _ := caddyAddresses(s.Words)
		if len(sites) > 1 && hosts != nil {
			set = neutral.Within("host", hosts...)
		}
		r.level(s.Inner, set.And(r.port(s, sites)), true, false)
	}
	r.done()
	return nil
}

// caddyAddresses are the hosts and ports of the addresses of a site.
func caddyAddresses(words []string) (hosts, ports []string) {
	for _, word := range words {
		for address := range strings.SplitSeq(word, ",") {
			if address == "" {
				continue
			}
			scheme, rest, ok := strings.Cut(address, "://")
			if ok {
				address = rest
			}
			address, _, _ = strings.Cut(address, "/")
			host, port, _ := strings.Cut(address, ":")
			if host != "" {
				hosts = append(hosts, strings.ToLower(host))
			}
			if port == "" && ok && scheme == "http" {
				port = "80"
			}
			ports = append(ports, cmp.Or(port, "443"))
		}
	}
	return hosts, neutral.SortedPorts(ports)
}

// port are the requests to the ports of a site, where another site has its name, other ports and other limits. Those of a
// log without ports are taken to come to each.
func (r *caddyReader) port(s *caddyfile.Block, sites []*caddyfile.Block) neutral.Set {
	hosts, ports := caddyAddresses(s.Words)
	for _, other := range sites {
		names, theirs := caddyAddresses(other.Words)
		if slices.Equal(ports, theirs) || !s.Has("rate_limit") && !other.Has("rate_limit") ||
			names != nil && hosts != nil && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(hosts, name) }) {
			continue
		}
		r.Lose(s.Place, "only a log with the port tells requests to %s from those to %s; else all are taken "+
			"to come to it", strings.Join(s.Words, " "), strings.Join(other.Words, " "))
		return neutral.Within("port", append(ports, request.NoPort)...)
	}
	return neutral.Set{}
}

// caddyOrder are the directives of a site in the order in which they get a request, unless `order` says otherwise.
// Source: caddyserver/caddy v2.10.0, caddyconfig/httpcaddyfile/directives.go (defaultDirectiveOrder, sortRoutes).
var caddyOrder = strings.Fields(`tracing map vars fs root log_append skip_log log_skip log_name header copy_response_headers
	request_body redir method rewrite uri try_files rate_limit basic_auth forward_auth request_header encode push intercept
	templates invoke handle route abort error copy_response respond metrics reverse_proxy php_fastcgi file_server acme_server`)

// caddyUnranked stand in a site without a place in that order.
var caddyUnranked = strings.Fields("bind tls handle_errors import log")

// caddyNames are other names of the same directives.
var caddyNames = map[string]string{"basicauth": "basic_auth", "handle_path": "handle"}

func (r *caddyReader) rank(name string) int {
	return slices.Index(r.order, cmp.Or(caddyNames[name], name))
}

// ordered takes the words of `order` in the global options.
func (r *caddyReader) ordered(global *caddyfile.Block) {
	for _, b := range global.Inner {
		if b.Name() != "order" || len(b.Words) < 3 {
			continue
		}
		r.order = slices.DeleteFunc(r.order, func(name string) bool { return name == b.Words[1] })
		at := map[string]int{"first": 0, "last": len(r.order)}[b.Words[2]]
		if last := r.rank(b.Words[len(b.Words)-1]); last >= 0 {
			at = last + map[string]int{"after": 1}[b.Words[2]]
		}
		r.order = slices.Insert(r.order, at, b.Words[1])
	}
}

// turn ranks a block among others of its name: with the longest path first, without a matcher last.
func turn(b *caddyfile.Block) int {
	switch {
	case len(b.Words) < 2:
		return 1
	case strings.HasPrefix(b.Words[1], "/"):
		return -len(b.Words[1])
	}
	return 0
}

// sorted returns the directives of a site in the order in which they get a request.
func (r *caddyReader) sorted(blocks []*caddyfile.Block) []*caddyfile.Block {
	for _, b := range blocks {
		if r.rank(b.Name()) < 0 && !strings.HasPrefix(b.Name(), "@") && !slices.Contains(caddyUnranked, b.Name()) {
			r.Tell(b.Place, "%s is a directive that is not known: it is taken to limit nothing", b.Name())
		}
	}
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b *caddyfile.Block) bool { return r.rank(b.Name()) < 0 && !b.Has("rate_limit") })
	slices.SortStableFunc(blocks, func(a, b *caddyfile.Block) int {
		return cmp.Or(cmp.Compare(r.rank(a.Name()), r.rank(b.Name())), cmp.Compare(turn(a), turn(b)))
	})
	return blocks
}

// level looks for rate_limit in a site, whose directives are sorted, or in what it routes. It returns the requests that
// are answered within it; watched, as a limit comes behind it.
func (r *caddyReader) level(blocks []*caddyfile.Block, set neutral.Set, sorted, watched bool) (ended neutral.Set) {
	matchers, strip, changes := r.matchers, r.strip, r.changes
	defer func() { r.matchers, r.strip, r.changes = matchers, strip, changes }()
	r.matchers, ended = map[string]*caddyfile.Block{}, neutral.None
	maps.Copy(r.matchers, matchers)
	for _, b := range blocks {
		if strings.HasPrefix(b.Name(), "@") {
			r.matchers[b.Name()] = b
		}
	}
	if sorted {
		blocks = r.sorted(blocks)
	}
	var handled []neutral.Set
	for n, b := range blocks {
		behind := watched || slices.ContainsFunc(blocks[n+1:], func(b *caddyfile.Block) bool { return b.Has("rate_limit") })
		if !behind && !b.Has("rate_limit") || strings.HasPrefix(b.Name(), "@") {
			continue
		}
		before := r.unknown
		whole := set.And(r.matched(b))
		at := whole.And(ended.Except())
		if b.Name() == "handle" || b.Name() == "handle_path" { // one of them gets a request
			at = at.And(neutral.Union(handled...).Except())
			if r.unknown == before {
				handled = append(handled, at)
			}
		}
		if at.Never && b.Has("rate_limit") {
			r.Tell(b.Place, "no request comes to this %s: what stands before it answers all", b.Name())
			continue
		}
		done := r.directive(b, at, behind)
		if !done.Never && r.unknown > before {
			r.Lose(b.Place, "%s may answer requests before the limits behind it: all count here", b.Name())
			continue
		}
		if done.Same(at) && handled == nil {
			done = whole // as what was answered before is no less so
		}
		ended = neutral.Union(ended, done)
	}
	return ended
}

// directive returns the requests, of those that come to it, that a directive answers.
func (r *caddyReader) directive(b *caddyfile.Block, at neutral.Set, behind bool) neutral.Set {
	name := b.Name()
	if b.Has("rate_limit") && !slices.Contains([]string{"rate_limit", "handle", "handle_path", "route"}, name) {
		r.Lose(b.Place, "a rate_limit within %s is not read", name)
	}
	switch name {
	case "rate_limit":
		if len(b.Inner) == 0 && len(b.Words) > 1 {
			r.Lose(b.Place, "%s: a rate_limit without zones is one of another module, which is not read", strings.Join(b.Words, " "))
		}
		r.handler(b, at)
	case "handle", "handle_path", "route":
		strip := r.strip
		defer func() { r.strip = strip }()
		if name == "handle_path" && len(b.Words) > 1 {
			r.strip += strings.TrimRight(b.Words[1], "*/")
		}
		return r.level(b.Inner, at, name != "route", behind)
	case "respond", "abort", "redir", "error", "reverse_proxy", "php_fastcgi", "file_server", "metrics", "acme_server":
		return at
	case "method", "rewrite", "uri", "try_files":
		r.changes = b.Place
	default:
		if behind && name != "handle_errors" && (!slices.Contains(caddyOrder, name) || strings.HasSuffix(name, "_auth") || name == "invoke") {
			r.Lose(b.Place, "%s may answer requests before the limits behind it, where they count here", name)
		}
	}
	return neutral.None
}

// handler reads the zones of a rate_limit.
func (r *caddyReader) handler(b *caddyfile.Block, set neutral.Set) {
	for _, z := range b.Inner {
		if z.Name() != "zone" || len(z.Words) < 2 {
			if z.Name() == "distributed" {
				r.Tell(z.Place, distributedCaddy)
			} else if !slices.Contains([]string{"log_key", "disable_metrics", "storage", "jitter", "sweep_interval"}, z.Name()) {
				r.Lose(z.Place, "%s is not understood", strings.Join(z.Words, " "))
			}
			continue
		}
		said, match := map[string]string{}, neutral.Set{}
		var sets []neutral.Set // one of them must fit
		for _, line := range z.Inner {
			switch {
			case line.Name() == "match":
				sets = append(sets, r.matcher(line.Inner))
			case !slices.Contains(caddyZoneWords, line.Name()) || len(line.Words) < 2:
				r.Lose(line.Place, "%s of zone %s is not understood", strings.Join(line.Words, " "), z.Words[1])
			default:
				said[line.Name()] = line.Words[1]
			}
		}
		if sets != nil {
			match = neutral.Union(sets...)
		}
		r.zone(z.Place, z.Words[1], said, set.And(match))
	}
}

var caddyZoneWords = []string{"key", "window", "events", "ipv4_prefix", "ipv6_prefix"}

const distributedCaddy = "instances share their counts every few seconds; here one counts all requests"

// zone takes down one.
func (r *caddyReader) zone(place, name string, said map[string]string, set neutral.Set) {
	key, window, events := said["key"], said["window"], said["events"]
	n, err := strconv.ParseInt(events, 10, 64)
	period, bad := limit.ParsePeriod(window)
	if err != nil || bad != nil || n < 1 {
		r.Lose(place, "zone %s: %s events in a window of %s are not understood", name, events, window)
		return
	}
	var words []string
	for _, at := range caddyPlaceholder().FindAllString(key, -1) {
		if !strings.HasPrefix(at, "{") {
			continue
		}
		part := caddyPart(strings.Trim(at, "{}"))
		if part == "" {
			r.Lose(place, "zone %s: %s is nothing that limits here count by, and left out of the key", name, at)
			continue
		}
		words = append(words, part)
	}
	keys := neutral.Present(set, words, nil, true) // an empty key is one, too
	v4, v6 := said["ipv4_prefix"], said["ipv6_prefix"]
	alone := strings.Count(key, "{") == 1 && strings.HasPrefix(key, "{") && strings.HasSuffix(key, "}")
	switch masked := strings.Trim(v4+v6, "0") != ""; {
	case masked && alone && slices.Equal(words, []string{"client"}):
		keys = nil
		for _, family := range []struct{ network, bits string }{{"0.0.0.0/0", v4}, {"::/0", v6}} {
			by := request.ByClient
			if strings.Trim(family.bits, "0") != "" {
				if by, err = request.ParseKey("client/" + family.bits); err != nil {
					r.Lose(place, "zone %s: %v", name, err)
					return
				}
			}
			keys = append(keys, neutral.KeyCase{Set: set.And(neutral.Within("network", family.network)), By: by})
		}
	case masked:
		r.Tell(place, "zone %s: its key is no address, so its prefixes do nothing", name)
	}
	r.zones++
	for _, k := range keys {
		if !k.Set.Never {
			r.share(caddyLimit{neutral.Limit{
				Text: fmt.Sprintf("caddy:%d/%s", n, limit.FormatPeriod(period)), By: k.By, Match: k.Set, Count: k.Set,
				Told: []string{fmt.Sprintf("%s zone %s by %s, refused with 429", place, name, cmp.Or(key, "nothing"))},
			}, float64(n) / float64(period), name, key + " " + v4 + " " + v6, place, r.zones})
		}
	}
}

// share adds a limit, or its requests to those of a zone with the same name: they share their counts.
func (r *caddyReader) share(l caddyLimit) {
	for n := range r.limits {
		switch o := &r.limits[n]; {
		case o.name != l.name || o.zone == l.zone:
		case o.Text != l.Text || o.key != l.key:
			r.Lose(l.place, "zone %s shares its counts with that at %s, which has another key or number: here each has its own", l.name, o.place)
		case o.By == l.By:
			if !neutral.Apart(o.Match, l.Match) && !neutral.Disjoint(o.Match.Conditions, l.Match.Conditions) && !o.Match.And(l.Match).Never {
				r.Lose(l.place, "requests that come to the zone %s here and at %s count twice there", l.name, o.place)
			}
			if o.Match = neutral.Union(o.Match, l.Match); !slices.Contains(o.Told, l.Told[0]) {
				o.Told = append(o.Told, l.Told...)
			}
			o.Count = o.Match
			return
		}
	}
	r.limits = append(r.limits, l)
}

// done puts the limits into the order in which they are asked.
func (r *caddyReader) done() {
	slices.SortStableFunc(r.limits, func(a, b caddyLimit) int { return cmp.Compare(b.rate, a.rate) })
	limits := mapped.Add(nil, r.limits, func(l caddyLimit) neutral.Limit { return l.Limit })
	r.Policies = append(r.Policies, neutral.Policy{Name: "caddy", Limits: limits})
}
