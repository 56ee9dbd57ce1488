package servers

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
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
	nearest: nearest("haproxy"), write: writeHAProxy, around: aroundHAProxy, judge: "haproxy -c -f FILE",
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
		table := "ipv6"
		if len(s.by) > 1 || s.by[0].Kind != request.PartClient && !s.by[0].IsGroup() || !e.where.address() {
			table = "binary len 20"
		}
		tracks, err := e.haproxyTracks(s, free[i], own, table)
		if err != nil {
			return err
		}
		when, needs, store := haproxyOver(s.spec, s.name, free[i])
		rules, sets = append(rules, tracks...), append(sets, needs...)
		over, specs = append(over, when), append(specs, s.spec)
		backends = append(backends, haproxyBackend(s.name, table, store, s.spec)...)
	}
	rules = append(append(rules, sets...), haproxyRules(specs, free, over)...)
	e.block("in the frontend, "+e.where.Within.behind(free), indent(4, rules)...)
	e.block("behind all sections", backends...)
	return nil
}

// haproxyTracks are the rules that count the requests of a setting.
func (e *Export) haproxyTracks(s setting, counter int, client, table string) (tracks []string, err error) {
	counts, err := s.counts()
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		key, err := haproxyParts(c.parts, client)
		if err != nil {
			return nil, err
		}
		if table != "ipv6" && !strings.HasSuffix(key, ",sha1") {
			key += ",sha1"
		}
		for _, clause := range orAll(c.when) {
			when, err := haproxyWhen(clause, e.where.haproxySource())
			if err != nil {
				return nil, err
			}
			track := fmt.Sprintf("http-request track-sc%d %s table %s%s", counter, key, s.name, when)
			if strings.Count(track, " ") >= haproxyWords {
				return nil, fmt.Errorf("its conditions take a line of more than %d words", haproxyWords)
			}
			tracks = append(tracks, track)
		}
	}
	return tracks, nil
}

// haproxySamples has those of parts without a name.
var haproxySamples = map[request.PartKind]string{
	request.PartSite: "int(1)", request.PartHost: haproxyHost, request.PartPath: "path", request.PartAgent: "req.fhdr(user-agent)",
	request.PartUser: "http_auth_user",
}

// haproxyParts is the sample of a key.
func haproxyParts(parts []request.Part, client string) (string, error) {
	var samples []string
	for _, p := range parts {
		sample := haproxySamples[p.Kind]
		switch p.Kind {
		case request.PartClient:
			sample = client
		case request.PartNetwork:
			if isAddress := client == "src" || client == haproxyAddress; isAddress && p.N <= 32 {
				sample = fmt.Sprintf("%s,ipmask(%d)", client, p.N)
			} else if isAddress {
				sample = fmt.Sprintf("%s,ipmask(32,%d)", client, p.N)
			}
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
	return strings.Join(mapped.Of(parts, request.Part.String), "+")
}

// haproxyWhen is the condition for requests of a clause.
func haproxyWhen(c clause, source string) (string, error) {
	tests, err := tried(c, func(t test) (string, error) { return haproxyTest(t, source) })
	if len(tests) == 0 {
		return "", err
	}
	return " if " + strings.Join(tests, " "), nil
}

// haproxyHost is the host without its port.
const haproxyHost = "req.hdr(host),field(1,:),lower"

// haproxyFetches are the samples that tests look at, and how. Others take more than a list of values.
var haproxyFetches = map[string]string{
	"method": "method", "path": "path", "prefix": "path_beg", "regexp": "path_reg", "agent": "req.fhdr(user-agent) -m reg",
}

// haproxyTest is an acl without a name. Several of one test are one pattern each.
func haproxyTest(t test, source string) (string, error) {
	fetch, values := haproxyFetches[t.kind], t.values
	switch t.kind {
	case "network":
		fetch = "network"
	case "host":
		fetch, values = haproxyHosts(values)
	case "without":
		p, err := request.ParsePart(values[0])
		if err == nil && (p.Kind == request.PartHeader || p.Kind == request.PartCookie || p.Kind == request.PartUser) {
			fetch, err = haproxyParts([]request.Part{p}, "src")
		}
		if fetch != "" && err == nil {
			return map[bool]string{false: "!"}[t.not] + "{ " + fetch + " -m found }", nil
		}
	}
	sign, quoted := map[bool]string{true: "!"}[t.not], strings.Join(mapped.Of(values, haproxyQuoted), " ")
	switch fetch {
	case "":
		return "", t.cannot()
	case "network":
		return sign + haproxyWithin(source, quoted), nil
	}
	return sign + "{ " + fetch + " " + quoted + " }", nil
}

// haproxyHosts is the sample for hosts, and how it is held against which patterns.
func haproxyHosts(hosts []string) (fetch string, patterns []string) {
	switch bare := strings.Trim(hosts[0], "*"); {
	case !slices.ContainsFunc(hosts, isMask):
		return haproxyHost, hosts
	case len(hosts) > 1 || isMask(bare) || bare == "":
		return haproxyHost + " -m reg", mapped.Of(hosts, hostPattern)
	case hosts[0] == "*"+bare:
		return haproxyHost + " -m end", []string{bare}
	case hosts[0] == bare+"*":
		return haproxyHost + " -m beg", []string{bare}
	default:
		return haproxyHost + " -m sub", []string{bare}
	}
}

func haproxyQuoted(v string) string {
	if strings.Contains(v, "'") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(v) + `"`
	}
	if notPlain().MatchString(v) {
		return "'" + v + "'"
	}
	return v
}

// notPlain is a text that HAProxy would not read as it stands.
var notPlain = lazy.Regexp(`[^A-Za-z0-9_./:*+-]|^-`)
