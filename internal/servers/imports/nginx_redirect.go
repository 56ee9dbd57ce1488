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

// sentOn is the location to which a place sends all that it has, with the directive that does so. With the directive
// alone it may be any other one that has limits.
func (r *nginxReader) sentOn(root, place nginxPlace) (next *nginxPlace, by *nginxconf.Directive) {
	for _, d := range place.Block {
		if d.Name != "rewrite" || len(d.Args) < 2 || strings.Contains(d.Args[1], "://") {
			continue
		}
		if flag := d.Args[len(d.Args)-1]; len(d.Args) > 2 && flag != "last" {
			continue
		}
		if target, known := root.target(d.Args[1]); known && everything().MatchString(d.Args[0]) && target.title() != place.title() {
			return target, d
		}
		if len(place.judging()) == 0 {
			return nil, d
		}
	}
	if len(place.judging()) > 0 {
		return nil, nil
	}
	return root.tried(place)
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
