package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Caddy: the handler rate_limit of mholt/caddy-ratelimit has zones, each with a key, a window and how many it admits in
// it. The zone with the highest rate is asked first; what a later one refuses stays counted in those before.
// Source: mholt/caddy-ratelimit 5625512, caddyfile.go, handler.go (order of zones, prefixes), ratelimit.go,
// ringbuffer.go.

var caddyFormat = format{name: "caddy", is: looksLikeCaddyfile, read: readCaddyfile, has: isCaddy, take: takeCaddy}

var caddyLine = lazy.Regexp(`(?m)^\s*(rate_limit\s*(\S+\s*)?\{|(reverse_proxy|file_server|php_fastcgi|encode|tls|handle(_path)?|import|order)(\s+[^;\n]*)?$)`)

func looksLikeCaddyfile(text []byte) bool { return caddyLine().Match(text) }

// A caddyBlock is a directive with its words, and those within its braces.
type caddyBlock struct {
	words []string
	line  int
	inner []*caddyBlock
}

// caddyDepth is the depth to which blocks may nest: what reads them calls itself for each.
const caddyDepth = 100

// caddyBlocks reads a Caddyfile.
func caddyBlocks(file, text string) ([]*caddyBlock, error) {
	root := &caddyBlock{}
	open := []*caddyBlock{root}
	for n, line := range strings.Split(text, "\n") {
		words := haproxyWords(strings.ReplaceAll(line, "`", "'")) // blanks, quotes and comments are alike
		if len(words) == 0 {
			continue
		}
		last := open[len(open)-1]
		switch {
		case words[0] == "}":
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case words[len(words)-1] == "{":
			b := &caddyBlock{words: words[:len(words)-1], line: n + 1}
			last.inner = append(last.inner, b)
			if open = append(open, b); len(open) > caddyDepth+1 {
				return nil, fmt.Errorf("%s:%d: nests deeper than %d blocks", file, n+1, caddyDepth)
			}
		default:
			last.inner = append(last.inner, &caddyBlock{words: words, line: n + 1})
		}
	}
	return root.inner, nil
}

func (b *caddyBlock) name() string {
	if len(b.words) == 0 {
		return ""
	}
	return b.words[0]
}

// turn ranks a block among others: with the longest path first, without a matcher last.
func (b *caddyBlock) turn() int {
	switch {
	case len(b.words) < 2:
		return 1
	case strings.HasPrefix(b.words[1], "/"):
		return -len(b.words[1])
	}
	return 0
}

type caddyReader struct {
	*Import
	file    string
	limits  []caddyLimit
	servers *policy.Tree // of a configuration in JSON
}

type caddyLimit struct {
	Limit
	rate float64
}

func readCaddyfile(i *Import, file string, text []byte) error {
	r := &caddyReader{Import: i, file: file}
	sites, err := caddyBlocks(file, r.withDefaults(string(text)))
	if err != nil {
		return err
	}
	several := 0
	for _, s := range sites {
		if s.inner != nil && s.name() != "" && !strings.HasPrefix(s.name(), "(") {
			several++
		}
	}
	for _, s := range sites {
		switch {
		case s.name() == "rate_limit": // a part of a site
			r.handler(s, Set{})
		case s.inner != nil && s.name() != "":
			set := Set{}
			hosts, _ := caddyAddresses(s.words)
			if several > 1 && hosts != nil {
				set = within("host", hosts...)
			}
			r.level(s.inner, set.and(r.port(s, sites)))
		}
	}
	r.done()
	return nil
}

var caddyVariable = lazy.Regexp(`\{\$(\w+)(?::([^}\n]*))?\}`)

// withDefaults puts the defaults of variables of the environment, {$NAME:default}, where they stand.
func (r *caddyReader) withDefaults(text string) string {
	var b strings.Builder
	for n, line := range strings.SplitAfter(text, "\n") {
		if code, _, _ := strings.Cut(line, "#"); !caddyVariable().MatchString(code) {
			b.WriteString(line)
			continue
		}
		for _, v := range caddyVariable().FindAllStringSubmatch(line, -1) {
			r.lose(fmt.Sprintf("%s:%d", r.file, n+1), "only the environment has {$%s}: %q is taken", v[1], v[2])
		}
		b.WriteString(caddyVariable().ReplaceAllString(line, "$2"))
	}
	return b.String()
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
	return hosts, sortedPorts(ports)
}

// port are the requests to the ports of a site, where another site has its name, other ports and other limits. Those of a
// log without ports are taken to come to each.
func (r *caddyReader) port(s *caddyBlock, sites []*caddyBlock) Set {
	hosts, ports := caddyAddresses(s.words)
	for _, other := range sites {
		names, theirs := caddyAddresses(other.words)
		if other.inner == nil || other.name() == "" || strings.HasPrefix(other.name(), "(") || slices.Equal(ports, theirs) ||
			!s.limits() && !other.limits() ||
			names != nil && hosts != nil && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(hosts, name) }) {
			continue
		}
		r.lose(fmt.Sprintf("%s:%d", r.file, s.line), "only a log with the port tells requests to %s from those to %s; else all are taken "+
			"to come to it", strings.Join(s.words, " "), strings.Join(other.words, " "))
		return within("port", append(ports, request.NoPort)...)
	}
	return Set{}
}

// limits reports whether a rate_limit stands in a block.
func (b *caddyBlock) limits() bool {
	return b.name() == "rate_limit" || slices.ContainsFunc(b.inner, (*caddyBlock).limits)
}

// level looks for rate_limit in a site, and in what it routes.
func (r *caddyReader) level(blocks []*caddyBlock, set Set) {
	matchers := map[string]Set{}
	for _, b := range blocks {
		if strings.HasPrefix(b.name(), "@") {
			if len(b.words) > 1 {
				b.inner = append(b.inner, &caddyBlock{words: b.words[1:], line: b.line})
			}
			matchers[b.name()] = r.matcher(b.inner)
		}
	}
	var handled []Set
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, func(a, b *caddyBlock) int { return cmp.Compare(a.turn(), b.turn()) })
	for _, b := range blocks {
		at := set
		if name := b.name(); len(b.words) > 1 && (strings.HasPrefix(b.words[1], "/") || strings.HasPrefix(b.words[1], "@")) {
			if m, ok := matchers[b.words[1]]; ok {
				at = at.and(m)
			} else if name == "handle_path" || name == "handle" || name == "route" || name == "rate_limit" {
				at = at.and(caddyPath(b.words[1]))
			}
		}
		switch b.name() {
		case "rate_limit":
			if b.inner == nil && len(b.words) > 1 {
				r.lose(fmt.Sprintf("%s:%d", r.file, b.line), "%s: a rate_limit without zones is one of another module, which is not read", strings.Join(b.words, " "))
			}
			r.handler(b, at)
		case "handle", "handle_path": // one of them gets a request
			for _, before := range handled {
				at = at.and(before.except())
			}
			if handled = append(handled, at); !at.never {
				r.level(b.inner, at)
			}
		case "route":
			r.level(b.inner, at)
		}
	}
}

// caddyPath is a matcher of paths: an asterisk at an end stands for anything.
func caddyPath(pattern string) Set {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok && !strings.Contains(prefix, "*") {
		return below(prefix)
	}
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		set, _ := textSet("regexp", "end", []string{suffix}, false)
		return set
	}
	return exactly(pattern)
}

// matcher is the requests of a set of matchers, all of which must fit.
func (r *caddyReader) matcher(blocks []*caddyBlock) Set {
	all := Set{}
	for _, b := range blocks {
		tree := policy.NewTree(b.line)
		values := &policy.Tree{Line: b.line, Items: []*policy.Tree{}}
		words := b.words
		if len(words) == 0 {
			continue
		}
		if words[0] == "not" {
			inner := b.inner
			if len(words) > 1 {
				inner = append(inner, &caddyBlock{words: words[1:], line: b.line})
			}
			all = all.and(r.matcher(inner).except())
			continue
		}
		for _, w := range words[1:] {
			values.Items = append(values.Items, &policy.Tree{Line: b.line, Text: w})
		}
		tree.Set(words[0], values)
		all = all.and(r.Import.caddyMatch(doc{tree, r.file}, tree))
	}
	return all
}

// handler reads the zones of a rate_limit.
func (r *caddyReader) handler(b *caddyBlock, set Set) {
	for _, z := range b.inner {
		if z.name() != "zone" || len(z.words) < 2 {
			if z.name() == "distributed" {
				r.tell(fmt.Sprintf("%s:%d", r.file, z.line), distributedCaddy)
			} else if !slices.Contains([]string{"log_key", "disable_metrics", "storage", "jitter", "sweep_interval"}, z.name()) {
				r.lose(fmt.Sprintf("%s:%d", r.file, z.line), "%s is not understood", strings.Join(z.words, " "))
			}
			continue
		}
		said, match := map[string]string{}, Set{}
		var sets []Set // one of them must fit
		for _, line := range z.inner {
			switch place := fmt.Sprintf("%s:%d", r.file, line.line); {
			case line.name() == "match":
				sets = append(sets, r.matcher(line.inner))
			case !slices.Contains(caddyZoneWords, line.name()) || len(line.words) < 2:
				r.lose(place, "%s of zone %s is not understood", strings.Join(line.words, " "), z.words[1])
			default:
				said[line.name()] = line.words[1]
			}
		}
		if sets != nil {
			match = union(sets...)
		}
		r.zone(fmt.Sprintf("%s:%d", r.file, z.line), z.words[1], said, set.and(match))
	}
}

var caddyZoneWords = []string{"key", "window", "events", "ipv4_prefix", "ipv6_prefix"}

const distributedCaddy = "instances share their counts every few seconds; here one counts all requests"

// zone takes down one.
func (r *caddyReader) zone(place, name string, said map[string]string, set Set) {
	key, window, events := said["key"], said["window"], said["events"]
	n, err := strconv.ParseInt(events, 10, 64)
	period, bad := limit.ParsePeriod(window)
	if err != nil || bad != nil || n < 1 {
		r.lose(place, "zone %s: %s events in a window of %s are not understood", name, events, window)
		return
	}
	var words []string
	for _, at := range caddyPlaceholder().FindAllString(key, -1) {
		if !strings.HasPrefix(at, "{") {
			continue
		}
		part := caddyPart(strings.Trim(at, "{}"))
		if part == "" {
			r.lose(place, "zone %s: %s is nothing that limits here count by, and left out of the key", name, at)
			continue
		}
		words = append(words, part)
	}
	keys := present(set, words, nil, true) // an empty key is one, too
	v4, v6 := said["ipv4_prefix"], said["ipv6_prefix"]
	alone := strings.Count(key, "{") == 1 && strings.HasPrefix(key, "{") && strings.HasSuffix(key, "}")
	switch masked := strings.Trim(v4+v6, "0") != ""; {
	case masked && alone && slices.Equal(words, []string{"client"}):
		keys = nil
		for _, family := range []struct{ network, bits string }{{"0.0.0.0/0", v4}, {"::/0", v6}} {
			by := request.ByClient
			if strings.Trim(family.bits, "0") != "" {
				if by, err = request.ParseKey("client/" + family.bits); err != nil {
					r.lose(place, "zone %s: %v", name, err)
					return
				}
			}
			keys = append(keys, keyCase{set.and(within("network", family.network)), by})
		}
	case masked:
		r.tell(place, "zone %s: its key is no address, so its prefixes do nothing", name)
	}
	for _, k := range keys {
		r.limits = append(r.limits, caddyLimit{Limit{
			Text: fmt.Sprintf("caddy:%d/%s", n, limit.FormatPeriod(period)), By: k.by, Match: k.set, Count: k.set,
			Told: []string{fmt.Sprintf("%s zone %s by %s, refused with 429", place, name, cmp.Or(key, "nothing"))},
		}, float64(n) / float64(period)})
	}
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
	case "path", "uri", "uri.path", "orig_uri.path":
		return "path"
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

// done puts the limits into the order in which they are asked.
func (r *caddyReader) done() {
	slices.SortStableFunc(r.limits, func(a, b caddyLimit) int { return cmp.Compare(b.rate, a.rate) })
	p := Policy{Name: "caddy"}
	for _, l := range r.limits {
		p.Limits = append(p.Limits, l.Limit)
	}
	r.Policies = append(r.Policies, p)
}
