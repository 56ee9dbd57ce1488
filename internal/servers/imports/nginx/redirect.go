package nginx

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// The way of a request: the server's directives of the rewrite module are run, then those of the location that is chosen, again
// and again where they change the path; then limits are asked. try_files, index and error_page lead on behind limits, for
// what none has judged.
// Sources: nginx/nginx 3f6f782, src/http/modules/ngx_http_rewrite_module.c, ngx_http_rewrite_handler;
// src/http/modules/ngx_http_limit_req_module.c, ngx_http_limit_req_handler (r->main->limit_req_status);
// src/http/ngx_http_core_module.c, ngx_http_internal_redirect, ngx_http_named_location.

var everything = lazy.Regexp(`^(\^|\.\*|\^\.\*\$?|\^?\(\.\*\)\$?|\^/|\^/\(\.\*\)\$?)$`)

const (
	mostHops   = 10   // as nginx allows
	mostWays   = 64   // through the directives of one level
	mostPlaces = 5000 // that the ways of a server come to
)

// A way is requests that have come to a place together.
type way struct {
	set   neutral.Set
	place *Place               // nil: not known yet
	code  string               // with which nginx has answered before limits are asked; "": it has not
	path  string               // "": what was asked for. One that ends with $ goes on in a way that is not known
	by    *nginxconf.Directive // what made the path
	vars  map[string]setValue  // what set made
	moved bool                 // another location is to be chosen
	over  bool                 // no further directive is run
	bare  bool                 // an if fitted, which has no try_files
	again bool                 // limits of another location had no key for them
	hops  int
}

// A setValue is what a set gave a variable.
type setValue struct {
	text    string // with variables
	unknown *nginxconf.Directive
}

// state tells apart ways on which conditions and keys may differ for one request.
func (w way) state() string { return fmt.Sprint(w.path, w.vars) }

// A walker finds the ways of a server.
type walker struct {
	*reader
	root   Place
	all    []way // where they end
	places int   // that they have come to
}

// serve runs the directives of the server.
func (r *walker) serve(w way) {
	w.place, w.moved, w.over = &r.root, false, false
	for _, v := range r.script(r.root.Block, w) {
		if v.code != "" {
			r.all = append(r.all, v)
			continue
		}
		v.place = nil
		r.locate(v)
	}
}

// locate chooses locations, of those that are there already another one.
func (r *walker) locate(w way) {
	if place, known := r.root.reached(w.path); known {
		w.place = place
		r.enter(w)
		return
	}
	if w.path != "" && len(r.root.differing(nil)) > 1 {
		r.Lose(w.by.Place(), "%s %s sends requests on to another location, whose limits then judge them. Here the location "+
			"judges that was asked for", w.by.Name, strings.Join(w.by.Args, " "))
	}
	if w.place != nil {
		r.land(w)
		return
	}
	places, rest := r.root.Choose(w.set)
	for _, c := range append(places, Chosen{Place: r.root, Set: rest}) {
		w.place, w.set = &c.Place, c.Set
		r.enter(w)
	}
}

// enter runs the directives of a location.
func (r *walker) enter(w way) {
	w.moved, w.over, w.bare = false, false, false
	w.hops++
	r.places++
	ways := []way{w}
	switch {
	case w.set.Never:
		return
	case r.places > mostPlaces:
		r.Lose(r.root.Place(), "its requests come to locations on more than %d ways: the others are not judged", mostPlaces)
		return
	case w.place.answers, w.hops > mostHops:
		ways[0].code = "301"
	case w.path == "" && w.hops == 1 && w.place.inside:
		ways[0].code = "404"
	case w.place.Directive != r.root.Directive:
		ways = r.script(w.place.Block, w)
	}
	for _, v := range ways {
		switch {
		case v.code != "":
			r.all = append(r.all, v)
		case v.moved:
			r.locate(v)
		default:
			r.land(v)
		}
	}
}

// land takes down what comes to the limits of a location, and follows the last of what a try_files tries.
func (r *walker) land(w way) {
	at := slices.IndexFunc(w.place.Block, func(d *nginxconf.Directive) bool { return d.Name == "try_files" && len(d.Args) > 1 })
	judged := len(w.place.limits.limits) > 0
	if judged || at < 0 || w.bare {
		r.all = append(r.all, w)
	}
	if at < 0 || w.bare {
		return
	}
	if judged {
		w.set, w.again = r.keyless(w), true
	}
	d := w.place.Block[at]
	to := d.Args[len(d.Args)-1]
	target, known := r.root.target(to)
	switch {
	case w.set.Never:
	case !known && !strings.HasPrefix(to, "="):
		what := map[bool]string{true: "what has no key here", false: "requests"}[judged]
		r.Lose(d.Place(), "%s %s sends %s on to another location, whose limits then judge. Here the location judges that was asked for",
			d.Name, strings.Join(d.Args, " "), what)
		fallthrough
	case !known, w.hops > mostHops:
		w.code = "404"
		r.all = append(r.all, w)
	case strings.HasPrefix(to, "@"):
		r.filesAside(d, target)
		w.place = target
		r.enter(w)
	default:
		r.filesAside(d, target)
		w.by = d
		w.path, _, _ = strings.Cut(to, "?")
		r.serve(w)
	}
}

// script runs directives of the rewrite module. The requests may part there.
func (r *walker) script(block []*nginxconf.Directive, w way) []way {
	ways := []way{w}
	for _, d := range block {
		var next []way
		for _, w := range ways {
			switch {
			case w.set.Never:
			case w.over:
				next = append(next, w)
			default:
				next = append(next, r.step(d, w)...)
			}
		}
		if ways = next; len(ways) > mostWays {
			r.Lose(d.Place(), "there are more than %d ways through the directives up to %s: what follows is not asked", mostWays, d.Name)
			return ways
		}
	}
	return slices.DeleteFunc(ways, func(w way) bool { return w.set.Never })
}

// step runs a directive.
func (r *walker) step(d *nginxconf.Directive, w way) []way {
	switch {
	case d.Name == "return":
		w.code, w.over = cmp.Or(strings.Join(d.Args[:min(1, len(d.Args))], ""), "302"), true
	case d.Name == "break":
		w.moved, w.over = false, true
	case d.Name == "rewrite" && len(d.Args) > 1:
		return r.rewrite(d, w)
	case d.Name == "set" && len(d.Args) == 2:
		w.vars = r.assigned(d, w, nil)
	case d.Name == "if":
		return r.branch(d, w)
	}
	return []way{w}
}

// rewrite parts requests that an expression fits from the others.
func (r *walker) rewrite(d *nginxconf.Directive, w way) []way {
	fits, known := fitsRewrite(d.Args[0], w.path)
	if !known {
		r.Lose(d.Place(), "rewrite %s is not understood: the location judges that was asked for", strings.Join(d.Args, " "))
		return []way{w}
	}
	left := w
	left.set, w.set = w.set.And(fits.Except()), w.set.And(fits)
	flag := strings.Join(d.Args[2:], " ")
	outside := slices.ContainsFunc([]string{"http://", "https://", "$scheme"}, func(p string) bool { return strings.HasPrefix(d.Args[1], p) })
	w.by, w.moved, w.over = d, flag != "break", flag != ""
	path, _, _ := strings.Cut(d.Args[1], "?")
	if begin, _, variable := strings.Cut(path, "$"); variable || !strings.HasPrefix(path, "/") {
		path = begin + "$"
	}
	if w.path = path; outside || flag == "redirect" || flag == "permanent" {
		w.code, w.over = "302", true
	}
	return []way{w, left}
}

// branch parts requests that an if fits from the others.
func (r *walker) branch(d *nginxconf.Directive, w way) []way {
	has := func(block []*nginxconf.Directive, names ...string) bool {
		return slices.ContainsFunc(block, func(d *nginxconf.Directive) bool { return slices.Contains(names, d.Name) })
	}
	tries := has(w.place.Block, "try_files")
	if !tries && !has(d.Block, "return", "rewrite", "break", "set") {
		return []way{w}
	}
	before := w
	fits, known := r.on(w).condition(d)
	if !known {
		for _, inner := range d.Block {
			switch inner.Name {
			case "return", "rewrite", "break":
				r.Lose(d.Place(), "if (%s) { %s … } is not understood: requests that it answers or sends elsewhere count here",
					strings.Join(d.Args, " "), inner.Name)
			case "set":
				w.vars = r.assigned(inner, w, d)
			}
		}
		return []way{w}
	}
	left := w
	left.set, w.set = w.set.And(fits.Except()), w.set.And(fits)
	w.bare = w.bare || tries
	ways := r.script(d.Block, w)
	if len(ways) == 1 && !ways[0].over && ways[0].bare == left.bare && ways[0].moved == left.moved && ways[0].state() == left.state() {
		return []way{before}
	}
	return append(ways, left)
}

// assigned are the variables of a way behind a set, which may be in an if that is not understood.
func (r *walker) assigned(d *nginxconf.Directive, w way, unknown *nginxconf.Directive) map[string]setValue {
	name := strings.TrimPrefix(d.Args[0], "$")
	if !r.asked[name] {
		return w.vars
	}
	value := setValue{unknown: unknown}
	value.text = variablePattern().ReplaceAllStringFunc(d.Args[1], func(v string) string {
		inner := strings.Trim(v, "${}")
		before, known := w.vars[inner]
		switch {
		case known && before.unknown != nil, strings.Trim(inner, "0123456789") == "", strings.HasSuffix(inner, "uri") && inner != "request_uri" && w.path != "":
			value.unknown = d
		case known, r.set[inner] != nil:
			return before.text
		}
		return v
	})
	vars := map[string]setValue{}
	maps.Copy(vars, w.vars)
	vars[name] = value
	return vars
}

// differing adds the lists of limits that judge the requests of a place and of those within it, each once.
func (p *Place) differing(lists [][]*nginxconf.Directive) [][]*nginxconf.Directive {
	if !slices.ContainsFunc(lists, func(l []*nginxconf.Directive) bool { return slices.Equal(l, p.limits.limits) }) {
		lists = append(lists, p.limits.limits)
	}
	for i := range p.Within {
		lists = p.Within[i].differing(lists)
	}
	return lists
}

// fitsRewrite is the set of requests that an expression fits, of those that ask for a path, as a way has it; false if that is
// not known.
func fitsRewrite(pattern, path string) (neutral.Set, bool) {
	re, err := regexp.Compile(pattern)
	switch {
	case everything().MatchString(pattern):
		return neutral.Set{}, true
	case err != nil:
		return neutral.None, false
	case path == "":
		return neutral.Within("regexp", pattern), true
	case strings.HasSuffix(path, "$"): // what no path with this beginning can fit is known, too
		begin, ok := strings.CutPrefix(pattern, "^")
		literal, _ := regexp.MustCompile(begin).LiteralPrefix()
		n := min(len(literal), len(path)-1)
		return neutral.None, ok && literal[:n] != path[:n]
	case re.MatchString(path):
		return neutral.Set{}, true
	}
	return neutral.None, true
}

// keyless are the requests of a way that its limits do not judge, as no key of theirs has a text.
func (r *reader) keyless(w way) neutral.Set {
	set := w.set
	for _, l := range w.place.limits.limits {
		if use := r.use(l, w.place.limits); use != nil {
			keys := mapped.Add(nil, r.keysOf(use.zone, w), func(k zoneKey) neutral.Set { return k.Set })
			set = set.And(neutral.Union(keys...).Except())
		}
	}
	return set
}
