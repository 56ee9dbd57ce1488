package servers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// For nginx all stands in the block http, so that it holds in every server and location that has no limit_req of its own:
// maps make a flag of the requests that a limit is for, and a key that is empty for all others, which are not limited.

var nginxTarget = Target{
	Name: "nginx", Title: "nginx", Comment: "#", Ending: ".conf",
	own: func(s limit.Spec) bool {
		return s.Algorithm == "nginx" || s.UnderWay() && s.Options == "" && s.Count < 1<<16
	},
	Grid: "whole requests per second or minute; a burst of any size",
	Enforce: "it refuses nothing yet, and logs what it would refuse: `grep 'dry run' error.log`. To enforce it, take out " +
		"limit_req_dry_run, or limit_conn_dry_run. A server or location with a limit_req of its own keeps that, and does " +
		"not get these",
	nearest: nearest("nginx"), write: writeNginx, around: aroundNginx, judge: "nginx -t -e stderr -p DIR -c FILE",
	judgedBy: "--nginx-conf FILE",
}

const nginxHTTP = "in the block http"

func writeNginx(e *Export, all []setting) error {
	key := e.where.nginxKey()
	if key.note != "" && key.variable == "" {
		return fmt.Errorf("%s", key.note)
	}
	e.note("%s", key.note)
	lines := append(key.proxies, key.network...)
	var places, conns []string // of limit_req, and of limit_conn
	made := map[string]string{}
	for _, s := range all {
		counted, err := s.nginxCounted(key.variable, &lines, made)
		if err != nil {
			return err
		}
		if s.spec.UnderWay() {
			lines = append(lines, fmt.Sprintf("limit_conn_zone %s zone=%s:10m;", counted, s.name))
			conns = append(conns, fmt.Sprintf("limit_conn %s %d;", s.name, s.spec.Count))
			continue
		}
		rate, burst, _ := strings.Cut(policy.NginxSetting(s.spec), " ")
		lines = append(lines, fmt.Sprintf("limit_req_zone %s zone=%s:10m %s;", counted, s.name, rate))
		places = append(places, strings.TrimSpace("limit_req zone="+s.name+" "+burst)+";")
	}
	var more []Block
	if len(places) > 0 {
		places = append(places, "limit_req_status 429;", "limit_req_dry_run on;")
		comments, others, err := e.where.Within.nginxInto("http", places)
		if err != nil {
			return err
		}
		places, more = append(comments, places...), others
	}
	if len(conns) > 0 && len(places) > 0 {
		e.note("limit_req is asked first there, and stays charged for what limit_conn refuses")
	}
	if len(conns) > 0 {
		comments, err := e.where.Within.nginxConns()
		if err != nil {
			return err
		}
		conns = slices.Concat(comments, conns, []string{"limit_conn_status 429;", "limit_conn_dry_run on;"})
	}
	e.block(nginxHTTP, slices.Concat(lines, places, conns)...)
	for _, b := range more {
		b.Place = "in " + b.Place
		e.Blocks = append(e.Blocks, b)
	}
	return nil
}

// nginxCounted returns the key of the setting's zone, by lines that make its variables.
func (s *setting) nginxCounted(client string, lines *[]string, made map[string]string) (counted string, err error) {
	counts, err := s.counts()
	if err != nil {
		return "", err
	}
	for i, c := range counts {
		n := &nginxNames{stem: c.name, sets: lines, made: made}
		text, err := n.key(c.parts, client)
		if err != nil {
			return "", err
		}
		flag, err := n.flag(c.when)
		if err != nil {
			return "", err
		}
		if flag != "" {
			*lines = append(*lines, fmt.Sprintf(`map %s $%s_key { 1 "%s"; default ""; }`, flag, n.stem, text))
			text = "$" + n.stem + "_key"
		}
		if i == 0 {
			counted = text
		} else {
			counted += text // one of them is empty
		}
	}
	if !strings.HasPrefix(counted, "$") || strings.ContainsAny(counted, "|") || len(counts) > 1 {
		counted = `"` + counted + `"`
	}
	return counted, nil
}

// nginxNames makes variables, and takes down the lines that make them.
type nginxNames struct {
	stem string
	n    int
	sets *[]string
	made map[string]string // variables, by what makes them
}

// let makes a variable by a line in which it is %s; one that is there already is taken.
func (n *nginxNames) let(line string) string {
	if n.made[line] == "" {
		n.n++
		n.made[line] = fmt.Sprintf("$%s_%d", n.stem, n.n)
		*n.sets = append(*n.sets, strings.ReplaceAll(line, nginxName, n.made[line]))
	}
	return n.made[line]
}

const nginxName = "\x00" // no line has it

// key returns what parts are called in nginx.
func (n *nginxNames) key(parts []request.Part, client string) (string, error) {
	texts, err := tried(parts, func(p request.Part) (string, error) {
		text, ok := nginxPart(p, client)
		switch {
		case p.Kind == request.PartNetwork && p.N <= 32 && p.N%8 == 0 && client == "$binary_remote_addr":
			text = "$" + n.stem + "_network"
			for _, line := range networkMap(p.N/8, 16) {
				if !strings.Contains(line, "net6") { // IPv6 addresses stay alone
					*n.sets = append(*n.sets, strings.ReplaceAll(line, "$client_network", text))
				}
			}
		case !ok:
			return "", cannotCount(p)
		}
		return text, nil
	})
	return strings.Join(texts, "|"), err
}

// nginxVariables has those of parts without a name. An empty key would not be counted, so that of the agent has a word.
var nginxVariables = map[request.PartKind]string{
	request.PartSite: "all", request.PartHost: "$host", request.PartPath: "$uri", request.PartAgent: "agent $http_user_agent",
	request.PartUser: "$remote_user",
}

// nginxPart is the variable of a part of a key.
func nginxPart(p request.Part, client string) (text string, ok bool) {
	switch p.Kind {
	case request.PartClient:
		return client, true
	case request.PartHeader:
		return "$http_" + nginxHeader(p.Name), true
	case request.PartCookie:
		return "$cookie_" + p.Name, variableName().MatchString(p.Name)
	}
	return nginxVariables[p.Kind], nginxVariables[p.Kind] != ""
}

func nginxHeader(name string) string {
	return strings.ToLower(strings.ReplaceAll(headerText(name), "-", "_"))
}

// flag is a variable that is 1 for the requests of clauses, and empty for others; "" for all requests.
func (n *nginxNames) flag(when []clause) (string, error) {
	var flags []string
	for _, c := range when {
		flag := "1"
		for _, t := range c {
			var err error
			if flag, err = n.test(t, flag); err != nil {
				return "", err
			}
		}
		if flag == "1" {
			return "", nil
		}
		flags = append(flags, flag)
	}
	if len(flags) < 2 {
		return strings.Join(flags, ""), nil
	}
	return n.let(`map "` + strings.Join(flags, "") + `" ` + nginxName + ` { "" ""; default 1; }`), nil
}

// test makes a variable that is flag where a test fits, and empty elsewhere.
func (n *nginxNames) test(t test, flag string) (made string, err error) {
	fits, other := flag, `""`
	if t.not {
		fits, other = `""`, flag
	}
	var from, hostnames string
	var entries []string
	add := func(values []string, pattern func(string) string) {
		entries = mapped.Add(entries, values, func(v string) string { return nginxQuoted(pattern(v)) + " " + fits + ";" })
	}
	itself, expression := func(v string) string { return v }, func(v string) string { return "~" + v }
	switch t.kind {
	case "method":
		from = "$request_method"
		add(t.values, itself)
	case "path", "prefix":
		from = "$request_uri"
		end := map[bool]string{true: `(\?|$)`}[t.kind == "path"]
		add(t.values, func(v string) string { return "~^" + regexp.QuoteMeta(v) + end })
	case "regexp":
		from = "$uri"
		add(t.values, expression)
	case "agent":
		from = "$http_user_agent"
		add(t.values, expression)
	case "host":
		from, hostnames = "$host", "hostnames; "
		add(t.values, func(v string) string {
			if isOddMask(v) {
				v = "~" + hostPattern(v)
			}
			return v
		})
	case "without":
		p, err := request.ParsePart(t.values[0])
		from, _ = nginxPart(p, "")
		if err != nil || from == "" {
			return "", t.cannot()
		}
		add([]string{""}, itself)
	case "network":
		from = n.let("geo " + nginxName + " { default 0; " + strings.Join(t.values, " 1; ") + " 1; }")
		entries = append(entries, "1 "+fits+";")
	default:
		return "", t.cannot()
	}
	return n.let("map " + from + " " + nginxName + " { " + hostnames + strings.Join(entries, " ") + " default " + other + "; }"), nil
}

// nginxQuoted is a text as nginx reads it back: a backslash stands for itself, unless it is before a quote or another one.
func nginxQuoted(text string) string {
	return `"` + strings.NewReplacer(`\\`, `\\\\`, `\"`, `\\\"`, `\'`, `\\'`, `"`, `\"`).Replace(text) + `"`
}
