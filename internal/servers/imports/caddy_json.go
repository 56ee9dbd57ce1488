package imports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
)

// Caddy's configuration in JSON, whose routes stand in routes.

// caddyMatch is the requests of a mapping of matchers.
func (i *Import) caddyMatch(d doc, t *policy.Tree) Set {
	all := Set{}
	for _, kind := range t.Keys() {
		var values []string
		for _, v := range t.List(kind) {
			values = append(values, v.Text)
		}
		one, known := Set{}, true
		switch kind {
		case "path":
			var sets []Set
			for _, v := range values {
				sets = append(sets, caddyPath(v))
			}
			one = union(sets...)
		case "path_regexp":
			pattern := t.Say(kind, "pattern")
			if len(values) > 0 && pattern == "" {
				pattern = values[len(values)-1]
			}
			one, known = textSet("regexp", "reg", []string{pattern}, false)
		case "header":
			for _, name := range t.Get(kind).Keys() {
				for _, v := range t.List(kind, name) {
					values = append(values, name, v.Text)
				}
			}
			known = len(values) == 2 && values[1] == "*"
			if known {
				key, err := request.ParseKey("header:" + values[0])
				one, known = within("without", key.String()).except(), err == nil
			}
		case "method":
			one = within("method", upperAll(values)...)
		case "host":
			one, known = hostSet("", values)
		case "remote_ip", "client_ip":
			if ranges := t.List(kind, "ranges"); ranges != nil {
				values = nil
				for _, v := range ranges {
					values = append(values, v.Text)
				}
			}
			var networks []string
			for _, v := range values {
				if prefix, err := parseNetwork(v); err == nil {
					networks = append(networks, networkText(prefix))
				} else if v == "private_ranges" {
					networks = append(networks, "private")
				} else {
					known = false
				}
			}
			one = within("network", networks...)
		case "not":
			var sets []Set
			for _, inner := range t.List(kind) {
				sets = append(sets, i.caddyMatch(d, inner))
			}
			one = union(sets...).except()
		default:
			known = false
		}
		if !known || len(values) == 0 && t.Get(kind).Keys() == nil {
			i.lose(d.place(t.Get(kind)), "no condition says %s %s: it is taken to fit", kind, strings.Join(values, " "))
			continue
		}
		all = all.and(one)
	}
	return all
}

func isCaddy(d doc) (found bool) {
	d.Walk(func(_ string, part *policy.Tree) bool {
		found = found || part.Say("handler") == "rate_limit"
		return !found
	})
	return found
}

func takeCaddy(i *Import, docs []doc) {
	for _, d := range docs {
		r := &caddyReader{Import: i, file: d.file}
		r.servers = d.Get("apps", "http", "servers")
		r.routes(d, d.Tree, Set{}, 0)
		r.done()
	}
}

// listens are the requests to the ports of a server, beside others with limits on other ports. Those of a log without ports
// are taken to come to each.
func (r *caddyReader) listens(d doc, t *policy.Tree) Set {
	ports := func(t *policy.Tree) (all []string) {
		for _, address := range texts(t.List("listen")) {
			all = append(all, address[strings.LastIndexByte(address, ':')+1:])
		}
		return sortedPorts(all)
	}
	if t.Get("listen") == nil || !isCaddy(doc{t, d.file}) {
		return Set{}
	}
	for _, name := range r.servers.Keys() {
		if other := r.servers.Get(name); isCaddy(doc{other, d.file}) && !slices.Equal(ports(t), ports(other)) {
			r.lose(d.place(t), "only a log with the port tells requests to this server (%s) from others; else all are taken to come to it",
				strings.Join(ports(t), ", "))
			return within("port", append(ports(t), request.NoPort)...)
		}
	}
	return Set{}
}

// mostRoutes is the depth to which routes may stand in routes.
const mostRoutes = 50

// routes looks for handlers below a part, with the requests that routes have matched on the way.
func (r *caddyReader) routes(d doc, t *policy.Tree, set Set, depth int) {
	if t == nil || depth > mostRoutes {
		return
	}
	set = set.and(r.listens(d, t))
	if match := t.List("match"); match != nil && t.Get("handle") != nil {
		var sets []Set
		for _, m := range match {
			sets = append(sets, r.Import.caddyMatch(d, m))
		}
		set = set.and(union(sets...))
	}
	if t.Say("handler") == "rate_limit" {
		if distributed := t.Get("distributed"); distributed != nil {
			r.tell(d.place(distributed), distributedCaddy)
		}
		zones := t.Get("rate_limits")
		for _, name := range zones.Keys() {
			z := zones.Get(name)
			match := Set{}
			if list := z.List("match"); list != nil {
				var sets []Set
				for _, m := range list {
					sets = append(sets, r.Import.caddyMatch(d, m))
				}
				match = union(sets...)
			}
			window := z.Say("window")
			if ns, err := strconv.ParseInt(window, 10, 64); err == nil {
				window = fmt.Sprintf("%dus", ns/1000)
			}
			r.zone(d.place(z), name, map[string]string{
				"key": z.Say("key"), "window": window, "events": z.Say("max_events"),
				"ipv4_prefix": z.Say("ipv4_prefix"), "ipv6_prefix": z.Say("ipv6_prefix"),
			}, set.and(match))
		}
		return
	}
	for _, item := range t.Items {
		r.routes(d, item, set, depth+1)
	}
	for _, key := range t.Keys() {
		r.routes(d, t.Get(key), set, depth+1)
	}
}
