// Package nginx reads configurations of nginx: directives come in, the limits of each place go out.
//
// The zone of a limit_req has the key and the rate, the place where limit_req stands has the burst. A request is judged by
// the limits of the one location that it is given to (choice.go); if any refuses, none is charged. A key that is empty is
// not limited, which maps make use of (vars.go). limit_conn goes the same ways, in a policy of its own: it is asked behind
// limit_req, which it leaves charged.
//
// Sources: https://nginx.org/r/limit_req_zone; nginx/nginx 3f6f782, src/http/modules/ngx_http_limit_req_module.c and
// ngx_http_limit_conn_module.c.
package nginx

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/servers/imports/nginxfiles"
	"shadow/parse"
	"shadow/parse/nginxconf"
)

// Line matches what configurations of nginx have.
var Line = lazy.Regexp(`(?m)^\s*(limit_req(_zone|_status|_dry_run)?\s[^\n]*;|(http|server|events|upstream\s+\S+|location\s[^{\n]+|map\s+\S+\s+\S+|geo\s[^{\n]+)\s*\{([^$\w]|\w+[\s;]|$)|` +
	`(include|server_name|listen|proxy_pass|worker_processes)\s[^\n]*;)`)

// A reader takes apart one configuration.
type reader struct {
	*neutral.Result
	base      string // the folder of the configuration, where includes of maps are looked for
	zones     map[string]*zone
	variables map[string]*nginxconf.Directive // maps and geos, by the variable that they make
	set       map[string]*nginxconf.Directive // what `set` makes
	known     map[string][]valueCase          // variables that were evaluated; nil: under way
	uses      []*usage
	white     []*nginxconf.Directive // Tengine's limit_req_whitelist
	unknown   map[string]bool        // directives that were told

	server string               // whose $server_name is asked for
	at     way                  // where variables are asked for
	keys   map[string][]zoneKey // of a server's zones, by the state of ways
	asked  map[string]bool      // variables in maps, conditions and keys; directives, and those with their first word
}

// mostLogFormats is the most formats that a log is tried with.
const mostLogFormats = 100

// Configs are the configurations that were given.
type Configs []*config

// Read reads the text of a file, which may belong to a configuration that was given.
func (all *Configs) Read(to *neutral.Result, file string, text []byte) error {
	top, problems, err := nginxconf.Read(file, text)
	if err != nil {
		return err
	}
	for _, p := range problems {
		if !errors.Is(p, nginxconf.ErrNoFolder) || !neutral.IsDocument(file) { // parts of a ConfigMap are mounted elsewhere
			to.Lose("", "%v", p)
		}
	}
	all.join(to, file, top)
	logged := nginxconf.LogFormats(top)
	for _, f := range logged[:min(mostLogFormats, len(logged))] {
		to.Logged = append(to.Logged, f.Text)
	}
	return nil
}

// join puts a file beside those that it belongs to.
func (all *Configs) join(to *neutral.Result, file string, top []*nginxconf.Directive) {
	if n := len(*all); n > 0 {
		before := (*all)[n-1]
		if joined, known := before.Join(file, top); known {
			to.Tell(file, "%s includes it: it is read once", before.Name)
			return
		} else if joined {
			return
		}
	}
	*all = append(*all, &config{nginxfiles.Config{Name: file, Top: top}, len(to.Policies)})
	to.Policies = append(to.Policies, neutral.Policy{}) // until all files are there
}

// A config is one of them.
type config struct {
	nginxfiles.Config
	policy int // its place among the policies
}

// Take takes the limits of the configurations.
func (all *Configs) Take(to *neutral.Result) {
	for _, f := range *all {
		r := &reader{
			Result: to, base: filepath.Dir(f.Name), zones: map[string]*zone{}, known: map[string][]valueCase{},
			variables: map[string]*nginxconf.Directive{}, set: map[string]*nginxconf.Directive{}, unknown: map[string]bool{},
			asked: map[string]bool{},
		}
		unescape(f.Top)
		if !slices.ContainsFunc(to.Logged, requestTime().MatchString) {
			f.Top = r.withoutConns(f.Top)
		}
		r.declare(f.Top)
		r.tellUnknown(f.Top)
		r.tellMisplaced(f.Top)
		for _, level := range f.Levels() {
			r.readHTTP(level)
		}
		r.tellUnreached(f.Top)
		to.Policies[f.policy] = r.policy("limit_req")
		if p := r.policy("limit_conn"); len(p.Limits) > 0 {
			p.Name = "nginx limit_conn"
			to.Policies = append(to.Policies, p)
		}
		to.CheckFrom(f.policy)
	}
	*all = nil
}

var requestTime = lazy.Regexp(`\$\{?request_time\b`)

// withoutConns takes out limit_conn, which no log is judged by that does not tell how long requests take.
func (r *reader) withoutConns(all []*nginxconf.Directive) []*nginxconf.Directive {
	return slices.DeleteFunc(all, func(d *nginxconf.Directive) bool {
		d.Block = r.withoutConns(d.Block)
		if d.Name == "limit_conn" {
			r.Lose(d.Place(), "limit_conn bounds how many requests are under way at once, which is judged where a log_format "+
				"with $request_time is beside it")
			r.asked["taken out "+namedFirst(d)] = true
		}
		return d.Name == "limit_conn"
	})
}

// unescape undoes the escapes in all words.
func unescape(all []*nginxconf.Directive) {
	for _, d := range all {
		for i := range d.Args {
			d.Args[i] = parse.Unquote(d.Args[i])
		}
		unescape(d.Block)
	}
}

// declare takes down what has a name, wherever it stands.
func (r *reader) declare(all []*nginxconf.Directive) {
	for _, d := range all {
		switch {
		case strings.HasPrefix(d.Name, "limit_") && strings.HasSuffix(d.Name, "_zone") && len(d.Args) > 1:
			r.ask(d.Args[0])
			r.declareZone(d)
		case (d.Name == "map" || d.Name == "geo") && len(d.Args) > 0:
			r.variables[strings.TrimPrefix(d.Args[len(d.Args)-1], "$")] = d
			r.ask(d.Args[0])
			for _, e := range d.Block {
				r.ask(e.Args...)
			}
			continue
		case d.Name == "set" && len(d.Args) == 2:
			r.set[strings.TrimPrefix(d.Args[0], "$")] = d
			r.ask(d.Args[1])
		case d.Name == "if":
			r.ask(d.Args...)
		case d.Name == "limit_conn", d.Name == "limit_req", d.Name == "set_real_ip_from", d.Name == "auth_request", d.Name == "mirror":
			r.asked[d.Name+" "+namedFirst(d)], r.asked[d.Name] = true, true
		case d.Name == "limit_req_whitelist":
			r.white = append(r.white, d)
		case d.Name == "merge_slashes" && namedFirst(d) == "off":
			r.Lose(d.Place(), "merge_slashes off leaves several slashes, which are one here")
		}
		if endsByLua().MatchString(d.Name + " " + strings.Join(d.Args, " ")) {
			r.Lose(d.Place(), "%s may limit or end requests, and Lua is not read", d.Name)
		}
		r.declare(d.Block)
	}
}

// endsByLua fits Lua that stands before limits and is in a file, or has such words.
var endsByLua = lazy.Regexp(`(?s)^\w+_by_lua\w* .*limit|^js_access |^(server_rewrite|rewrite|access)_by_lua(_file |.*ngx\.(redirect|exit|exec|say|print)\b)`)

// tellMisplaced tells of limits where nginx takes none, of some that are asked by the way, and of a proxy's address.
func (r *reader) tellMisplaced(all []*nginxconf.Directive) {
	zones := map[string]bool{}
	for _, d := range all {
		words := strings.Join(d.Args, " ")
		switch first := namedFirst(d); {
		case d.Name == "limit_req" && zones[first]:
			r.Lose(d.Place(), "limit_req %s stands here twice: nginx refuses this configuration", first)
		case d.Name == "limit_req":
			zones[first] = true
		case d.Name == "if" && slices.ContainsFunc(d.Block, hasLimits):
			r.Lose(d.Place(), "nginx takes no limit_req within if, and refuses this configuration")
		case d.Name == "location" && hasLimits(d) && len(d.Args) > 0 && r.asked["auth_request "+d.Args[len(d.Args)-1]]:
			r.Lose(d.Place(), "auth_request asks this location first: what its limits refuse is not judged")
		case d.Name == "location" && hasLimits(d) && len(d.Args) > 0 && r.asked["mirror "+d.Args[len(d.Args)-1]]:
			r.Lose(d.Place(), "mirror sends copies of requests here: only what is logged counts")
		case d.Name == "limit_req_zone" && r.asked["set_real_ip_from"] && strings.Contains(words, proxied):
			r.Lose(d.Place(), "%s is the address of the proxy, and requests count by the client here", proxied)
		}
		r.tellMisplaced(d.Block)
	}
}

// namedFirst returns the word that names the zone of a limit_req, or the first word of another directive.
func namedFirst(d *nginxconf.Directive) string {
	at := slices.IndexFunc(d.Args, func(word string) bool { return strings.HasPrefix(word, "zone=") })
	return strings.Join(d.Args[max(0, at):min(max(0, at)+1, len(d.Args))], "")
}

const proxied = "$realip_remote_addr"

// ask takes down which variables matter.
func (r *reader) ask(texts ...string) {
	for _, v := range variablePattern().FindAllString(strings.Join(texts, " "), -1) {
		r.asked[strings.Trim(v, "${}")] = true
	}
}

// ofData are the blocks whose words are no directives.
var ofData = []string{"map", "geo", "geoip2", "types", "split_clients", "charset_map", "match"}

var likeLimits = lazy.Regexp(`(?i)limit|throttl|(^|_)rate(_|$)|flood|(^|_)ban(_|$)|testcookie`)

// tellUnknown tells of directives that no table has, each once. If the name speaks of limits, something is lost.
func (r *reader) tellUnknown(all []*nginxconf.Directive) {
	for _, d := range all {
		switch {
		case d.Name == "limit_req_whitelist" || nginxconf.IsKnown(d.Name) || r.unknown[d.Name]:
		case likeLimits().MatchString(d.Name):
			r.Lose(d.Place(), "%s is not understood: what it limits is not judged", d.Name)
			r.unknown[d.Name] = true
		default:
			r.Tell(d.Place(), "%s is a directive that is not known: it is taken to limit nothing", d.Name)
			r.unknown[d.Name] = true
		}
		if !slices.Contains(ofData, d.Name) {
			r.tellUnknown(d.Block)
		}
	}
}

// tellUnlogged tells of requests that count at a place, and that no log has.
func (r *reader) tellUnlogged(d *nginxconf.Directive, limited bool) {
	for _, inner := range d.Block {
		switch {
		case !limited || inner.Name != "access_log":
		case len(inner.Args) == 1 && inner.Args[0] == "off":
			r.Lose(inner.Place(), "access_log off: requests here count there, and no log has them")
		case slices.ContainsFunc(inner.Args, func(a string) bool { return strings.HasPrefix(a, "if=") }):
			r.Tell(inner.Place(), "access_log %s: what that leaves out counts there, and no log has it", strings.Join(inner.Args, " "))
		}
	}
}

// readHTTP reads the servers of a level, or the one that a file of locations is a part of.
func (r *reader) readHTTP(level []*nginxconf.Directive) {
	limits := levelLimits{}.inherit(level)
	var servers []*nginxconf.Directive
	for _, d := range level {
		if d.Name == "server" && d.Block != nil {
			servers = append(servers, d)
			for _, z := range d.Block {
				if z.Name == "limit_req_zone" {
					r.Tell(z.Place(), "nginx takes limit_req_zone in http alone, and refuses this configuration")
				}
			}
		}
	}
	inside := func(d *nginxconf.Directive) bool { return d.Name == "location" }
	for _, d := range level {
		if len(servers) > 0 && inside(d) && hasLimits(d) {
			r.Lose(d.Place(), "this location stands in no server, as nothing here includes it: its limits are left out")
		}
	}
	if len(servers) == 0 && (slices.ContainsFunc(level, inside) || len(limits.limits) > 0) {
		d := &nginxconf.Directive{Name: "server", Block: level}
		if len(level) > 0 {
			d.File, d.Line = level[0].File, level[0].Line
		}
		servers, limits = append(servers, d), levelLimits{}
	}
	hosts := r.hosts(servers, limits)
	for i, d := range servers {
		if hosts[i].Never && len(limits.inherit(d.Block).limits) > 0 {
			r.Lose(d.Place(), "this server gets no request here: another one has its names, or is the default")
		} else if !hosts[i].Never {
			r.readServer(d, hosts[i], limits)
		}
	}
}

// policy are the limits of all uses of limit_req, or of limit_conn: one for each way in which the key of a zone is
// made. Uses of a zone share what it counts.
func (r *reader) policy(of string) neutral.Policy {
	p := neutral.Policy{Name: "nginx", NginxPaths: true}
	for _, name := range slices.Sorted(maps.Keys(r.zones)) {
		z := r.zones[name]
		if z.user() != of || of == "limit_conn" && r.asked["taken out "+name] {
			continue
		}
		var uses []*usage
		for _, u := range r.uses {
			if u.zone == z && len(u.sets) > 0 {
				uses = append(uses, u)
			}
		}
		if len(uses) == 0 {
			why := "no %s uses the zone %s"
			if r.asked["limit_req zone="+name] || r.asked["limit_conn "+name] {
				why = "no request is found that comes to a %s of the zone %s"
			}
			r.Tell(z.Place(), why, of, name)
			continue
		}
		spec, ok := limitOf(z.rate)
		if of == "limit_conn" {
			spec = ""
		} else if !ok {
			r.Lose(z.Place(), "rate=%s is not understood", z.rate)
			continue
		}
		before := len(p.Limits)
		for _, key := range keysIn(uses) {
			p.Limits = append(p.Limits, key.limits(z, spec, uses)...)
		}
		if len(p.Limits) == before {
			r.Tell(uses[0].from[0].Place(), "the zone %s has no key for what comes here: %s limits nothing", name, of)
		}
	}
	return p
}

// serverName is $server_name.
func serverName(d *nginxconf.Directive) string {
	for _, s := range d.Block {
		if s.Name == "server_name" && len(s.Args) > 0 {
			return strings.TrimPrefix(s.Args[0], ".")
		}
	}
	return ""
}
