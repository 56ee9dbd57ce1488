package imports

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"shadow/parse/nginxconf"
)

// Which location a request is given to: that with = and its whole path; else the longest prefix, and those within it;
// then the first expression that fits, unless the prefix has ^~. A location within a prefix gives way to expressions
// beside the prefix, one within an expression does not.
// Source: nginx/nginx 3f6f782, src/http/ngx_http_core_module.c, ngx_http_core_find_location.

// A nginxPlace is a location, or a server.
type nginxPlace struct {
	*nginxconf.Directive
	kind    string // "", "=", "^~", "~", "~*"
	pattern string
	within  []nginxPlace
	named   []nginxPlace // of a server
	limits  nginxLimits
	answers bool // by itself, before limits are asked
	inside  bool // only other locations lead there
}

// A nginxLimits is what a level says of limit_req and limit_conn: one that has some of a name does not inherit those
// around it.
type nginxLimits struct {
	limits                           []*nginxconf.Directive // all, those of limit_req first
	requests                         int                    // how many these are
	dry, status, connDry, connStatus string
}

func (l nginxLimits) inherit(level []*nginxconf.Directive) nginxLimits {
	requests, conns := l.limits[:l.requests], l.limits[l.requests:]
	var ownRequests, ownConns []*nginxconf.Directive
	for _, d := range level {
		switch {
		case d.Name == "limit_req" && len(d.Args) > 0:
			ownRequests = append(ownRequests, d)
		case d.Name == "limit_conn" && len(d.Args) == 2:
			ownConns = append(ownConns, d)
		case d.Name == "limit_conn_dry_run" && len(d.Args) == 1:
			l.connDry = d.Args[0]
		case d.Name == "limit_conn_status" && len(d.Args) == 1:
			l.connStatus = d.Args[0]
		case d.Name == "limit_req_dry_run" && len(d.Args) == 1:
			l.dry = d.Args[0]
		case d.Name == "limit_req_status" && len(d.Args) == 1:
			l.status = d.Args[0]
		}
	}
	if ownRequests != nil {
		requests = ownRequests
	}
	if ownConns != nil {
		conns = ownConns
	}
	l.limits, l.requests = slices.Concat(requests, conns), len(requests)
	return l
}

// level reads a server or location with those within it.
func (r *nginxReader) level(d *nginxconf.Directive, p nginxPlace, around nginxLimits) nginxPlace {
	p.Directive, p.limits = d, around.inherit(d.Block)
	p.inside = p.inside || slices.ContainsFunc(d.Block, func(d *nginxconf.Directive) bool { return d.Name == "internal" })
	for _, inner := range d.Block {
		if inner.Name != "location" {
			continue
		}
		q := nginxPlace{inside: p.inside}
		switch {
		case len(inner.Args) == 2 && slices.Contains([]string{"=", "^~", "~", "~*"}, inner.Args[0]):
			q.kind, q.pattern = inner.Args[0], inner.Args[1]
		case len(inner.Args) == 1:
			q.pattern = inner.Args[0]
			for _, kind := range []string{"=", "^~", "~*", "~"} { // the blank behind it may be missing
				if rest, ok := strings.CutPrefix(q.pattern, kind); ok {
					q.kind, q.pattern = kind, rest
					break
				}
			}
		default:
			r.lose(inner.Place(), "location %s is not understood", strings.Join(inner.Args, " "))
			continue
		}
		if strings.HasPrefix(q.pattern, "@") { // only another location leads there
			p.named = append(p.named, r.level(inner, q, p.limits))
			continue
		}
		if (q.kind == "~" || q.kind == "~*") && !r.isRegexp(inner, q.pattern) {
			continue
		}
		p.within = append(p.within, r.level(inner, q, p.limits))
	}
	return p
}

// tellUnreached tells of named and internal locations whose limits no request is found to come to: a module may send some
// there, and so may X-Accel-Redirect.
func (r *nginxReader) tellUnreached(all []*nginxconf.Directive) {
	for _, d := range all {
		internal := slices.ContainsFunc(d.Block, func(l *nginxconf.Directive) bool { return l.Name == "internal" })
		if name := strings.Join(d.Args, " "); d.Name == "location" && (internal || strings.HasPrefix(name, "@")) &&
			slices.ContainsFunc(d.Block, func(l *nginxconf.Directive) bool {
				return l.Name == "limit_req" && !slices.ContainsFunc(r.uses, func(u *nginxUse) bool { return slices.Contains(u.from, l) })
			}) {
			r.lose(d.Place(), "no request is found that comes to location %s: what it limits is not judged", name)
		}
		r.tellUnreached(d.Block)
	}
}

// isRegexp reports whether an expression is one in Go too, and says so if not.
func (r *nginxReader) isRegexp(d *nginxconf.Directive, pattern string) bool {
	_, err := regexp.Compile(pattern)
	if err != nil {
		r.lose(d.Place(), "%s %s cannot be read in Go's syntax (%v): its requests are judged as if it were not there", d.Name,
			strings.Join(d.Args, " "), err)
	}
	return err == nil
}

// judging are the limits of a place that does not answer by itself.
func (p *nginxPlace) judging() []*nginxconf.Directive {
	if p.answers || slices.ContainsFunc(p.Block, func(d *nginxconf.Directive) bool { return d.Name == "return" }) {
		return nil
	}
	return p.limits.limits
}

// A chosen place gets some requests.
type chosen struct {
	place nginxPlace
	set   Set
	final bool // expressions beside it have no say
	done  bool // nor have those of the levels around it
}

// set is the requests whose path a location fits.
func (p *nginxPlace) set() Set {
	switch p.kind {
	case "=":
		return exactly(p.pattern)
	case "~":
		return within("regexp", p.pattern)
	case "~*":
		return within("regexp", "(?i)"+p.pattern)
	}
	return below(p.pattern)
}

// choose gives the requests of a place to those within it. What is left to the place itself is the rest.
func (p *nginxPlace) choose(region Set) (all []chosen, rest Set) {
	var fixed, regexps []nginxPlace
	for _, q := range p.within {
		if q.kind == "~" || q.kind == "~*" {
			regexps = append(regexps, q)
		} else {
			fixed = append(fixed, q)
			if exact := q.redirects(p.within); exact != nil {
				fixed = append(fixed, *exact)
			}
		}
	}
	slices.SortStableFunc(fixed, func(a, b nginxPlace) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
	all, rest = chooseFixed(fixed, region)
	if len(regexps) == 0 {
		return all, rest
	}
	// Expressions take what is not final.
	left := region
	for _, c := range all {
		if c.final {
			left = left.and(c.set.except())
		}
	}
	more, taken := chooseExpressions(regexps, left)
	for i := range all {
		if !all[i].final {
			all[i].set = all[i].set.and(taken.except())
		}
	}
	return append(all, more...), rest.and(taken.except())
}

// chooseFixed gives requests to prefixes and whole paths, the longest first. What is left is the rest.
func chooseFixed(fixed []nginxPlace, region Set) (all []chosen, rest Set) {
	rest = region
	for i := range fixed {
		q := &fixed[i]
		if !covered(fixed, q, "") {
			rest = rest.and(q.set().except())
		}
		if q.kind == "=" {
			all = append(all, chosen{*q, region.and(q.set()), true, true})
			continue
		}
		inner, own := q.choose(region.and(q.alone(fixed)))
		for k := range inner {
			inner[k].final = inner[k].done || q.kind == "^~"
		}
		all = append(append(all, inner...), chosen{*q, own, q.kind == "^~", false})
	}
	return all, rest
}

// chooseExpressions gives requests to expressions, the first before the others, and returns what these fit.
func chooseExpressions(regexps []nginxPlace, left Set) (all []chosen, taken Set) {
	var before []Set
	for i := range regexps {
		q := &regexps[i]
		set := left.and(q.set())
		for _, b := range before {
			set = set.and(b.except())
		}
		before = append(before, q.set())
		inner, own := q.choose(set)
		for k := range inner {
			inner[k].final, inner[k].done = true, true
		}
		all = append(append(all, inner...), chosen{*q, own, true, true})
	}
	return all, union(before...)
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

// reached is the location of a path as a way has it; false if that is not known.
func (p *nginxPlace) reached(path string) (*nginxPlace, bool) {
	begin, open := strings.CutSuffix(path, "$")
	if !strings.HasPrefix(begin, "/") || open && !p.leadsToOne(begin) {
		return nil, false
	}
	found, _ := p.find(begin)
	return found, true
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

// alone returns what a prefix fits, and no longer one beside it, and no = either.
func (p *nginxPlace) alone(beside []nginxPlace) Set {
	set := p.set()
	for i := range beside {
		q := &beside[i]
		if longer := len(q.pattern) > len(p.pattern) || q.kind == "=" && q.pattern == p.pattern; longer &&
			strings.HasPrefix(q.pattern, p.pattern) && !covered(beside, q, p.pattern) {
			set = set.and(q.set().except())
		}
	}
	return set
}

// covered reports whether another prefix, longer than one, has all that a place has.
func covered(beside []nginxPlace, p *nginxPlace, than string) bool {
	return slices.ContainsFunc(beside, func(q nginxPlace) bool {
		return q.kind != "=" && len(q.pattern) > len(than) && strings.HasPrefix(p.pattern, q.pattern) &&
			(len(q.pattern) < len(p.pattern) || p.kind == "=")
	})
}

// redirects returns the place where nginx answers a path that lacks the slash at its end: without limits.
func (p *nginxPlace) redirects(beside []nginxPlace) *nginxPlace {
	short, ok := strings.CutSuffix(p.pattern, "/")
	if !ok || short == "" || p.kind == "=" || p.Directive == nil {
		return nil
	}
	passes := slices.ContainsFunc(p.Block, func(d *nginxconf.Directive) bool { return strings.HasSuffix(d.Name, "_pass") })
	there := slices.ContainsFunc(beside, func(q nginxPlace) bool { return !strings.HasPrefix(q.kind, "~") && q.pattern == short })
	if !passes || there {
		return nil
	}
	bare := &nginxconf.Directive{Name: p.Name, Args: p.Args, File: p.File, Line: p.Line} // no rewrite is asked
	return &nginxPlace{Directive: bare, kind: "=", pattern: short, answers: true}
}

// A judged is the ways of a server that end at a limit, by the same key.
type judged struct {
	use  *nginxUse
	keys []nginxKey
	at   map[int]bool
}

// set are the requests of these ways: those that they have, or those that no others have, whichever is shorter to say.
func (j *judged) set(ways []way) Set {
	var in, out, again []Set
	for n, w := range ways {
		switch {
		case j.at[n] && w.again:
			again = append(again, w.set)
		case j.at[n]:
			in = append(in, w.set)
		case !w.again:
			out = append(out, w.set)
		}
	}
	set := union(in...)
	if other := union(out...).except(); other.size() < set.size() || len(out) == 0 {
		set = other
	}
	return union(append(again, set)...)
}

// readServer takes down which limits judge the requests of each location.
func (r *nginxReader) readServer(d *nginxconf.Directive, host Set, limits nginxLimits) {
	r.server, r.keys = serverName(d), map[string][]nginxKey{}
	w := walker{nginxReader: r, root: r.level(d, nginxPlace{}, limits)}
	w.serve(way{})
	var all []*judged
	for n, at := range w.all {
		if at.code != "" {
			continue
		}
		for _, l := range at.place.limits.limits {
			use := r.use(l, at.place.limits)
			if use == nil {
				continue
			}
			keys := r.keysOf(use.zone, at)
			same := func(j *judged) bool { return j.use == use && slices.EqualFunc(j.keys, keys, nginxKey.same) }
			k := slices.IndexFunc(all, same)
			if k < 0 {
				k, all = len(all), append(all, &judged{use: use, keys: keys, at: map[int]bool{}})
			}
			all[k].at[n] = true
		}
	}
	for _, j := range all {
		j.use.sets = append(j.use.sets, nginxSet{host.and(j.set(w.all)), j.keys})
	}
	w.aside()
}
