package servers

import (
	"fmt"
	"slices"
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
	lines:  caddyLines,
	behind: "trusted_proxies with its networks, client_ip_headers HEADER, and the key {client_ip}",
}

func caddyLines(spec limit.Spec, w Where) Directives {
	key, note := w.caddyKey()
	d := Directives{Key: key, Note: note, Exempts: true}
	var match []string
	if w.Action != "" {
		pattern, ok := w.Pattern()
		paths := "path_regexp `^" + pattern + "$`"
		if !ok {
			paths = "path_regexp   # which, only you know"
			d.Note = notes(d.Note, w.onlyYouKnowPaths("write them behind path_regexp"))
		}
		match = append(match, paths)
	}
	if len(w.Exempt) > 0 {
		from := "remote_ip"
		if w.forwarded() != "" {
			from = "client_ip"
		}
		match = append(match, "not "+from+" "+strings.Join(w.exempt(), " "))
	}
	var matches [][]string
	if match != nil {
		matches = append(matches, match)
	}
	if key == "" {
		key = "  # what, only you know"
	}
	var cuts []string
	if w.address() && w.Cut {
		cuts = w.caddyCuts()
	}
	zone := slices.Concat(
		[]string{"rate_limit {   # the module mholt/caddy-ratelimit; no dry run: it refuses at once"},
		caddyZone(w.name(), matches, append([]string{"key " + key}, cuts...), spec), []string{"}"})
	if w.forwarded() != "" {
		d.Blocks = append(d.Blocks, Block{"global options", true, []string{
			"servers {",
			"    trusted_proxies static " + w.trusted(),
			"    trusted_proxies_strict",
			"    client_ip_headers " + w.forwarded(),
			"}",
		}})
	}
	d.Blocks = append(d.Blocks, Block{"site", false, zone})
	return d
}

// caddyZone returns the lines of a zone, of whose sets of conditions one must fit.
func caddyZone(name string, matches [][]string, by []string, spec limit.Spec) []string {
	lines := []string{"    zone " + name + " {"}
	for _, match := range matches {
		lines = slices.Concat(lines, []string{"        match {"}, indent(12, match), []string{"        }"})
	}
	by = append(by, fmt.Sprintf("events %d", spec.Count), "window "+limit.FormatPeriod(spec.Period))
	return append(append(lines, indent(8, by)...), "    }")
}

// caddyCuts has a zone cut addresses.
func (w *Where) caddyCuts() []string {
	return []string{fmt.Sprintf("ipv4_prefix %d", w.V4), fmt.Sprintf("ipv6_prefix %d", w.V6)}
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
