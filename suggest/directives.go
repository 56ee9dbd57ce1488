package suggest

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"shadow/lazy"
	"shadow/policy"
	"shadow/traffic/match"
)

// What nginx is to be told must limit by what was judged: by the same client, and in the place that serves the same
// requests. Where nginx has no such thing, or only the operator can know it, that is said instead.

// Directives are what nginx is to be told, line by line.
type Directives struct {
	Key   string   `json:"key"`      // a variable of nginx; "": which one is not known
	Note  string   `json:"note"`     // about the key
	HTTP  []string `json:"http"`     // lines of the http block
	Place []string `json:"location"` // lines of the place that serves the requests
}

// A Judged log is what directives go by.
type Judged struct {
	Client     string           // who one is, as it was asked for: addr, header:NAME …
	ClientFrom string           // the header from which addresses are taken, if any
	Rule       match.ClientRule // the same, compiled
	FromNginx  bool             // whether the fields of the log are variables of nginx, all of them
	Format     string           // of the log; a variable of nginx is in it as $name
	Named      map[string]bool  // the actions that the configuration names

	proxiesTold bool // whether nginx has been told whose header to believe: it wants to hear that once
}

// nginxKey is what limit_req_zone counts by.
type nginxKey struct {
	variable string   // $binary_remote_addr; "" if it cannot be told
	proxies  []string // what the http block must have for it, once
	http     []string // and what it may have again and again
	note     string   // where it is not quite what was judged, or why it cannot be told
}

// key is what the client is in nginx.
func (j *Judged) key() nginxKey {
	switch name := strings.TrimPrefix(j.Client, "$"); {
	case j.Client == "" || name == "addr" || strings.HasPrefix(name, "addr/"):
		return j.address()
	case strings.HasPrefix(name, "header:"):
		return named("http_" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "header:"), "-", "_")))
	case nginxFields[name] != "":
		return named(nginxFields[name])
	case j.FromNginx || strings.Contains(j.Format, "$"+name):
		return named(name) // a variable of nginx's own log
	}
	return nginxKey{note: fmt.Sprintf("clients were identified by the field %q of the log, and only you know which variable of nginx holds it: put it in the place of $client", j.Client)}
}

// nginxFields are the variables of the fields that most logs have.
var nginxFields = map[string]string{
	"user": "remote_user", "remote_user": "remote_user", "host": "host", "agent": "http_user_agent", "http_user_agent": "http_user_agent",
	"referer": "http_referer", "http_referer": "http_referer",
}

var variableName = lazy.Regexp(`^\w+$`)

// named is a key that is a variable. One that is empty limits nothing in nginx.
func named(variable string) nginxKey {
	if !variableName().MatchString(variable) {
		return nginxKey{note: fmt.Sprintf("clients were identified by %q, which cannot be a variable of nginx: put the one that holds it in the place of $client", variable)}
	}
	key := nginxKey{variable: "$" + variable, note: "requests without it are one client, -, here; nginx does not limit them"}
	if variable == "remote_user" {
		key.note += ". The name is the one that was sent: nginx counts before it checks the password"
	}
	return key
}

// address is the address or its network, taken from the header that proxies write if the log's was.
func (j *Judged) address() (key nginxKey) {
	if j.ClientFrom != "" {
		for _, network := range j.Rule.Trusted() {
			key.proxies = append(key.proxies, "set_real_ip_from "+network.String()+";")
		}
		key.proxies = append(key.proxies, "real_ip_header "+headerText(j.ClientFrom)+";", "real_ip_recursive on;")
	}
	v4, v6, cut := j.Rule.Prefixes()
	switch {
	case !cut:
		key.variable = "$binary_remote_addr"
	case v4%8 != 0 || v6%8 != 0:
		key.note = fmt.Sprintf("clients were networks of %s, and nginx can cut addresses at whole bytes only: put a variable that holds the network (a geo block) in the place of $client", j.Client)
	default:
		key.variable = "$client_network"
		key.http = append(key.http, networkMap(v4/8, v6/8)...)
	}
	return key
}

// networkMap makes a variable of the first bytes of addresses: four bytes are IPv4, sixteen IPv6, or IPv4 written as
// that.
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

// Directives are what nginx is to be told, for the requests of one action or all.
func (j *Judged) Directives(action string, twin policy.NginxTwin) (d Directives) {
	key, zone := j.key(), zoneName(action)
	d.Key, d.Note = key.variable, key.note
	if !j.proxiesTold {
		d.HTTP, j.proxiesTold = key.proxies, true
	}
	d.HTTP = append(append(d.HTTP, key.http...), fmt.Sprintf("limit_req_zone %s zone=%s:10m rate=%s;", cmp.Or(key.variable, "$client"), zone, twin.Rate))
	d.Place = []string{
		"limit_req zone=" + zone + ";", "limit_req_status 429;",
		"limit_req_dry_run on;   # blocks nobody: look at $limit_req_status in the log first",
	}
	if twin.Burst > 0 {
		d.Place[0] = fmt.Sprintf("limit_req zone=%s burst=%d nodelay;", zone, twin.Burst)
	}
	if location := j.location(action); location != "" {
		for i, line := range d.Place {
			d.Place[i] = "    " + line
		}
		d.Place = append(append([]string{location + " {   # with all that serves it"}, d.Place...), "}")
	}
	return d
}

// zoneName is the name of a zone: of all requests perclient, of an action one that tells it.
func zoneName(action string) string {
	if action == "" {
		return "perclient"
	}
	page, below := strings.CutSuffix(action, "/…")
	name := strings.TrimRight("action_"+strings.Trim(notInName().ReplaceAllString(page, "_"), "_"), "_")
	if below {
		name += "_below"
	}
	return name
}

var (
	notInName = lazy.Regexp(`[^A-Za-z0-9]+`)
	plainPath = lazy.Regexp(`^/[A-Za-z0-9._~-]*$`)
)

// location is the location of an action that is named after a path; "" for all requests, and where the configuration or
// more than the path says what the action is.
func (j *Judged) location(action string) string {
	page, below := strings.CutSuffix(action, "/…")
	switch {
	case j.Named[action] || !plainPath().MatchString(page):
		return ""
	case below:
		return "location " + page + "/"
	case page == "/":
		return "location = /"
	}
	return "location ~ ^" + regexp.QuoteMeta(page) + "/?$" // /login/ is that action as well
}
