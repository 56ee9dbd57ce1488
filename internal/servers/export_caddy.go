package servers

import (
	"fmt"
	"regexp"
	"strings"

	"shadow/internal/policy"
	"shadow/internal/request"
)

// For Caddy a limit is a zone of rate_limit; of several matchers of a zone one must fit.

var caddyTarget = Target{
	Name: "caddy", Title: "Caddy", Comment: "#", Ending: ".caddyfile", own: algorithm("caddy"), Combine: policy.InTurn,
	Beside:  "each rate_limit that is there stays; zones of the same name are one limit, so none may be named shadow",
	Grid:    "a count over any period, in an exact rolling window",
	Enforce: "Caddy has no dry run: it refuses at once. It takes the module mholt/caddy-ratelimit",
	nearest: nearest("caddy"), write: writeCaddy,
}

func writeCaddy(e *Export, all []setting) error {
	lines := []string{"rate_limit {"}
	for _, s := range all {
		counts, err := s.counts()
		if err != nil {
			return err
		}
		for _, c := range counts {
			matches, err := tried(c.when, e.caddyWhen)
			if err != nil {
				return err
			}
			by, err := e.caddyParts(c.parts)
			if err != nil {
				return err
			}
			lines = append(lines, caddyZone(c.name, matches, by, s.spec)...)
		}
	}
	if e.where.forwarded() != "" {
		d := caddyLines(all[0].spec, e.where)
		e.block(d.Blocks[0].Place, d.Blocks[0].Lines...)
	}
	e.block("in the site", append(lines, "}")...)
	return nil
}

// caddyPlaceholders has those of parts without a name.
var caddyPlaceholders = map[request.PartKind]string{
	request.PartSite: "all", request.PartHost: "{host}", request.PartPath: "{path}", request.PartAgent: "{header.User-Agent}",
}

// caddyParts is the key of a zone, and what cuts addresses.
func (e *Export) caddyParts(parts []request.Part) (by []string, err error) {
	client, note := e.where.caddyKey()
	if client == "" {
		return nil, fmt.Errorf("%s", note)
	}
	e.note("%s", note)
	var texts, cuts []string
	for _, p := range parts {
		text := caddyPlaceholders[p.Kind]
		switch p.Kind {
		case request.PartClient:
			if text = client; e.where.address() && e.where.Cut {
				if len(parts) > 1 {
					return nil, fmt.Errorf("it cuts addresses only where they are the whole key")
				}
				cuts = e.where.caddyCuts()
			}
		case request.PartNetwork:
			if e.where.address() && len(parts) == 1 {
				text = client
				cuts = []string{fmt.Sprintf("ipv%d_prefix %d", map[bool]int{true: 4, false: 6}[p.N <= 32], p.N)}
			}
		case request.PartHeader:
			text = "{header." + headerText(p.Name) + "}"
		case request.PartCookie:
			if variableName().MatchString(p.Name) {
				text = "{cookie." + p.Name + "}"
			}
		}
		if text == "" {
			return nil, cannotCount(p)
		}
		texts = append(texts, text)
	}
	return append([]string{"key " + strings.Join(texts, "|")}, cuts...), nil
}

// caddyWhen are matchers that must all fit. Each kind stands once in such a set; more stand inverted twice.
func (e *Export) caddyWhen(c clause) (lines []string, err error) {
	seen := map[string]bool{}
	for _, t := range c {
		line, err := e.caddyTest(t)
		if err != nil {
			return nil, err
		}
		not := t.not != (t.kind == "without") // the matcher fits those that have it
		kind, _, _ := strings.Cut(line, " ")
		switch {
		case not:
			line = "not " + line
		case seen[kind]:
			return nil, fmt.Errorf("its matchers have one condition of a kind (%s)", kind)
		default:
			seen[kind] = true
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func (e *Export) caddyTest(t test) (string, error) {
	var patterns []string
	for _, v := range t.values {
		switch t.kind {
		case "path":
			v = "^" + regexp.QuoteMeta(v) + "$"
		case "prefix":
			v = "^" + regexp.QuoteMeta(v)
		}
		if patterns = append(patterns, v); strings.Contains(v, "`") {
			return "", t.cannot()
		}
	}
	pattern := "`" + strings.Join(patterns, "|") + "`"
	switch t.kind {
	case "method":
		return "method " + strings.Join(t.values, " "), nil
	case "path", "prefix", "regexp":
		return "path_regexp " + pattern, nil
	case "agent":
		return "header_regexp User-Agent " + pattern, nil
	case "host":
		return "host " + strings.Join(t.values, " "), t.names()
	case "network":
		return map[bool]string{true: "client_ip ", false: "remote_ip "}[e.where.forwarded() != ""] + strings.Join(t.values, " "), nil
	case "without":
		if name, ok := t.lacking(); ok {
			return "header " + name + " *", nil
		}
	}
	return "", t.cannot()
}
