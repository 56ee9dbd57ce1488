package servers

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// nginx counts by any variable of its own, one that is empty not at all. Its zones are buckets: the rate stands in the
// http block, and how many come on top of it in the place that serves the requests.

var nginx = Server{
	Name: "nginx", Title: "nginx",
	Watch: "count what the error log says",
	count: `grep -c 'limiting requests, dry run.*zone "NAME"' /var/log/nginx/error.log`,
	Log: []string{
		`log_format dryrun '$time_iso8601 $remote_addr "$request" $limit_req_status';   # in http`,
		"access_log /var/log/nginx/dryrun.log dryrun;   # beside yours: REJECTED_DRY_RUN",
	},
	algorithms: []string{"nginx"},
	kind:       Token,
	grid:       commonRates[:16], // per second and minute
	lines:      nginxLines,
	behind:     "set_real_ip_from each of its networks, real_ip_header HEADER and real_ip_recursive on",
}

func nginxLines(spec limit.Spec, w Where) Directives {
	key, zone := w.nginxKey(), w.name()
	rate, burst, _ := strings.Cut(policy.NginxSetting(spec), " ")
	place := Block{Place: "server", Lines: []string{strings.TrimSpace("limit_req zone="+zone+" "+burst) + ";"}}
	how := Block{"server", true, []string{
		"limit_req_status 429;", "limit_req_dry_run on;   # blocks no client: take it out when the log names only those you mean",
	}}
	http, counted := key.network, cmp.Or(key.variable, "$client")
	if paths := w.nginxPaths(counted); paths != nil { // whatever location serves it
		http = append(append(http, fmt.Sprintf("map $request_uri $%s_client {", zone)), paths...)
		counted = "$" + zone + "_client"
	} else if w.Action != "" {
		place.Place = "the location that serves " + w.Action
		how.Place, how.Once = place.Place, false
	}
	if len(w.Exempt) > 0 { // an empty key is not counted
		exempt := fmt.Sprintf("geo $%s_exempt { default 0;", zone)
		for _, network := range w.exempt() {
			exempt += " " + network + " 1;"
		}
		http = append(http, exempt+" }",
			fmt.Sprintf(`map $%s_exempt $%s_key { 0 %s; default ""; }`, zone, zone, counted))
		counted = "$" + zone + "_key"
	}
	http = append(http, fmt.Sprintf("limit_req_zone %s zone=%s:10m %s;", counted, zone, rate))
	d := Directives{Key: key.variable, Note: key.note, Exempts: true, Partly: w.Within.limited() != nil}
	kind, _, _ := strings.Cut(strings.TrimPrefix(place.Place, "the "), " ")
	comments, more, err := w.Within.nginxInto(kind, slices.Concat(place.Lines, how.Lines))
	if err != nil {
		d.Note = err.Error()
		return d
	}
	how.Lines = append(comments, how.Lines...)
	if key.proxies != nil {
		d.Blocks = append(d.Blocks, Block{"http", true, key.proxies})
	}
	d.Blocks = append(d.Blocks, Block{"http", false, http}, place, how)
	for _, b := range more {
		b.Once = how.Once
		d.Blocks = append(d.Blocks, b)
	}
	return d
}

// nginxKey holds what limit_req_zone counts by.
type nginxKey struct {
	variable string   // $binary_remote_addr; "" if it cannot be told
	proxies  []string // what the http block must have for it, once
	network  []string // and what it may have again and again
	note     string   // where it is not quite what was judged, or why it cannot be told
}

// nginxKey returns what the client is in nginx.
func (w *Where) nginxKey() nginxKey {
	name := strings.TrimPrefix(w.Client, "$")
	header, isHeader := strings.CutPrefix(name, "header:")
	switch {
	case w.address():
		return w.nginxAddress()
	case isHeader:
		return nginxNamed("http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_")))
	case nginxFields[name] != "":
		return nginxNamed(nginxFields[name])
	case w.FromNginx || strings.Contains(w.Format, "$"+name):
		return nginxNamed(name) // a variable of nginx's own log
	}
	return nginxKey{note: fmt.Sprintf("clients were identified by the field %q of the log, and only you know which "+
		"variable of nginx holds it: put it in the place of $client", w.Client)}
}

// nginxFields are the variables of the fields that most logs have.
var nginxFields = map[string]string{
	"user": "remote_user", "remote_user": "remote_user", "host": "host", "agent": "http_user_agent",
	"http_user_agent": "http_user_agent", "referer": "http_referer", "http_referer": "http_referer",
}

var variableName = lazy.Regexp(`^\w+$`)

// nginxNamed is a key that is a variable. One that is empty limits nothing in nginx.
func nginxNamed(variable string) nginxKey {
	if !variableName().MatchString(variable) {
		return nginxKey{note: fmt.Sprintf("clients were identified by %q, which cannot be a variable of nginx: put the "+
			"one that holds it in the place of $client", variable)}
	}
	key := nginxKey{
		variable: "$" + variable,
		note:     "requests without it are one client, -, here; nginx does not limit them",
	}
	if variable == "remote_user" {
		key.note += ". The name is the one that was sent: nginx counts before it checks the password"
	}
	return key
}

// nginxAddress is the address or its network, taken from the header that proxies write if the log's was.
func (w *Where) nginxAddress() (key nginxKey) {
	if w.ClientFrom != "" {
		key.proxies = mapped.Of(w.Trusted, func(n netip.Prefix) string { return "set_real_ip_from " + n.String() + ";" })
		key.proxies = append(key.proxies, "real_ip_header "+headerText(w.ClientFrom)+";", "real_ip_recursive on;")
	}
	switch {
	case !w.Cut:
		key.variable = "$binary_remote_addr"
	case w.V4%8 != 0 || w.V6%8 != 0:
		key.note = fmt.Sprintf("clients were networks of %s, and nginx can cut addresses at whole bytes only: put a "+
			"variable that holds the network (a geo block) in the place of $client", w.Client)
	default:
		key.variable = "$client_network"
		key.network = networkMap(w.V4/8, w.V6/8)
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

// nginxPaths returns what a map of $request_uri has for an action that is named after a path: its requests count by a
// variable, all others not at all. nil: it is not.
func (w *Where) nginxPaths(counted string) (lines []string) {
	if w.Action == "static" && !w.Named {
		return append(nginxEndings(counted), `    default ""; }`)
	}
	page, within := w.all()
	end := `(/|\?|$)`
	if !within {
		var below, ok bool
		switch page, below, ok = w.path(); {
		case !ok:
			return nil
		case below:
			end, within = "/", true
		case page == "/":
			end = `(\?|$)`
		default:
			end = `/?(\?|$)` // /login/ is that action as well
		}
	}
	if within { // style sheets, images and the like are no part of it
		lines = nginxEndings(`""`)
	}
	return append(lines, `    "~^`+regexp.QuoteMeta(page)+end+`" `+counted+`; default ""; }`)
}

// nginxEndings has a map of $request_uri give a value to style sheets, images and the like.
func nginxEndings(value string) (lines []string) {
	for endings := range slices.Chunk(request.StaticEndings, (len(request.StaticEndings)+1)/2) {
		lines = append(lines, `    "~*^[^?]*\.(`+strings.Join(endings, "|")+`)(\?|$)" `+value+`;`)
	}
	return lines
}
