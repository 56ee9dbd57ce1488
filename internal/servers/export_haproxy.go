package servers

import (
	"fmt"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/limit"
)

// For HAProxy each limit has a table and a counter of its own. The first rule that fits a request takes the counter. All
// are tracked before any refuses, so that a refused request is counted by all that count such.

var haproxyTarget = Target{
	Name: "haproxy", Title: "HAProxy", Comment: "#", Ending: ".cfg", own: algorithm("haproxy"),
	Grid: "a count of requests, refused ones too, over a period in whole milliseconds",
	Enforce: "it refuses nothing yet, and logs over-limit: `grep -c over-limit /var/log/haproxy.log`. To enforce it, put " +
		"http-request deny in the place of http-request capture, as the comment says",
	nearest: nearestHAProxy, write: writeHAProxy, around: aroundHAProxy, judge: "haproxy -c -f FILE",
	most:     func(w Where) int { return len(w.Within.free()) },
	judgedBy: "--check=FILE",
}

const (
	haproxyCounters = 3  // of a request, as HAProxy is built
	haproxyWords    = 64 // of a line
)

func writeHAProxy(e *Export, all []setting) error {
	own, _, note := e.where.haproxyKey()
	if own == unknownHAProxy {
		return fmt.Errorf("%s", note)
	}
	e.note("%s", note)
	rules, free := e.where.haproxySources(), e.where.Within.free()
	if len(free) < len(all) {
		return fmt.Errorf("no counter is free: rules take all %d", e.where.Within.most)
	}
	free = free[:len(all)]
	var backends, sets, over []string
	var specs []limit.Spec
	for i, s := range all {
		counts, err := s.counts()
		if err != nil {
			return err
		}
		table := "ipv6"
		if len(s.by) > 1 || s.by[0].Kind != request.PartClient && !s.by[0].IsGroup() || !e.where.address() {
			table = "binary len 20"
		}
		var tracks []string
		for _, c := range counts {
			key, err := haproxyParts(c.parts, own)
			if err != nil {
				return err
			}
			if table != "ipv6" && !strings.HasSuffix(key, ",sha1") {
				key += ",sha1"
			}
			for _, clause := range orAll(c.when) {
				when, err := haproxyWhen(clause, e.where.haproxySource())
				if err != nil {
					return err
				}
				track := fmt.Sprintf("http-request track-sc%d %s table %s%s", free[i], key, s.name, when)
				if strings.Count(track, " ") >= haproxyWords {
					return fmt.Errorf("its conditions take a line of more than %d words", haproxyWords)
				}
				tracks = append(tracks, track)
			}
		}
		when, needs, store := haproxyOver(s.spec, s.name, free[i])
		rules, sets = append(rules, tracks...), append(sets, needs...)
		over, specs = append(over, when), append(specs, s.spec)
		_, expire := haproxyOptions(s.spec)
		backends = append(backends, "backend "+s.name,
			fmt.Sprintf("    stick-table type %s size 1m expire %s store %s", table, expire, store))
	}
	rules = append(append(rules, sets...), haproxyRules(specs, free, over)...)
	e.block("in the frontend, "+e.where.Within.behind(free), indent(4, rules)...)
	e.block("behind all sections", backends...)
	return nil
}

// haproxyParts is the sample of a key.
func haproxyParts(parts []request.Part, client string) (string, error) {
	var samples []string
	for _, p := range parts {
		sample := ""
		switch p.Kind {
		case request.PartClient:
			sample = client
		case request.PartNetwork:
			if isAddress := client == "src" || client == haproxyAddress; isAddress && p.N <= 32 {
				sample = fmt.Sprintf("%s,ipmask(%d)", client, p.N)
			} else if isAddress {
				sample = fmt.Sprintf("%s,ipmask(32,%d)", client, p.N)
			}
		case request.PartSite:
			sample = "int(1)"
		case request.PartHost:
			sample = "req.hdr(host),field(1,:),lower"
		case request.PartPath:
			sample = "path"
		case request.PartAgent:
			sample = "req.fhdr(user-agent)"
		case request.PartUser:
			sample = "http_auth_user"
		case request.PartHeader:
			sample = "req.fhdr(" + strings.ToLower(headerText(p.Name)) + ")"
		case request.PartCookie:
			if variableName().MatchString(p.Name) {
				sample = "req.cook(" + p.Name + ")"
			}
		}
		if sample == "" {
			return "", cannotCount(p)
		}
		samples = append(samples, sample)
	}
	if len(samples) > 1 {
		return "", fmt.Errorf("its keys are one sample; it has none of several parts: %s", joinParts(parts))
	}
	return samples[0], nil
}

func joinParts(parts []request.Part) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "+")
}

// haproxyWhen is the condition for requests of a clause.
func haproxyWhen(c clause, source string) (string, error) {
	when := ""
	for _, t := range c {
		one, err := haproxyTest(t, source)
		if err != nil {
			return "", err
		}
		when += " " + one
	}
	if when != "" {
		when = " if" + when
	}
	return when, nil
}

// haproxyTest is an acl without a name. Several of one test are one pattern each.
func haproxyTest(t test, source string) (string, error) {
	sign := map[bool]string{true: "!"}[t.not]
	quoted := func(values []string) string {
		var texts []string
		for _, v := range values {
			if strings.ContainsAny(v, "'") {
				v = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(v) + `"`
			} else if plain := notPlain().MatchString(v); plain {
				v = "'" + v + "'"
			}
			texts = append(texts, v)
		}
		return strings.Join(texts, " ")
	}
	const host, agent = "req.hdr(host),field(1,:),lower", "req.fhdr(user-agent)"
	switch t.kind {
	case "method":
		return sign + "{ method " + quoted(t.values) + " }", nil
	case "path":
		return sign + "{ path " + quoted(t.values) + " }", nil
	case "prefix":
		return sign + "{ path_beg " + quoted(t.values) + " }", nil
	case "regexp":
		return sign + "{ path_reg " + quoted(t.values) + " }", nil
	case "agent":
		return sign + "{ " + agent + " -m reg " + quoted(t.values) + " }", nil
	case "network":
		return sign + haproxyWithin(source, quoted(t.values)), nil
	case "host":
		if len(t.values) == 1 && isMask(t.values[0]) {
			bare := strings.Trim(t.values[0], "*")
			switch v := t.values[0]; {
			case isMask(bare) || bare == "":
			case v == "*"+bare:
				return sign + "{ " + host + " -m end " + quoted([]string{bare}) + " }", nil
			case v == bare+"*":
				return sign + "{ " + host + " -m beg " + quoted([]string{bare}) + " }", nil
			default:
				return sign + "{ " + host + " -m sub " + quoted([]string{bare}) + " }", nil
			}
		}
		for _, v := range t.values {
			if isMask(v) {
				var patterns []string
				for _, v := range t.values {
					patterns = append(patterns, hostPattern(v))
				}
				return sign + "{ " + host + " -m reg " + quoted(patterns) + " }", nil
			}
		}
		return sign + "{ " + host + " " + quoted(t.values) + " }", nil
	case "without":
		p, err := request.ParsePart(t.values[0])
		if err == nil && (p.Kind == request.PartHeader || p.Kind == request.PartCookie || p.Kind == request.PartUser) {
			if sample, err := haproxyParts([]request.Part{p}, "src"); err == nil {
				return map[bool]string{true: "", false: "!"}[t.not] + "{ " + sample + " -m found }", nil
			}
		}
	}
	return "", t.cannot()
}

// notPlain is a text that HAProxy would not read as it stands.
var notPlain = lazy.Regexp(`[^A-Za-z0-9_./:*+-]|^-`)
