package imports

import (
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/parse/nginxconf"
)

// Where a location sends requests on to another one, whose limits then judge them: a rewrite does so before limits are
// asked, try_files and index behind them, for those that no limit has judged.
// Source: nginx/nginx 3f6f782, src/http/modules/ngx_http_limit_req_module.c, ngx_http_limit_req_handler
// (r->main->limit_req_status); src/http/ngx_http.h (the order of phases).

var everything = lazy.Regexp(`^(\^|\.\*|\^\.\*\$?|\^?\(\.\*\)\$?|\^/|\^/\(\.\*\)\$?)$`)

// judge is the location whose limits judge the requests of a place.
func (r *nginxReader) judge(root, place nginxPlace) nginxPlace {
	for hops := 0; place.Directive != nil && !place.answers && hops < 10; hops++ {
		next, by := r.sentOn(root, place)
		switch {
		case next == nil && by != nil:
			r.lose(by.Place(), "%s %s sends requests on to another location, whose limits then judge them. Here the location "+
				"judges that was asked for", by.Name, strings.Join(by.Args, " "))
			return place
		case next == nil:
			return place
		}
		r.filesAside(by, next)
		place = *next
	}
	return place
}

// title returns the name of a location: its kind and its pattern.
func (p *nginxPlace) title() string { return strings.TrimSpace(p.kind + " " + p.pattern) }

// sentOn is the location to which try_files sends all that a place has, with the directive. With the directive alone it may
// be any other one that has limits.
func (r *nginxReader) sentOn(root, place nginxPlace) (next *nginxPlace, by *nginxconf.Directive) {
	if len(place.judging()) > 0 {
		return nil, nil
	}
	return root.tried(place)
}

// mostRewrites bounds how often nginx rewrites a request.
const mostRewrites = 10

// rewritten follows rewrites: first those of the server, then those of the location, again and again. Each takes the
// requests whose path it fits to the location of the path that it makes.
// Source: nginx/nginx 3f6f782, src/http/modules/ngx_http_rewrite_module.c, ngx_http_rewrite_handler.
func (r *nginxReader) rewritten(root nginxPlace, places []chosen) (all []chosen) {
	w := rewriting{nginxReader: r, root: root}
	for _, p := range places {
		left := w.follow(root.Directive, p, "", 0)
		if p.place.Directive != nil && p.place.Directive != root.Directive && !root.answers {
			left = w.follow(p.place.Directive, left, "", 0)
		}
		w.all = append(w.all, left)
	}
	return w.all
}

// A rewriting follows the rewrites of a server.
type rewriting struct {
	*nginxReader
	root nginxPlace
	all  []chosen
}

// follow follows the rewrites of a level, and returns what stays where it is. path is what the requests ask for after earlier
// ones; "": what they came with. One that ends with a $ goes on in a way that is not known.
func (w *rewriting) follow(level *nginxconf.Directive, p chosen, path string, hops int) (left chosen) {
	for n, d := range level.Block {
		switch {
		case d.Name == "return", p.set.never, hops > mostRewrites:
			return p
		case d.Name != "rewrite" || len(d.Args) < 2:
			continue
		}
		flag := strings.Join(d.Args[2:], " ")
		fits, known := fitsRewrite(d.Args[0], path)
		outside := strings.Contains(d.Args[1], "://") || flag == "redirect" || flag == "permanent"
		stays := flag == "break" && level != w.root.Directive
		target, to := w.root.rewriteTarget(d.Args[1])
		again := flag == "" && !outside && target != nil && rewritesAlso(level.Block[n+1:], to)
		switch {
		case known && fits.never:
			continue
		case !known, target == nil && !outside && !stays, again:
			if len(w.root.differing(nil)) > 1 {
				w.lose(d.Place(), "rewrite %s sends requests on to another location, whose limits then judge them. Here the location "+
					"judges that was asked for", strings.Join(d.Args, " "))
			}
			return p
		}
		moved := chosen{place: p.place, set: p.set.and(fits)}
		switch {
		case outside: // answered before limits are asked
			moved.place = nginxPlace{Directive: level, answers: true}
		case !stays:
			moved.place = *target
			if target.Directive != w.root.Directive {
				moved = w.follow(target.Directive, moved, to, hops+1)
			}
		}
		w.all = append(w.all, moved)
		p.set = p.set.and(fits.except())
	}
	return p
}

// rewritesAlso reports whether one of some rewrites may fit a path.
func rewritesAlso(some []*nginxconf.Directive, path string) bool {
	return slices.ContainsFunc(some, func(d *nginxconf.Directive) bool {
		if d.Name != "rewrite" || len(d.Args) < 2 {
			return false
		}
		fits, known := fitsRewrite(d.Args[0], path)
		return !known || !fits.never
	})
}

// differing adds the lists of limits that judge the requests of a place and of those within it, each once.
func (p *nginxPlace) differing(lists [][]*nginxconf.Directive) [][]*nginxconf.Directive {
	if !slices.ContainsFunc(lists, func(l []*nginxconf.Directive) bool { return slices.Equal(l, p.limits.limits) }) {
		lists = append(lists, p.limits.limits)
	}
	for i := range p.within {
		lists = p.within[i].differing(lists)
	}
	return lists
}

// fitsRewrite is the set of requests that an expression fits, of those that ask for a path, see rewriteAll; false if that is
// not known.
func fitsRewrite(pattern, path string) (Set, bool) {
	re, err := regexp.Compile(pattern)
	switch {
	case everything().MatchString(pattern):
		return Set{}, true
	case err != nil:
		return none, false
	case path == "":
		return within("regexp", pattern), true
	case strings.HasSuffix(path, "$"): // what no path with this beginning can fit is known, too
		begin, ok := strings.CutPrefix(pattern, "^")
		literal, _ := regexp.MustCompile(begin).LiteralPrefix()
		n := min(len(literal), len(path)-1)
		return none, ok && literal[:n] != path[:n]
	case re.MatchString(path):
		return Set{}, true
	}
	return none, true
}

// rewriteTarget is the location of what a rewrite makes, with its path as in rewriteAll; nil if that is not known.
func (p *nginxPlace) rewriteTarget(text string) (*nginxPlace, string) {
	path, _, _ := strings.Cut(text, "?")
	begin, _, variable := strings.Cut(path, "$")
	if !strings.HasPrefix(begin, "/") {
		return nil, ""
	}
	if variable {
		path = begin + "$"
		if !p.leadsToOne(begin) {
			return nil, ""
		}
	}
	found, _ := p.find(begin)
	target := *found
	target.inside = false
	return &target, path
}

// leadsToOne reports whether all paths that begin so are given to one location.
func (p *nginxPlace) leadsToOne(begin string) bool {
	for i := range p.within {
		q := &p.within[i]
		switch q.kind {
		case "=", "", "^~":
			if strings.HasPrefix(q.pattern, begin) && q.pattern != begin || q.kind == "=" && q.pattern == begin {
				return false
			}
			if strings.HasPrefix(begin, q.pattern) && !q.leadsToOne(begin) {
				return false
			}
		default:
			if found, _ := p.find(begin); found.kind != "^~" {
				return false
			}
		}
	}
	return true
}

// tried is the location to which try_files sends what a place has, with the directive.
func (p *nginxPlace) tried(place nginxPlace) (next *nginxPlace, by *nginxconf.Directive) {
	for _, d := range place.Block {
		if d.Name != "try_files" || len(d.Args) < 2 || strings.HasPrefix(d.Args[len(d.Args)-1], "=") {
			continue
		}
		if target, known := p.target(d.Args[len(d.Args)-1]); known && target.title() != place.title() {
			return target, d
		} else if !known {
			return nil, d
		}
	}
	return nil, nil
}

// keyless are the requests that limits do not judge, as no key of theirs has a text.
func (r *nginxReader) keyless(limits []*nginxconf.Directive) Set {
	set := Set{}
	for _, l := range limits {
		for _, word := range l.Args {
			if z := r.zones[strings.TrimPrefix(word, "zone=")]; z != nil && strings.HasPrefix(word, "zone=") {
				var keys []Set
				for _, k := range r.keysOf(z) {
					keys = append(keys, k.set)
				}
				set = set.and(union(keys...).except())
			}
		}
	}
	return set
}

// judgeLater is the location that judges what the limits of another one do not, and which requests these are.
func (r *nginxReader) judgeLater(root, judge nginxPlace) (later nginxPlace, set Set) {
	next, by := root.tried(judge)
	if by == nil || len(judge.judging()) == 0 {
		return later, none
	}
	if set = r.keyless(judge.judging()); set.never {
		return later, none
	}
	if next == nil {
		r.lose(by.Place(), "%s %s sends what has no key here on to another location, whose limits then judge it. Here none does",
			by.Name, strings.Join(by.Args, " "))
		return later, none
	}
	r.filesAside(by, next)
	return r.judge(root, *next), set
}

// filesAside tells that files are not limited.
func (r *nginxReader) filesAside(by *nginxconf.Directive, next *nginxPlace) {
	files := by.Name == "try_files" && slices.ContainsFunc(by.Args, func(a string) bool { return strings.HasPrefix(a, "$") })
	if files && len(next.judging()) > 0 {
		r.lose(by.Place(), "%s %s: files that are there are not limited, and a log does not say which are: all requests "+
			"count as those of location %s", by.Name, strings.Join(by.Args, " "), next.title())
	}
}

// target is the location that gets a path, or that has a name; false where variables make it.
func (p *nginxPlace) target(text string) (*nginxPlace, bool) {
	if strings.HasPrefix(text, "@") {
		i := slices.IndexFunc(p.named, func(q nginxPlace) bool { return q.pattern == text })
		if i < 0 {
			return nil, false
		}
		return &p.named[i], true
	}
	path, _, _ := strings.Cut(text, "?")
	if strings.Contains(path, "$") || !strings.HasPrefix(path, "/") {
		return nil, false
	}
	found, _ := p.find(path)
	return found, true
}

// find is the location of a path, as choose has it for all; done where no level around it is asked for expressions.
func (p *nginxPlace) find(path string) (found *nginxPlace, done bool) {
	var longest *nginxPlace
	for i := range p.within {
		q := &p.within[i]
		switch {
		case q.kind == "=" && q.pattern == path:
			return q, true
		case (q.kind == "" || q.kind == "^~") && strings.HasPrefix(path, q.pattern) &&
			(longest == nil || len(q.pattern) > len(longest.pattern)):
			longest = q
		}
	}
	found = p
	if longest != nil {
		if found, done = longest.find(path); done || longest.kind == "^~" {
			return found, done
		}
	}
	for i := range p.within {
		q := &p.within[i]
		if q.kind != "~" && q.kind != "~*" {
			continue
		}
		pattern := q.pattern
		if q.kind == "~*" {
			pattern = "(?i)" + pattern
		}
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(path) {
			found, _ = q.find(path)
			return found, true
		}
	}
	return found, false
}

// aside tells of requests that count in other locations besides: for pages of errors and for folders.
func (r *nginxReader) aside(root nginxPlace, places []chosen) {
	for _, c := range places {
		if c.set.never || c.place.Directive == nil {
			continue
		}
		if judge := r.judge(root, c.place); len(judge.judging()) > 0 && r.keyless(judge.judging()).never {
			continue // a request is judged once
		}
		blocks := c.place.Block
		if c.place.Directive != root.Directive {
			blocks = slices.Concat(blocks, root.Block)
		}
		passes := slices.ContainsFunc(c.place.Block, func(d *nginxconf.Directive) bool {
			return strings.HasSuffix(d.Name, "_pass") || d.Name == "try_files"
		})
		for _, d := range blocks {
			names := d.Args
			switch {
			case d.Name == "error_page" && len(names) > 1:
				names = names[len(names)-1:]
			case d.Name != "index" || passes || c.place.answers || c.place.kind != "":
				continue
			}
			for _, name := range names {
				if d.Name == "index" && !strings.HasPrefix(name, "/") {
					name = strings.TrimSuffix(c.place.pattern, "/") + "/" + name
				}
				if target, known := root.target(name); known && target.title() != c.place.title() && len(target.judging()) > 0 {
					r.lose(d.Place(), "%s %s: what it sends to location %s counts there as well, and here only what asks for that",
						d.Name, strings.Join(d.Args, " "), target.title())
				}
			}
		}
	}
}
