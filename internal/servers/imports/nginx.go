package imports

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
	"shadow/internal/servers/imports/nginxfiles"
	"shadow/parse"
	"shadow/parse/nginxconf"
)

// nginx: the zone of a limit_req has the key and the rate, the place where limit_req stands has the burst. A request is
// judged by the limits of the one location that it is given to (nginx_choice.go); if any refuses, none is charged. A key
// that is empty is not limited, which maps make use of (nginx_vars.go). limit_conn goes the same ways, in a policy of its
// own: it is asked behind limit_req, which it leaves charged.
// Sources: https://nginx.org/r/limit_req_zone; nginx/nginx 3f6f782, src/http/modules/ngx_http_limit_req_module.c and
// ngx_http_limit_conn_module.c.

var nginxFormat = format{name: "nginx", is: matches(nginxLine), read: readNginx}

var nginxLine = lazy.Regexp(`(?m)^\s*(limit_req(_zone|_status|_dry_run)?\s[^\n]*;|(http|server|events|upstream\s+\S+|location\s[^{\n]+|map\s+\S+\s+\S+|geo\s[^{\n]+)\s*\{([^$\w]|\w+[\s;]|$)|` +
	`(include|server_name|listen|proxy_pass|worker_processes)\s[^\n]*;)`)

// An nginxReader takes apart one configuration.
type nginxReader struct {
	*Import
	base      string // the folder of the configuration, where includes of maps are looked for
	zones     map[string]*nginxZone
	variables map[string]*nginxconf.Directive // maps and geos, by the variable that they make
	set       map[string]*nginxconf.Directive // what `set` makes
	known     map[string][]valueCase          // variables that were evaluated; nil: under way
	uses      []*nginxUse
	white     []*nginxconf.Directive // Tengine's limit_req_whitelist
	unknown   map[string]bool        // directives that were told

	server string                // whose $server_name is asked for
	at     way                   // where variables are asked for
	keys   map[string][]nginxKey // of a server's zones, by the state of ways
	asked  map[string]bool       // variables in maps, conditions and keys; directives, and those with their first word
}

// A zone of limit_req, or of limit_conn, which has no rate.
type nginxZone struct {
	*nginxconf.Directive
	name, rate string
}

// user is the name of the directives that use the zone.
func (z *nginxZone) user() string { return strings.TrimSuffix(z.Name, "_zone") }

// A nginxUse is a limit_req that judges some requests: those lines that say the same of the same zone.
type nginxUse struct {
	zone    *nginxZone
	burst   string
	options string // with the burst
	from    []*nginxconf.Directive
	sets    []nginxSet
	about   []string
}

// size returns the burst as a number, 0 of one that is none.
func (u *nginxUse) size() int64 {
	n, _ := strconv.ParseInt(u.burst, 10, 64)
	return n
}

// A nginxSet is requests with the same cases of a key.
type nginxSet struct {
	Set
	keys []nginxKey
}

// mostLogFormats is the most formats that a log is tried with.
const mostLogFormats = 100

func readNginx(i *Import, file string, text []byte) error {
	top, problems, err := nginxconf.Read(file, text)
	if err != nil {
		return err
	}
	for _, p := range problems {
		if !errors.Is(p, nginxconf.ErrNoFolder) || !documentEnding().MatchString(file) { // parts of a ConfigMap are mounted elsewhere
			i.lose("", "%v", p)
		}
	}
	i.joinNginx(file, top)
	logged := nginxconf.LogFormats(top)
	for _, f := range logged[:min(mostLogFormats, len(logged))] {
		i.Logged = append(i.Logged, f.Text)
	}
	return nil
}

// joinNginx puts a file beside those that it belongs to.
func (i *Import) joinNginx(file string, top []*nginxconf.Directive) {
	if n := len(i.nginx); n > 0 {
		before := i.nginx[n-1]
		if joined, known := before.Join(file, top); known {
			i.tell(file, "%s includes it: it is read once", before.Name)
			return
		} else if joined {
			return
		}
	}
	i.nginx = append(i.nginx, &nginxConfig{nginxfiles.Config{Name: file, Top: top}, len(i.Policies)})
	i.Policies = append(i.Policies, Policy{}) // until all files are there
}

// An nginxConfig is a configuration that was given.
type nginxConfig struct {
	nginxfiles.Config
	policy int // its place among the policies
}

// takeNginx takes the limits of the configurations of nginx that were given.
func (i *Import) takeNginx() {
	for _, f := range i.nginx {
		r := &nginxReader{
			Import: i, base: filepath.Dir(f.Name), zones: map[string]*nginxZone{}, known: map[string][]valueCase{},
			variables: map[string]*nginxconf.Directive{}, set: map[string]*nginxconf.Directive{}, unknown: map[string]bool{},
			asked: map[string]bool{},
		}
		unescape(f.Top)
		if !slices.ContainsFunc(i.Logged, requestTime().MatchString) {
			f.Top = r.withoutConns(f.Top)
		}
		r.declare(f.Top)
		r.tellUnknown(f.Top)
		r.tellMisplaced(f.Top)
		for _, level := range f.Levels() {
			r.readHTTP(level)
		}
		r.tellUnreached(f.Top)
		i.Policies[f.policy] = r.policy("limit_req")
		if p := r.policy("limit_conn"); len(p.Limits) > 0 {
			p.Name = "nginx limit_conn"
			i.Policies = append(i.Policies, p)
		}
		i.checkFrom(f.policy)
	}
	i.nginx = nil
}

var requestTime = lazy.Regexp(`\$\{?request_time\b`)

// withoutConns takes out limit_conn, which no log is judged by that does not tell how long requests take.
func (r *nginxReader) withoutConns(all []*nginxconf.Directive) []*nginxconf.Directive {
	return slices.DeleteFunc(all, func(d *nginxconf.Directive) bool {
		d.Block = r.withoutConns(d.Block)
		if d.Name == "limit_conn" {
			r.lose(d.Place(), "limit_conn bounds how many requests are under way at once, which is judged where a log_format "+
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
func (r *nginxReader) declare(all []*nginxconf.Directive) {
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
			r.lose(d.Place(), "merge_slashes off leaves several slashes, which are one here")
		}
		if endsByLua().MatchString(d.Name + " " + strings.Join(d.Args, " ")) {
			r.lose(d.Place(), "%s may limit or end requests, and Lua is not read", d.Name)
		}
		r.declare(d.Block)
	}
}

// endsByLua fits Lua that stands before limits and is in a file, or has such words.
var endsByLua = lazy.Regexp(`(?s)^\w+_by_lua\w* .*limit|^(server_rewrite|rewrite|access)_by_lua(_file |.*ngx\.(redirect|exit|exec|say|print)\b)`)

// tellMisplaced tells of limits where nginx takes none, of some that are asked by the way, and of a proxy's address.
func (r *nginxReader) tellMisplaced(all []*nginxconf.Directive) {
	zones := map[string]bool{}
	for _, d := range all {
		words := strings.Join(d.Args, " ")
		switch first := namedFirst(d); {
		case d.Name == "limit_req" && zones[first]:
			r.lose(d.Place(), "limit_req %s stands here twice: nginx refuses this configuration", first)
		case d.Name == "limit_req":
			zones[first] = true
		case d.Name == "if" && slices.ContainsFunc(d.Block, hasLimits):
			r.lose(d.Place(), "nginx takes no limit_req within if, and refuses this configuration")
		case d.Name == "location" && hasLimits(d) && len(d.Args) > 0 && r.asked["auth_request "+d.Args[len(d.Args)-1]]:
			r.lose(d.Place(), "auth_request asks this location first: what its limits refuse is not judged")
		case d.Name == "location" && hasLimits(d) && len(d.Args) > 0 && r.asked["mirror "+d.Args[len(d.Args)-1]]:
			r.lose(d.Place(), "mirror sends copies of requests here: only what is logged counts")
		case d.Name == "limit_req_zone" && r.asked["set_real_ip_from"] && strings.Contains(words, proxied):
			r.lose(d.Place(), "%s is the address of the proxy, and requests count by the client here", proxied)
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
func (r *nginxReader) ask(texts ...string) {
	for _, v := range nginxVariable().FindAllString(strings.Join(texts, " "), -1) {
		r.asked[strings.Trim(v, "${}")] = true
	}
}

// ofData are the blocks whose words are no directives.
var ofData = []string{"map", "geo", "geoip2", "types", "split_clients", "charset_map", "match"}

var likeLimits = lazy.Regexp(`(?i)limit|throttl|(^|_)rate(_|$)|flood|(^|_)ban(_|$)|testcookie`)

// tellUnknown tells of directives that no table has, each once. If the name speaks of limits, something is lost.
func (r *nginxReader) tellUnknown(all []*nginxconf.Directive) {
	for _, d := range all {
		switch {
		case d.Name == "limit_req_whitelist" || nginxconf.IsKnown(d.Name) || r.unknown[d.Name]:
		case likeLimits().MatchString(d.Name):
			r.lose(d.Place(), "%s is not understood: what it limits is not judged", d.Name)
			r.unknown[d.Name] = true
		default:
			r.tell(d.Place(), "%s is a directive that is not known: it is taken to limit nothing", d.Name)
			r.unknown[d.Name] = true
		}
		if !slices.Contains(ofData, d.Name) {
			r.tellUnknown(d.Block)
		}
	}
}

// declareZone reads limit_req_zone KEY zone=NAME:SIZE rate=RATE.
func (r *nginxReader) declareZone(d *nginxconf.Directive) {
	z := &nginxZone{Directive: d, rate: "1r/s"}
	requests := d.Name == "limit_req_zone"
	for _, word := range d.Args[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "zone":
			z.name, _, _ = strings.Cut(value, ":")
		case name == "rate" && requests:
			z.rate = value
		case name == "sync":
			r.lose(d.Place(), "sync shares the zone with other machines; here one counts for all")
		default:
			r.lose(d.Place(), "%s: %q is not understood", d.Name, word)
		}
	}
	first, twice := r.zones[z.name]
	switch {
	case z.name == "":
	case !twice:
		r.zones[z.name] = z
	case !slices.Equal(first.Args, d.Args):
		r.lose(d.Place(), "the zone %s is declared otherwise at %s, which counts here", z.name, first.Place())
	}
}

// readHTTP reads the servers of a level, or the one that a file of locations is a part of.
func (r *nginxReader) readHTTP(level []*nginxconf.Directive) {
	limits := nginxLimits{}.inherit(level)
	var servers []*nginxconf.Directive
	for _, d := range level {
		if d.Name == "server" && d.Block != nil {
			servers = append(servers, d)
			for _, z := range d.Block {
				if z.Name == "limit_req_zone" {
					r.tell(z.Place(), "nginx takes limit_req_zone in http alone, and refuses this configuration")
				}
			}
		}
	}
	inside := func(d *nginxconf.Directive) bool { return d.Name == "location" }
	for _, d := range level {
		if len(servers) > 0 && inside(d) && hasLimits(d) {
			r.lose(d.Place(), "this location stands in no server, as nothing here includes it: its limits are left out")
		}
	}
	if len(servers) == 0 && (slices.ContainsFunc(level, inside) || len(limits.limits) > 0) {
		d := &nginxconf.Directive{Name: "server", Block: level}
		if len(level) > 0 {
			d.File, d.Line = level[0].File, level[0].Line
		}
		servers, limits = append(servers, d), nginxLimits{}
	}
	hosts := r.hosts(servers, limits)
	for i, d := range servers {
		if hosts[i].never && len(limits.inherit(d.Block).limits) > 0 {
			r.lose(d.Place(), "this server gets no request here: another one has its names, or is the default")
		} else if !hosts[i].never {
			r.readServer(d, hosts[i], limits)
		}
	}
}

// use returns what a limit_req says; nil if that is not understood.
func (r *nginxReader) use(d *nginxconf.Directive, around nginxLimits) *nginxUse {
	use := &nginxUse{burst: "0"}
	words, dry, status := d.Args, around.dry, around.status
	var options []string
	if d.Name == "limit_conn" {
		use.zone, use.burst, words, dry, status = r.zone(d, d.Args[0]), d.Args[1], nil, around.connDry, around.connStatus
		options = append(options, d.Args[1])
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "zone":
			use.zone = r.zone(d, value)
		case "burst":
			use.burst = value
			options = append(options, word)
		case "delay", "nodelay":
			options = append(options, word)
		default:
			r.lose(d.Place(), "limit_req: %q is not understood", word)
		}
	}
	if use.zone == nil {
		return nil
	}
	slices.Sort(options)
	use.options = strings.Join(options, " ")
	about := d.Place() + " " + d.Name + " " + strings.Join(d.Args, " ")
	if dry == "on" {
		about += ", which is a dry run there"
		r.tell(d.Place(), refusesNothing)
	} else {
		about += ", refused with " + cmp.Or(status, "503")
	}
	i := slices.IndexFunc(r.uses, func(u *nginxUse) bool { return u.zone == use.zone && u.options == use.options })
	if i < 0 {
		i, r.uses = len(r.uses), append(r.uses, use)
	}
	use = r.uses[i]
	if !slices.Contains(use.from, d) {
		use.from = append(use.from, d)
	}
	if !slices.Contains(use.about, about) {
		use.about = append(use.about, about)
	}
	return use
}

// zone returns the zone that a directive names; nil if there is none, or it is one for other directives.
func (r *nginxReader) zone(d *nginxconf.Directive, name string) *nginxZone {
	z := r.zones[name]
	if z == nil || z.user() != d.Name {
		r.lose(d.Place(), "%s: there is no zone %q", d.Name, name)
		return nil
	}
	return z
}

// policy are the limits of all uses of limit_req, or of limit_conn: one for each way in which the key of a zone is
// made. Uses of a zone share what it counts.
func (r *nginxReader) policy(of string) Policy {
	p := Policy{Name: "nginx", nginx: true}
	for _, name := range slices.Sorted(maps.Keys(r.zones)) {
		z := r.zones[name]
		if z.user() != of || of == "limit_conn" && r.asked["taken out "+name] {
			continue
		}
		var uses []*nginxUse
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
			r.tell(z.Place(), why, of, name)
			continue
		}
		spec, ok := nginxLimit(z.rate)
		if of == "limit_conn" {
			spec = ""
		} else if !ok {
			r.lose(z.Place(), "rate=%s is not understood", z.rate)
			continue
		}
		before := len(p.Limits)
		for _, key := range keysIn(uses) {
			p.Limits = append(p.Limits, key.limits(z, spec, uses)...)
		}
		if len(p.Limits) == before {
			r.tell(uses[0].from[0].Place(), "the zone %s has no key for what comes here: %s limits nothing", name, of)
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

var zoneRate = lazy.Regexp(`^\d+(r/[sm])?$`)

// nginxLimit is the limit of a rate, which is one a second where it has no unit.
func nginxLimit(rate string) (text string, ok bool) {
	if text = "nginx:" + rate; !zoneRate().MatchString(rate) {
		return "", false
	} else if !strings.Contains(rate, "r") {
		text += "r/s"
	}
	policies, err := policy.ParseLimits([]string{text}, "")
	return text, err == nil && len(policies) == 1
}
