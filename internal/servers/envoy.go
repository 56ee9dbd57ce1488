package servers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/limit"
)

// Envoy makes a descriptor of each request, a list of keys with values, and counts by it: the rate limit service in
// windows of a unit, for all Envoys together; the local filter in buckets of its own.
//
// A bucket for each client needs a descriptor whose value is left open. Envoy has that since 1.34, and buckets that
// fill evenly since 1.31: the limit of such a filter is token:N/P,burst=B.
//
// Source: envoyproxy/ratelimit, src/config/config_impl.go; local_rate_limit.proto and local_ratelimit_impl.cc of Envoy
// (max_dynamic_descriptors; "fill timer must be >= 50ms"); route_components.proto, RateLimit.Action.

var envoy = Server{
	Name: "envoy", Title: "Envoy's rate limit service",
	Watch: "look at shadow_mode of the service",
	count: "curl -s localhost:6070/stats | grep shadow_mode",

	algorithms: []string{"envoy"},
	kind:       Fixed,
	grid:       periods(limit.Second, limit.Minute, limit.Hour, limit.Day),
	lines:      envoyLines,
	behind:     envoyBehind,
}

var envoyLocal = Server{
	Name: "envoy-local", Title: "Envoy's local rate limit",
	Watch: "look at rate_limited of the filter",
	count: "curl -s localhost:9901/stats | grep shadow_NAME.*rate_limited",

	algorithms: []string{"token", "envoy-local"},
	kind:       Token,
	grid:       commonRates,
	lines:      envoyLocalLines,
	behind:     envoyBehind,
}

const envoyBehind = "use_remote_address: true and xff_num_trusted_hops: 1 in the connection manager"

func envoyLines(spec limit.Spec, w Where) Directives {
	d, actions := w.envoyActions()
	descriptor := []string{
		"  - key: " + d.Key,
		fmt.Sprintf("    rate_limit: {unit: %s, requests_per_unit: %d}", policy.EnvoyUnits[spec.Period], spec.Count),
		"    shadow_mode: true   # blocks no client: take it out when the log names only those you mean",
	}
	single := !slices.ContainsFunc(w.Exempt, func(n netip.Prefix) bool { return !n.IsSingleIP() })
	if d.Exempts = d.Key == "remote_address" && single; d.Exempts {
		for _, address := range w.exempt() {
			descriptor = append(descriptor, "  - {key: remote_address, value: \""+address+"\", rate_limit: {unlimited: true}}")
		}
	} else {
		descriptor = append(descriptor, indent(2, w.cannotExempt("give a route without it to"))...)
	}
	if w.Action != "" {
		outer := []string{"  - key: header_match", "    value: " + w.name(), "    descriptors:"}
		descriptor = append(outer, indent(4, descriptor)...)
	}
	d.Blocks = append(d.Blocks,
		Block{"virtual host", true, []string{"rate_limits:"}},
		Block{"virtual host", false, append([]string{"  - actions:"}, indent(6, actions)...)},
		Block{"rate limit service", true, []string{
			"domain: shadow   # as in the filter envoy.filters.http.ratelimit", "descriptors:",
		}},
		Block{"rate limit service", false, descriptor})
	return d.known(w)
}

func envoyLocalLines(spec limit.Spec, w Where) Directives {
	d, actions := w.envoyActions()
	entries := "{key: " + d.Key + "}"
	if w.Action != "" {
		entries = "{key: header_match, value: " + w.name() + "}, " + entries
	}
	lines := []string{
		"- name: shadow_" + w.name(),
		"  typed_config:",
		`    "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit`,
		"    stat_prefix: shadow_" + w.name(),
		"    filter_enabled: {default_value: {numerator: 100}}",
		"    filter_enforced: {default_value: {numerator: 0}}   # blocks no client: 100 once the count is right",
		"    max_dynamic_descriptors: 100000   # clients that it remembers",
	}
	inOne := strings.TrimPrefix(strings.Join(actions, "\n"), "- ") // few lines, for a screen has few
	inOne = "rate_limits: [{actions: [{" + strings.ReplaceAll(inOne, "\n- ", "}, {") + "}]}]"
	lines = append(lines, indent(4, strings.Split(inOne, "\n"))...)
	lines = append(lines, "    descriptors: [{entries: ["+entries+"],",
		"      token_bucket: {"+policy.EnvoyLocalSetting(spec)+"}}]")
	for _, comment := range w.cannotExempt("give a route without it to") {
		lines[0] += "   " + comment
	}
	d.Blocks = append(d.Blocks, Block{"http_filters", false, lines})
	d.Note = notes(d.Note, "takes Envoy 1.34 or newer, and each Envoy counts for itself")
	if spec.Algorithm == "envoy-local" {
		d.Note = notes(d.Note, "There tokens come evenly: what it refuses is what "+asToken(spec).String()+" refuses")
	}
	return d.known(w)
}

// asToken is a filter of Envoy as it fills since 1.31.
func asToken(spec limit.Spec) limit.Spec {
	spec.Algorithm = "token"
	return spec
}

// envoyActions are the actions that make a descriptor, and the key of its client.
func (w *Where) envoyActions() (d Directives, actions []string) {
	if w.Action != "" {
		match, ok := w.envoyPath()
		if !ok {
			d.Note = w.onlyYouKnowPaths("write them into the empty regex, which Envoy refuses")
		}
		actions = append(actions, "- header_value_match: {descriptor_value: "+w.name()+", headers: [",
			`    {name: ":path", string_match: {`+match+"}}]}")
	}
	const absent = "requests without it are one client, -, here; Envoy does not limit them"
	header := func(name string) string {
		d.Key = "client"
		return fmt.Sprintf("- request_headers: {header_name: %s, descriptor_key: client}", name)
	}
	forwarded := w.forwarded()
	switch c := w.who(); {
	case c.field != "":
		d.Note = notes(d.Note, c.onlyYouKnow("write the header into the empty header_name, which Envoy refuses"))
		actions = append(actions, header(`""`))
	case c.host:
		actions = append(actions, header(`":authority"`))
	case c.header != "":
		d.Note = notes(d.Note, absent)
		if c.user {
			d.Note = notes(d.Note, byPassword)
		}
		actions = append(actions, header(c.header))
	case w.Cut:
		d.Key = "masked_remote_address"
		actions = append(actions,
			fmt.Sprintf("- masked_remote_address: {v4_prefix_mask_len: %d, v6_prefix_mask_len: %d}", w.V4, w.V6))
	default:
		d.Key = "remote_address"
		actions = append(actions, "- remote_address: {}")
	}
	if forwarded != "" {
		d.Blocks = append(d.Blocks, w.envoyProxies(forwarded))
	}
	return d, actions
}

// envoyProxies tells the connection manager where addresses come from.
func (w *Where) envoyProxies(header string) Block {
	if header != "x-forwarded-for" {
		return Block{"HTTP connection manager", true, []string{
			"original_ip_detection_extensions:",
			"  - name: envoy.http.original_ip_detection.custom_header",
			"    typed_config:",
			`      "@type": type.googleapis.com/envoy.extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig`,
			"      header_name: " + header,
		}}
	}
	lines := []string{
		"original_ip_detection_extensions:",
		"  - name: envoy.http.original_ip_detection.xff",
		"    typed_config:",
		`      "@type": type.googleapis.com/envoy.extensions.http.original_ip_detection.xff.v3.XffConfig`,
		"      xff_trusted_cidrs:",
		"        cidrs:",
	}
	for _, n := range w.Trusted {
		lines = append(lines, fmt.Sprintf(`          - {address_prefix: "%s", prefix_len: %d}`, n.Addr(), n.Bits()))
	}
	return Block{"HTTP connection manager", true, lines}
}

// envoyPath matches the paths of an action, which have the query string behind them.
func (w *Where) envoyPath() (match string, ok bool) {
	page, below, ok := w.path()
	if ok && below {
		return `prefix: "` + page + `/"`, true
	}
	pattern, ok := w.Pattern()
	if !ok {
		return "safe_regex: {regex: ''}", false
	}
	return `safe_regex: {regex: '` + pattern + `(\?.*)?'}`, true
}

// known has no key where only the operator knows what a client is.
func (d Directives) known(w Where) Directives {
	if w.who().field != "" {
		d.Key = ""
	}
	return d
}

// indent moves lines to the right.
func indent(by int, lines []string) []string {
	return mapped.Of(lines, func(line string) string { return strings.Repeat(" ", by) + line })
}
