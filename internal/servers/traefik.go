package servers

import (
	"fmt"
	"net/netip"
	"strings"

	"shadow/internal/mapped"
	"shadow/limit"
)

// Traefik's limit is a middleware, which a router names. It sees addresses only as a whole, but for networks of IPv6.
//
// Source: Traefik's documentation of ratelimit, sourceCriterion; pkg/ip/strategy.go: with excludedIPs the client is the
// last address of X-Forwarded-For that is none of them, and the empty one if there is none.

var traefik = Server{
	Name: "traefik", Title: "Traefik",
	Watch: "Traefik has no dry run: replay the limit on the next days' logs, then give the middleware to one router first",

	algorithms: []string{"traefik"},
	kind:       Token,
	grid:       commonRates,
	lines:      traefikLines,
	behind:     "sourceCriterion: {ipStrategy: {depth: 1}}, and its networks in forwardedHeaders.trustedIPs",
}

func traefikLines(spec limit.Spec, w Where) Directives {
	name := "shadow-" + w.name()
	d, criterion := w.traefikSource()
	middleware := traefikMiddleware(name+":   # no dry run: it refuses as soon as a router names it", spec, criterion)
	router := Block{Place: "router", Lines: []string{"middlewares: [" + name + "]"}}
	if rule := w.traefikRule(); rule != "" {
		router.Lines = append([]string{"rule: " + rule + "   # and what the rule says already"}, router.Lines...)
	} else if w.Action != "" {
		router.Place = "the router that serves " + w.Action
	}
	router.Lines = append(router.Lines, w.cannotExempt("give a router without it to")...)
	d.Blocks = append(d.Blocks,
		Block{"dynamic configuration", true, []string{"http:", "  middlewares:"}},
		Block{"dynamic configuration", false, middleware}, router)
	return d
}

// traefikSource returns what identifies clients, "" for the peer.
func (w *Where) traefikSource() (d Directives, criterion string) {
	switch c := w.who(); {
	case c.field != "":
		d.Note = c.onlyYouKnow("name the header in the empty requestHeaderName")
		return d, `requestHeaderName: ""`
	case c.host:
		d.Key = "requestHost"
		return d, "requestHost: true"
	case c.header != "":
		d.Key = c.header
		if c.user {
			d.Note = byPassword
		}
		return d, "requestHeaderName: " + c.header
	}
	d.Key = "ipStrategy"
	var strategy []string
	switch forwarded := w.forwarded(); {
	case forwarded == "x-forwarded-for":
		trusted := mapped.Of(w.Trusted, func(network netip.Prefix) string { return `"` + network.String() + `"` })
		strategy = append(strategy, "excludedIPs: ["+strings.Join(trusted, ", ")+"]")
		d.Note = "requests without X-Forwarded-For are one client there, and its entry point must trust the proxies " +
			"(forwardedHeaders.trustedIPs)"
	case forwarded != "" && w.Cut:
		d = Directives{Note: "Traefik cannot cut the addresses of " + forwarded + ": name a header that holds the network"}
		return d, `requestHeaderName: ""`
	case forwarded != "":
		return Directives{Key: forwarded}, "requestHeaderName: " + forwarded
	}
	if w.Cut {
		if w.V4 != 32 {
			d.Key = ""
			d.Note = notes(fmt.Sprintf("clients were networks of %s, and Traefik cannot cut IPv4: each address has a bucket "+
				"there", w.Client), d.Note)
		}
		if w.V6 != 128 {
			strategy = append(strategy, fmt.Sprintf("ipv6Subnet: %d", w.V6))
		}
	}
	if strategy == nil {
		return d, ""
	}
	return d, "ipStrategy: {" + strings.Join(strategy, ", ") + "}"
}

// traefikMiddleware is a limit, below a name; without a criterion it is of the peer's address.
func traefikMiddleware(name string, spec limit.Spec, criterion string) []string {
	lines := []string{
		"    " + name,
		"      rateLimit:",
		fmt.Sprintf("        average: %d", spec.Count),
		"        period: " + limit.FormatPeriod(spec.Period),
		fmt.Sprintf("        burst: %d", spec.Args().Int("burst", 1)),
	}
	if criterion != "" {
		lines = append(lines, "        sourceCriterion:", "          "+criterion)
	}
	return lines
}

// traefikRule is the rule of a router for the paths of an action, or "".
func (w *Where) traefikRule() string {
	if page, ok := w.all(); ok {
		return fmt.Sprintf("Path(`%s`) || PathPrefix(`%s/`)", page, page)
	}
	switch page, below, ok := w.path(); {
	case !ok:
		return ""
	case below:
		return "PathPrefix(`" + page + "/`)"
	case page == "/":
		return "Path(`/`)"
	default:
		return fmt.Sprintf("Path(`%s`) || Path(`%s/`)", page, page)
	}
}
