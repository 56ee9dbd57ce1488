package servers

import (
	"fmt"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
)

// HAProxy counts in stick tables. Each limit has a table of its own, which a backend without servers holds, since a
// frontend has one only. Limits of all requests take the last counter of a request, those of actions the one before, so
// that a request may have one of each. Others take counters from the first on, and of two rules for one counter that is
// behind tracks nothing.
//
// What a limit would refuse is shown by the log: a captured sample stands there in braces. A request without a sample
// for the key is not tracked, and not limited.
//
// Source: HAProxy's configuration manual, stick-table, http-request track-sc0, capture, set-var; src/sample.c for
// converters. An entry must live for two periods, or its counter starts at zero (freq_ctr_total).

var haproxy = Server{
	Name: "haproxy", Title: "HAProxy",
	Watch:      "count over-limit in its log",
	count:      "grep -c over-limit /var/log/haproxy.log",
	algorithms: []string{"haproxy"},
	kind:       WindowAll,
	grid: periods(limit.Second, 10*limit.Second, 30*limit.Second, limit.Minute, 5*limit.Minute, 10*limit.Minute,
		limit.Hour),
	lines:  haproxyLines,
	behind: "http-request set-src req.hdr_ip(HEADER,-1) if src is of its networks",
}

const longestExpire = (1<<31 - 1) * limit.Millisecond // as HAProxy keeps lengths of time

func haproxyLines(spec limit.Spec, w Where) Directives {
	key, table, note := w.haproxyKey()
	name := "shadow_" + w.name()
	counter, when := haproxyCounters-1, ""
	exempt := ""
	if len(w.Exempt) > 0 {
		exempt = "!" + haproxyWithin(w.haproxySource(), strings.Join(w.exempt(), " "))
		when = " if " + exempt
	}
	if w.Action != "" {
		counter--
		paths := mapped.Of(strings.Split(w.haproxyPaths(), " || "), func(path string) string { return strings.TrimSpace(path + " " + exempt) })
		when = " if " + strings.Join(paths, " || ")
		if _, ok := w.Pattern(); !ok {
			note = notes(note, w.onlyYouKnowPaths("make an acl "+strings.Trim(w.haproxyPaths(), "{ }")+" of them"))
		}
	}
	over, sets, store := haproxyOver(spec, name, counter)
	rules := append([]string{
		fmt.Sprintf("http-request track-sc%d %s table %s%s", counter, key, name, when),
		"# " + w.Within.behind([]int{counter}),
	}, sets...)
	rules = append(rules, haproxyRules([]limit.Spec{spec}, []int{counter}, []string{over})...)

	d := Directives{Key: key, Note: note, Exempts: true}
	if key == unknownHAProxy {
		d.Key = ""
	}
	if sources := w.haproxySources(); sources != nil {
		d.Blocks = append(d.Blocks, Block{"frontend", true, sources})
	}
	d.Blocks = append(d.Blocks, Block{"frontend", false, rules}, Block{"backends", false, haproxyBackend(name, table, store, spec)})
	return d
}

// haproxyBackend holds the table of a limit.
func haproxyBackend(name, table, store string, spec limit.Spec) []string {
	_, expire := haproxyOptions(spec)
	return []string{"backend " + name, fmt.Sprintf("    stick-table type %s size 1m expire %s store %s", table, expire, store)}
}

// haproxyOptions says whether only admitted requests count, and when the table forgets a client.
func haproxyOptions(spec limit.Spec) (admitted bool, expire string) {
	args := spec.Args()
	return args.Choice("charge", "all", "admitted", "all") == "admitted",
		limit.FormatPeriod(min(args.Duration("expire", 2*spec.Period), longestExpire))
}

// haproxyOver is the condition that a tracked counter is over a limit, with the rules that it needs, and what the table of
// the counter stores.
func haproxyOver(spec limit.Spec, name string, counter int) (over string, rules []string, store string) {
	period := limit.FormatPeriod(spec.Period)
	if admitted, _ := haproxyOptions(spec); !admitted {
		return fmt.Sprintf("{ sc%d_http_req_rate(%s) gt %d }", counter, name, spec.Count), nil, "http_req_rate(" + period + ")"
	}
	rule := fmt.Sprintf("http-request set-var(txn.%s) bool(true) if { sc%d_gpc0_rate(%s) ge %d }", name, counter, name, spec.Count)
	return fmt.Sprintf("{ var(txn.%s) -m bool }", name), []string{rule}, "gpc0,gpc0_rate(" + period + ")"
}

// haproxyRules are the rules that log what is over limits, in the order of their counters. A request is counted as an
// admitted one only if no limit would refuse it.
func haproxyRules(specs []limit.Spec, counters []int, over []string) (rules []string) {
	rules = append(rules, "# blocks no client, until the count is right")
	for _, when := range over {
		rules = append(rules, "http-request capture str(over-limit) len 10 if "+when)
	}
	for i, spec := range specs {
		if admitted, _ := haproxyOptions(spec); admitted {
			rules = append(rules, fmt.Sprintf("http-request sc-inc-gpc0(%d) unless %s", counters[i], strings.Join(over, " || ")))
		}
	}
	for _, when := range over {
		rules = append(rules, "# later, for capture: http-request deny status 429 if "+when)
	}
	return rules
}

// unknownHAProxy is no sample, so that HAProxy refuses it until an operator has put one in its place.
const unknownHAProxy = "CLIENT"

// haproxyKey is the sample that a client is, and the type of a table of such.
func (w *Where) haproxyKey() (key, table, note string) {
	const absent = "requests without it are one client, -, here; HAProxy does not limit them"
	switch c := w.who(); {
	case c.user:
		return "http_auth_user,sha1", "binary len 20", absent
	case c.host:
		return "req.hdr(host),field(1,:),lower,sha1", "binary len 20", absent
	case c.header != "":
		return "req.fhdr(" + c.header + "),sha1", "binary len 20", absent
	case c.field != "":
		return unknownHAProxy, "binary len 20",
			c.onlyYouKnow("put a sample, and the converter sha1, in the place of " + unknownHAProxy)
	case w.Cut:
		return fmt.Sprintf("%s,ipmask(%d,%d)", w.haproxySource(), w.V4, w.V6), "ipv6", ""
	}
	return w.haproxySource(), "ipv6", ""
}

const (
	haproxyVariable = "txn.shadow_src"
	haproxyAddress  = "var(" + haproxyVariable + ")"
)

// haproxySource is the sample of a client's address.
func (w *Where) haproxySource() string {
	if w.forwarded() == "" {
		return "src"
	}
	return haproxyAddress
}

// haproxyWithin is the condition that an address is in networks.
func haproxyWithin(source, networks string) string {
	if source != "src" {
		source += " -m ip"
	}
	return "{ " + source + " " + networks + " }"
}

// haproxySources takes the address from the header that proxies write: while an address is that of a trusted proxy, the
// one that it wrote is the next. That goes as far as three proxies behind each other. It goes into a variable, since
// other rules ask src for the proxy.
func (w *Where) haproxySources() (lines []string) {
	if w.forwarded() == "" {
		return nil
	}
	set := "http-request set-var(" + haproxyVariable + ") "
	lines = append(lines, set+"src")
	for hop := 1; hop <= 3; hop++ {
		lines = append(lines, fmt.Sprintf("%sreq.hdr_ip(%s,-%d) if %s", set, w.forwarded(), hop,
			haproxyWithin(haproxyAddress, w.trusted())))
	}
	return lines
}

// haproxyPaths is the condition for requests of an action; an acl that must be made if only the operator knows them.
func (w *Where) haproxyPaths() string {
	if page, ok := w.all(); ok {
		return fmt.Sprintf("{ path %s } || { path_beg %s/ }", page, page)
	}
	switch page, below, ok := w.path(); {
	case !ok:
		return "is_" + w.name()
	case below:
		return "{ path_beg " + page + "/ }"
	case page == "/":
		return "{ path / }"
	default:
		return fmt.Sprintf("{ path %s %s/ }", page, page)
	}
}
