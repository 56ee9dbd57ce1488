package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"shadow/report/advice"
	"shadow/suggest"
)

// What nginx is to be told must limit by what was judged: by the same client, and in the place that serves the same
// requests. Where nginx has no such thing, or only the operator can know it, that is said instead.

// An nginxKey is what limit_req_zone counts by.
type nginxKey struct {
	variable string   // $binary_remote_addr; "" if it cannot be told
	proxies  []string // what the http block must have for it, once
	http     []string // and what it may have again and again
	note     string   // where it is not quite what was judged, or why it cannot be told
}

// nginxKey is what the client of --client is in nginx.
func (r *suggestRun) nginxKey() nginxKey {
	switch name := strings.TrimPrefix(r.client, "$"); {
	case r.client == "" || name == "addr" || strings.HasPrefix(name, "addr/"):
		return r.nginxAddress()
	case strings.HasPrefix(name, "header:"):
		return named("http_" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "header:"), "-", "_")))
	case nginxFields[name] != "":
		return named(nginxFields[name])
	case r.nginxConf != "" || strings.Contains(r.format, "$"+name):
		return named(name) // a variable of nginx's own log
	}
	return nginxKey{note: fmt.Sprintf("clients were told apart by the field %q of the log, and only you know which variable of nginx holds it: put it in the place of $client", r.client)}
}

// nginxFields are the variables of the fields that most logs have.
var nginxFields = map[string]string{
	"user": "remote_user", "remote_user": "remote_user", "host": "host", "agent": "http_user_agent", "http_user_agent": "http_user_agent",
	"referer": "http_referer", "http_referer": "http_referer",
}

var variableName = regexp.MustCompile(`^\w+$`)

// named is a key that is a variable. One that is empty limits nothing in nginx.
func named(variable string) nginxKey {
	if !variableName.MatchString(variable) {
		return nginxKey{note: fmt.Sprintf("clients were told apart by %q, which cannot be a variable of nginx: put the one that holds it in the place of $client", variable)}
	}
	key := nginxKey{variable: "$" + variable, note: "requests without it are one client, -, here; nginx does not limit them"}
	if variable == "remote_user" {
		key.note += ". The name is the one that was sent: nginx counts before it checks the password"
	}
	return key
}

// nginxAddress is the address or its network, taken from the header that proxies write if the log's was.
func (r *suggestRun) nginxAddress() (key nginxKey) {
	if r.clientFrom != "" {
		for _, network := range r.reading.Clients.Trusted() {
			key.proxies = append(key.proxies, "set_real_ip_from "+network.String()+";")
		}
		key.proxies = append(key.proxies, "real_ip_header "+headerText(r.clientFrom)+";", "real_ip_recursive on;")
	}
	v4, v6, cut := r.reading.Clients.Prefixes()
	switch {
	case !cut:
		key.variable = "$binary_remote_addr"
	case v4%8 != 0 || v6%8 != 0:
		key.note = fmt.Sprintf("clients were networks of %s, and nginx can cut addresses at whole bytes only: put a variable that holds the network (a geo block) in the place of $client", r.client)
	default:
		key.variable = "$client_network"
		key.http = append(key.http, networkMap(v4/8, v6/8)...)
	}
	return key
}

// networkMap makes a variable of the first bytes of addresses: four bytes are IPv4, sixteen IPv6, or IPv4 written as that.
func networkMap(v4, v6 int) []string {
	return []string{
		"map $binary_remote_addr $client_network {",
		fmt.Sprintf(`    "~^(?s)(?<net4>.{%d}).{%d}\z" $net4;`, v4, 4-v4),
		fmt.Sprintf(`    "~^(?s)\x00{10}\xff\xff(?<net4>.{%d}).{%d}\z" $net4;`, v4, 4-v4),
		fmt.Sprintf(`    "~^(?s)(?<net6>.{%d}).{%d}\z" $net6;`, v6, 16-v6),
		"    default $binary_remote_addr;",
		"}",
	}
}

// headerText is the name of a header in a form that cannot end the directive.
func headerText(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return c
		}
		return -1
	}, name)
}

// nginx is what nginx is to be told, nil if it has none of the limits.
func (r *suggestRun) nginx(a *suggest.Advice) *advice.Nginx {
	if a.Nginx == nil {
		return nil
	}
	key := r.nginxKey()
	zone, twin := zoneName(a.Action), a.Nginx.Twin
	m := &advice.Nginx{Key: key.variable, Note: key.note}
	if !r.proxiesTold {
		m.HTTP, r.proxiesTold = key.proxies, true
	}
	m.HTTP = append(append(m.HTTP, key.http...), fmt.Sprintf("limit_req_zone %s zone=%s:10m rate=%s;", cmp.Or(key.variable, "$client"), zone, twin.Rate))
	m.Place = []string{
		"limit_req zone=" + zone + ";", "limit_req_status 429;",
		"limit_req_dry_run on;   # blocks nobody: look at $limit_req_status in the log first",
	}
	if twin.Burst > 0 {
		m.Place[0] = fmt.Sprintf("limit_req zone=%s burst=%d nodelay;", zone, twin.Burst)
	}
	if location := r.location(a.Action); location != "" {
		for i, line := range m.Place {
			m.Place[i] = "    " + line
		}
		m.Place = append(append([]string{location + " {   # with all that serves it"}, m.Place...), "}")
	}
	return m
}

// zoneName is the name of a zone: of all requests perclient, of an action one that tells it.
func zoneName(action string) string {
	if action == "" {
		return "perclient"
	}
	page, below := strings.CutSuffix(action, "/…")
	name := strings.TrimRight("action_"+strings.Trim(notInName.ReplaceAllString(page, "_"), "_"), "_")
	if below {
		name += "_below"
	}
	return name
}

var (
	notInName = regexp.MustCompile(`[^A-Za-z0-9]+`)
	plainPath = regexp.MustCompile(`^/[A-Za-z0-9._~-]*$`)
)

// location is the location of an action that is named after a path; "" for all requests, and where the configuration or more
// than the path says what the action is.
func (r *suggestRun) location(action string) string {
	page, below := strings.CutSuffix(action, "/…")
	switch {
	case r.named[action] || !plainPath.MatchString(page):
		return ""
	case below:
		return "location " + page + "/"
	case page == "/":
		return "location = /"
	}
	return "location ~ ^" + regexp.QuoteMeta(page) + "/?$" // /login/ is that action as well
}
