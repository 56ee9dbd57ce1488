package servers

import (
	"fmt"
	"strings"

	"shadow/limit"
)

// Caddy's limits are zones of the directive rate_limit, of the module mholt/caddy-ratelimit. A zone cuts addresses
// itself, and its key may be any placeholder; one that is empty is a client like others.
//
// Source: mholt/caddy-ratelimit, caddyfile.go and handler.go, applyNetworkPrefix; Caddy's documentation of
// trusted_proxies and client_ip_headers.

var caddy = Server{
	Name: "caddy", Title: "Caddy",
	Watch: "Caddy has no dry run: replay the limit on the next days' logs, then give it to one site first",

	algorithms: []string{"caddy"},
	kind:       Window,
	grid: periods(limit.Second, 10*limit.Second, 30*limit.Second, limit.Minute, 5*limit.Minute, 15*limit.Minute,
		limit.Hour, limit.Day),
	limit: func(r rate, n int64) string {
		return fmt.Sprintf("caddy:%d/%s", n, limit.FormatPeriod(r.per))
	},
	lines: caddyLines,
}

func caddyLines(spec limit.Spec, w Where) Directives {
	key, note := w.caddyKey()
	d := Directives{Key: key, Note: note, Exempts: true}
	zone := []string{
		"rate_limit {   # the module mholt/caddy-ratelimit; no dry run: it refuses at once",
		"    zone " + w.name() + " {",
	}
	var match []string
	if w.Action != "" {
		pattern, ok := w.Pattern()
		paths := "            path_regexp `^" + pattern + "$`"
		if !ok {
			paths = "            path_regexp   # which, only you know"
			d.Note = notes(d.Note, w.onlyYouKnowPaths("write them behind path_regexp"))
		}
		match = append(match, paths)
	}
	if len(w.Exempt) > 0 {
		from := "remote_ip"
		if w.forwarded() != "" {
			from = "client_ip"
		}
		match = append(match, "            not "+from+" "+strings.Join(w.exempt(), " "))
	}
	if match != nil {
		zone = append(append(append(zone, "        match {"), match...), "        }")
	}
	if key == "" {
		key = "  # what, only you know"
	}
	zone = append(zone, "        key "+key)
	if w.address() && w.Cut {
		zone = append(zone, fmt.Sprintf("        ipv4_prefix %d", w.V4), fmt.Sprintf("        ipv6_prefix %d", w.V6))
	}
	zone = append(zone, fmt.Sprintf("        events %d", spec.Count), "        window "+limit.FormatPeriod(spec.Period),
		"    }", "}")
	if w.forwarded() != "" {
		networks := ""
		for _, network := range w.Trusted {
			networks += " " + network.String()
		}
		d.Blocks = append(d.Blocks, Block{"global options", true, []string{
			"servers {",
			"    trusted_proxies static" + networks,
			"    trusted_proxies_strict",
			"    client_ip_headers " + w.forwarded(),
			"}",
		}})
	}
	d.Blocks = append(d.Blocks, Block{"site", false, zone})
	return d
}

// caddyKey is the placeholder of a client.
func (w *Where) caddyKey() (key, note string) {
	switch c := w.who(); {
	case c.field != "":
		return "", c.onlyYouKnow("write a placeholder behind key")
	case c.host:
		return "{host}", ""
	case c.user:
		return "{header.authorization}", byPassword
	case c.header != "":
		return "{header." + c.header + "}", ""
	case w.forwarded() != "":
		return "{client_ip}", ""
	}
	return "{remote_host}", ""
}
