package nginx

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"shadow/internal/servers/imports/neutral"
	"shadow/parse/nginxconf"
)

// Which location a request is given to: that with = and its whole path; else the longest prefix, and those within it;
// then the first expression that fits, unless the prefix has ^~. A location within a prefix gives way to expressions
// beside the prefix, one within an expression does not.
// Source: nginx/nginx 3f6f782, src/http/ngx_http_core_module.c, ngx_http_core_find_location.

// A Place is a location, or a server.
type Place struct {
	*nginxconf.Directive
	Kind    string // "", "=", "^~", "~", "~*"
	Pattern string
	Within  []Place
	named   []Place // of a server
	limits  levelLimits
	answers bool // by itself, before limits are asked
	inside  bool // only other locations lead there
}

// levelLimits has what a level says of limit_req and limit_conn: one that has some of a name does not inherit those
// around it.
type levelLimits struct {
	limits                           []*nginxconf.Directive // all, those of limit_req first
	requests                         int                    // how many these are
	dry, status, connDry, connStatus string
}

func (l levelLimits) inherit(level []*nginxconf.Directive) levelLimits {
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
func (r *reader) level(d *nginxconf.Directive, p Place, around levelLimits) Place {
	p.Directive, p.limits = d, around.inherit(d.Block)
	p.inside = p.inside || slices.ContainsFunc(d.Block, func(d *nginxconf.Directive) bool { return d.Name == "internal" })
	for _, inner := range d.Block {
		if inner.Name != "location" {
			continue
		}
		q := Place{inside: p.inside}
		switch {
		case len(inner.Args) == 2 && slices.Contains([]string{"=", "^~", "~", "~*"}, inner.Args[0]):
			q.Kind, q.Pattern = inner.Args[0], inner.Args[1]
		case len(inner.Args) == 1:
			q.Pattern = inner.Args[0]
			for _, kind := range []string{"=", "^~", "~*", "~"} { // the blank behind it may be missing
				if rest, ok := strings.CutPrefix(q.Pattern, kind); ok {
					q.Kind, q.Pattern = kind, rest
					break
				}
			}
		default:
			r.Lose(inner.Place(), "location %s is not understood", strings.Join(inner.Args, " "))
			continue
		}
		if strings.HasPrefix(q.Pattern, "@") { // only another location leads there
			p.named = append(p.named, r.level(inner, q, p.limits))
			continue
		}
		if (q.Kind == "~" || q.Kind == "~*") && !r.isRegexp(inner, q.Pattern) {
			continue
		}
		p.Within = append(p.Within, r.level(inner, q, p.limits))
	}
	r.tellUnlogged(d, len(p.judging()) > 0)
	return p
}

// tellUnreached tells of named and internal locations whose limits no request is found to come to: a module may send some
// there, and so may X-Accel-Redirect.
func (r *reader) tellUnreached(all []*nginxconf.Directive) {
	for _, d := range all {
		internal := slices.ContainsFunc(d.Block, func(l *nginxconf.Directive) bool { return l.Name == "internal" })
		if name := strings.Join(d.Args, " "); d.Name == "location" && (internal || strings.HasPrefix(name, "@")) &&
			slices.ContainsFunc(d.Block, func(l *nginxconf.Directive) bool {
				return l.Name == "limit_req" && !slices.ContainsFunc(r.uses, func(u *usage) bool { return slices.Contains(u.from, l) })
			}) {
			r.Lose(d.Place(), "no request is found that comes to location %s: what it limits is not judged", name)
		}
		r.tellUnreached(d.Block)
	}
}

// isRegexp reports whether an expression is one in Go too, and says so if not.
func (r *reader) isRegexp(d *nginxconf.Directive, pattern string) bool {
	_, err := regexp.Compile(pattern)
	if err != nil {
		r.Lose(d.Place(), "%s %s cannot be read in Go's syntax (%v): its requests are judged as if it were not there", d.Name,
			strings.Join(d.Args, " "), err)
	}
	return err == nil
}

// judging are the limits of a place that does not answer by itself.
func (p *Place) judging() []*nginxconf.Directive {
	if p.answers || slices.ContainsFunc(p.Block, func(d *nginxconf.Directive) bool { return d.Name == "return" }) {
		return nil
	}
	return p.limits.limits
}

// A Chosen place gets some requests.
type Chosen struct {
	Place Place
	Set   neutral.Set
	final bool // expressions beside it have no say
	done  bool // nor have those of the levels around it
}

// Set is the requests whose path a location fits.
func (p *Place) set() neutral.Set {
	switch p.Kind {
	case "=":
		return neutral.Exactly(p.Pattern)
	case "~":
		return neutral.Within("regexp", p.Pattern)
	case "~*":
		return neutral.Within("regexp", "(?i)"+p.Pattern)
	}
	return neutral.Below(p.Pattern)
}

// Choose gives the requests of a place to those within it. What is left to the place itself is the rest.
func (p *Place) Choose(region neutral.Set) (all []Chosen, rest neutral.Set) {
	var fixed, regexps []Place
	for _, q := range p.Within {
		if q.Kind == "~" || q.Kind == "~*" {
			regexps = append(regexps, q)
		} else {
			fixed = append(fixed, q)
			if exact := q.redirects(p.Within); exact != nil {
				fixed = append(fixed, *exact)
			}
		}
	}
	slices.SortStableFunc(fixed, func(a, b Place) int { return cmp.Compare(len(b.Pattern), len(a.Pattern)) })
	all, rest = chooseFixed(fixed, region)
	if len(regexps) == 0 {
		return all, rest
	}
	// Expressions take what is not final.
	left := region
	for _, c := range all {
		if c.final {
			left = left.And(c.Set.Except())
		}
	}
	more, taken := chooseExpressions(regexps, left)
	for i := range all {
		if !all[i].final {
			all[i].Set = all[i].Set.And(taken.Except())
		}
	}
	return append(all, more...), rest.And(taken.Except())
}

// chooseFixed gives requests to prefixes and whole paths, the longest first. What is left is the rest.
func chooseFixed(fixed []Place, region neutral.Set) (all []Chosen, rest neutral.Set) {
	rest = region
	for i := range fixed {
		q := &fixed[i]
		if !covered(fixed, q, "") {
			rest = rest.And(q.set().Except())
		}
		if q.Kind == "=" {
			all = append(all, Chosen{*q, region.And(q.set()), true, true})
			continue
		}
		inner, own := q.Choose(region.And(q.alone(fixed)))
		for k := range inner {
			inner[k].final = inner[k].done || q.Kind == "^~"
		}
		all = append(append(all, inner...), Chosen{*q, own, q.Kind == "^~", false})
	}
	return all, rest
}

// chooseExpressions gives requests to expressions, the first before the others, and returns what these fit.
func chooseExpressions(regexps []Place, left neutral.Set) (all []Chosen, taken neutral.Set) {
	var before []neutral.Set
	for i := range regexps {
		q := &regexps[i]
		set := left.And(q.set())
		for _, b := range before {
			set = set.And(b.Except())
		}
		before = append(before, q.set())
		inner, own := q.Choose(set)
		for k := range inner {
			inner[k].final, inner[k].done = true, true
		}
		all = append(append(all, inner...), Chosen{*q, own, true, true})
	}
	return all, neutral.Union(before...)
}

// find is the location of a path, as choose has it for all; done where no level around it is asked for expressions.
func (p *Place) find(path string) (found *Place, done bool) {
	var longest *Place
	for i := range p.Within {
		q := &p.Within[i]
		switch {
		case q.Kind == "=" && q.Pattern == path:
			return q, true
		case (q.Kind == "" || q.Kind == "^~") && strings.HasPrefix(path, q.Pattern) &&
			(longest == nil || len(q.Pattern) > len(longest.Pattern)):
			longest = q
		}
	}
	found = p
	if longest != nil {
		if found, done = longest.find(path); done || longest.Kind == "^~" {
			return found, done
		}
	}
	for i := range p.Within {
		q := &p.Within[i]
		if q.Kind != "~" && q.Kind != "~*" {
			continue
		}
		pattern := q.Pattern
		if q.Kind == "~*" {
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
func (p *Place) reached(path string) (*Place, bool) {
	begin, open := strings.CutSuffix(path, "$")
	if !strings.HasPrefix(begin, "/") || open && !p.leadsToOne(begin) {
		return nil, false
	}
	found, _ := p.find(begin)
	return found, true
}

// leadsToOne reports whether all paths that begin so are given to one location.
func (p *Place) leadsToOne(begin string) bool {
	for i := range p.Within {
		q := &p.Within[i]
		switch q.Kind {
		case "=", "", "^~":
			if strings.HasPrefix(q.Pattern, begin) && q.Pattern != begin || q.Kind == "=" && q.Pattern == begin {
				return false
			}
			if strings.HasPrefix(begin, q.Pattern) && !q.leadsToOne(begin) {
				return false
			}
		default:
			if found, _ := p.find(begin); found.Kind != "^~" {
				return false
			}
		}
	}
	return true
}

// alone returns what a prefix fits, and no longer one beside it, and no = either.
func (p *Place) alone(beside []Place) neutral.Set {
	set := p.set()
	for i := range beside {
		q := &beside[i]
		if longer := len(q.Pattern) > len(p.Pattern) || q.Kind == "=" && q.Pattern == p.Pattern; longer &&
			strings.HasPrefix(q.Pattern, p.Pattern) && !covered(beside, q, p.Pattern) {
			set = set.And(q.set().Except())
		}
	}
	return set
}

// covered reports whether another prefix, longer than one, has all that a place has.
func covered(beside []Place, p *Place, than string) bool {
	return slices.ContainsFunc(beside, func(q Place) bool {
		return q.Kind != "=" && len(q.Pattern) > len(than) && strings.HasPrefix(p.Pattern, q.Pattern) &&
			(len(q.Pattern) < len(p.Pattern) || p.Kind == "=")
	})
}

// redirects returns the place where nginx answers a path that lacks the slash at its end: without limits.
func (p *Place) redirects(beside []Place) *Place {
	short, ok := strings.CutSuffix(p.Pattern, "/")
	if !ok || short == "" || p.Kind == "=" || p.Directive == nil {
		return nil
	}
	passes := slices.ContainsFunc(p.Block, func(d *nginxconf.Directive) bool { return strings.HasSuffix(d.Name, "_pass") })
	there := slices.ContainsFunc(beside, func(q Place) bool { return !strings.HasPrefix(q.Kind, "~") && q.Pattern == short })
	if !passes || there {
		return nil
	}
	bare := &nginxconf.Directive{Name: p.Name, Args: p.Args, File: p.File, Line: p.Line} // no rewrite is asked
	return &Place{Directive: bare, Kind: "=", Pattern: short, answers: true}
}

// A judged is the ways of a server that end at a limit, by the same key.
type judged struct {
	use  *usage
	keys []zoneKey
	at   map[int]bool
}

// Set are the requests of these ways: those that they have, or those that no others have, whichever is shorter to say.
func (j *judged) set(ways []way) neutral.Set {
	var in, out, again []neutral.Set
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
	set := neutral.Union(in...)
	if other := neutral.Union(out...).Except(); other.Size() < set.Size() || len(out) == 0 {
		set = other
	}
	return neutral.Union(append(again, set)...)
}

// readServer takes down which limits judge the requests of each location.
func (r *reader) readServer(d *nginxconf.Directive, host neutral.Set, limits levelLimits) {
	r.server, r.keys = serverName(d), map[string][]zoneKey{}
	w := walker{reader: r, root: r.level(d, Place{}, limits)}
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
			same := func(j *judged) bool { return j.use == use && slices.EqualFunc(j.keys, keys, zoneKey.same) }
			k := slices.IndexFunc(all, same)
			if k < 0 {
				k, all = len(all), append(all, &judged{use: use, keys: keys, at: map[int]bool{}})
			}
			all[k].at[n] = true
		}
	}
	for _, j := range all {
		j.use.sets = append(j.use.sets, keyed{host.And(j.set(w.all)), j.keys})
	}
	w.aside()
}
