package imports

import (
	"regexp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
)

// A Set is some requests. The zero Set is all of them.
type Set struct {
	c     request.Conditions
	never bool // none of them
}

var none = Set{never: true}

func (s Set) same(other Set) bool { return s.never == other.never && s.c.Is(&other.c) }

func (s Set) isAll() bool { return !s.never && s.c.Is(&request.Conditions{}) }

// size returns how long the set is when written down.
func (s Set) size() int { return len(s.c.String()) }

// only reports whether a set says nothing but its Not, or its Any.
func only(c request.Conditions) (not, anyOf bool) {
	bare := c
	bare.Not, bare.Any = nil, nil
	if !bare.Is(&request.Conditions{}) {
		return false, false
	}
	return len(c.Any) == 0 && len(c.Not) > 0, len(c.Not) == 0 && len(c.Any) > 0
}

// except are the requests that are not in a set.
func (s Set) except() Set {
	switch not, anyOf := only(s.c); {
	case s.never:
		return Set{}
	case s.isAll():
		return none
	case not && len(s.c.Not) == 1:
		return Set{c: s.c.Not[0]}
	case not:
		return Set{c: request.Conditions{Any: s.c.Not}}
	case anyOf:
		return Set{c: request.Conditions{Not: s.c.Any}}
	}
	return Set{c: request.Conditions{Not: []request.Conditions{s.c}}}
}

// and are the requests that are in both sets.
func (s Set) and(other Set) Set {
	switch {
	case s.never || other.never:
		return none
	case s.isAll():
		return other
	case other.isAll(), s.c.Is(&other.c):
		return s
	}
	c, theirs, clash := s.c, map[string][]string{}, len(s.c.Any) > 0 && len(other.c.Any) > 0
	other.c.Each(func(key string, values *[]string) { theirs[key] = *values })
	c.Each(func(key string, values *[]string) {
		both, ok := meet(key, *values, theirs[key])
		*values, clash = both, clash || !ok
	})
	switch {
	case clash && len(s.c.Any) == 0:
		c = s.c
		c.Any = alternatives(other.c)
		return Set{c: c}
	case clash && len(other.c.Any) == 0:
		return other.and(s)
	case clash:
		c = s.c
		c.Not = append(slices.Clip(c.Not), other.except().c)
		return Set{c: c}
	}
	if len(c.Any) == 0 {
		c.Any = other.c.Any
	}
	c.Not = slices.Clip(c.Not)
	for i := range other.c.Not {
		if index(c.Not, &other.c.Not[i]) < 0 {
			c.Not = append(c.Not, other.c.Not[i])
		}
	}
	for i := range c.Not {
		if not := &c.Not[i]; len(not.Any)+len(not.Not) == 0 && states(&c, not) {
			return none
		}
	}
	return Set{c: c}
}

// minus are the requests of a set that are in none of others.
func (s Set) minus(others []Set) Set {
	if !s.isAll() {
		others = slices.DeleteFunc(slices.Clone(others), func(o Set) bool { return apart(o, s) || disjoint(o.c, s.c) })
	}
	return s.and(union(others...).except())
}

// index returns where conditions stand among others, or -1. Sets have hundreds of them, and each is large.
func index(all []request.Conditions, c *request.Conditions) int {
	for i := range all {
		if all[i].Is(c) {
			return i
		}
	}
	return -1
}

// states reports whether conditions have all those of others, in the same words.
func states(c, others *request.Conditions) bool {
	for _, both := range [][2][]string{
		{others.Paths, c.Paths}, {others.Prefixes, c.Prefixes}, {others.Regexps, c.Regexps}, {others.Hosts, c.Hosts},
	} {
		if len(both[0]) > 0 && !slices.Equal(both[0], both[1]) {
			return false // most differ in these
		}
	}
	mine, all := map[string][]string{}, true
	c.Each(func(key string, values *[]string) { mine[key] = *values })
	others.Each(func(key string, values *[]string) {
		all = all && (len(*values) == 0 || slices.Equal(*values, mine[key]))
	})
	return all
}

// alternatives are groups of which one must fit.
func alternatives(c request.Conditions) []request.Conditions {
	if _, anyOf := only(c); anyOf {
		return c.Any
	}
	return []request.Conditions{c}
}

// meet are the values of a condition that both sets state; false if one condition cannot say that.
func meet(key string, a, b []string) (both []string, ok bool) {
	switch {
	case len(a) == 0:
		return b, true
	case len(b) == 0, slices.Equal(a, b):
		return a, true
	case key == "without":
		return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b)))), true
	case key == "prefix" && len(a) == 1 && len(b) == 1 && strings.HasPrefix(a[0], b[0]):
		return a, true
	case key == "prefix" && len(a) == 1 && len(b) == 1 && strings.HasPrefix(b[0], a[0]):
		return b, true
	}
	return nil, false
}

// union are the requests that are in one of the sets.
func union(sets ...Set) Set {
	var parts []request.Conditions
	for _, s := range sets {
		if s.isAll() {
			return s
		}
		for _, c := range alternatives(s.c) {
			if !s.never && index(parts, &c) < 0 {
				parts = joined(parts, c)
			}
		}
	}
	parts = absorbed(parts)
	switch len(parts) {
	case 0:
		return none
	case 1:
		return Set{c: parts[0]}
	}
	return Set{c: request.Conditions{Any: parts}}
}

// anyOf are the requests in one of the sets; all if there are none.
func anyOf(sets []Set) Set {
	if len(sets) == 0 {
		return Set{}
	}
	return union(sets...)
}

// absorbed are parts of which one excludes others: a, and what is neither a nor b, are what is not b without a.
func absorbed(parts []request.Conditions) []request.Conditions {
	for i, p := range parts {
		if not, _ := only(p); !not {
			continue
		}
		left, kept := p.Not, []request.Conditions(nil)
		for _, a := range slices.Concat(parts[:i], parts[i+1:]) {
			if at := index(left, &a); at >= 0 {
				left = mapped(slices.Concat(left[:at], left[at+1:]), func(b request.Conditions) request.Conditions {
					return without(b, a)
				})
				continue
			}
			kept = append(kept, a)
		}
		if len(kept)+1 == len(parts) {
			continue
		}
		if len(left) == 0 {
			return []request.Conditions{{}}
		}
		return append(kept, request.Conditions{Not: left})
	}
	return parts
}

// without are the requests of b that are not in a.
func without(b, a request.Conditions) request.Conditions {
	if disjoint(a, b) {
		return b
	}
	return Set{c: b}.and(Set{c: a}.except()).c
}

// disjoint reports whether the paths of two groups of conditions have nothing in common, as far as that shows.
func disjoint(a, b request.Conditions) bool {
	p, pWhole := begins(a)
	q, qWhole := begins(b)
	return p != "" && q != "" && !(strings.HasPrefix(p, q) && !qWhole || strings.HasPrefix(q, p) && !pWhole || p == q)
}

// begins returns how all paths of conditions begin, or which one they are; "" if that is not known.
func begins(c request.Conditions) (text string, whole bool) {
	switch {
	case len(c.Paths) == 1:
		return c.Paths[0], true
	case len(c.Prefixes) == 1:
		return c.Prefixes[0], false
	}
	return "", false
}

// joined adds a part; to one that is the same condition alone it adds the values.
func joined(parts []request.Conditions, c request.Conditions) []request.Conditions {
	key, values := single(c)
	for i := range parts {
		if mine, have := single(parts[i]); key != "" && key != "without" && mine == key {
			parts[i].Each(func(name string, list *[]string) {
				if name == key {
					*list = slices.Concat(have, slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(have, v) }))
				}
			})
			return parts
		}
	}
	return append(parts, c)
}

// single is the condition that stands alone; "" if none does.
func single(c request.Conditions) (key string, values []string) {
	n := len(c.Any) + len(c.Not)
	c.Each(func(name string, list *[]string) {
		if len(*list) > 0 {
			key, values = name, *list
			n++
		}
	})
	if n != 1 || key == "" {
		return "", nil
	}
	return key, values
}

// within is the set of one condition.
func within(key string, values ...string) Set {
	var s Set
	s.c.Each(func(name string, list *[]string) {
		if name == key {
			*list = values
		}
	})
	return s
}

// lacking are the requests that lack a part of a key.
func lacking(part string) Set { return within("without", part) }

// having are the requests of a set that have all of some parts of a key.
func (s Set) having(parts ...string) Set {
	for _, p := range parts {
		s = s.and(lacking(p).except())
	}
	return s
}

// unless are the requests that are in a set, or if inverted those that are not.
func (s Set) unless(inverted bool) Set {
	if inverted {
		return s.except()
	}
	return s
}

// keyOf is a key of parts; that of all requests if there are none.
func keyOf(parts []string) (request.Key, error) {
	if len(parts) == 0 {
		return request.BySite, nil
	}
	return request.ParseKey(strings.Join(parts, "+"))
}

// A keyCase is what a limit counts some requests by.
type keyCase struct {
	set Set
	by  request.Key
}

// add adds a limit for each case of its key.
func (p *Policy) add(text, told string, cases ...keyCase) {
	for _, c := range cases {
		p.Limits = append(p.Limits, Limit{Text: text, By: c.by, Match: c.set, Count: c.set, Told: []string{told}})
	}
}

// mapped returns what f makes of each value.
func mapped[T, U any](values []T, f func(T) U) (all []U) {
	for _, v := range values {
		all = append(all, f(v))
	}
	return all
}

// below are the requests whose path begins so.
func below(prefix string) Set {
	if prefix == "/" {
		return Set{}
	}
	return within("prefix", prefix)
}

// exactly are the requests of one path.
func exactly(path string) Set {
	if strings.ContainsAny(path, "*?\\") {
		return within("regexp", "^"+regexp.QuoteMeta(path)+"$")
	}
	return within("path", path)
}

// hostMasks has those of a host, by how it is tested; dom tests words between dots.
var hostMasks = map[string][]string{
	"": {"HOST"}, "str": {"HOST"}, "beg": {"HOST*"}, "end": {"*HOST"}, "sub": {"*HOST*"}, "dom": {"HOST", "*.HOST", "HOST.*", "*.HOST.*"},
}

// hostSet are the requests for some hosts; false if they are tested in a way that is not known.
func hostSet(how string, values []string) (Set, bool) {
	var all []string
	for _, v := range values {
		v, _, _ = strings.Cut(strings.ToLower(v), ":")
		if how == "dom" {
			v = strings.Trim(v, ".")
		}
		all = append(all, mapped(hostMasks[how], func(mask string) string { return strings.Replace(mask, "HOST", v, 1) })...)
	}
	if len(all) == 0 && len(values) > 0 {
		return none, false
	}
	return within("host", all...), len(all) > 0
}

// apart reports whether two sets are known to have nothing in common: other hosts, methods or paths.
func apart(a, b Set) bool {
	theirs := map[string][]string{}
	b.c.Each(func(key string, values *[]string) { theirs[key] = *values })
	found := false
	a.c.Each(func(key string, values *[]string) {
		if key != "host" && key != "method" && key != "path" || len(*values) == 0 || len(theirs[key]) == 0 {
			return
		}
		common := func(v string) bool { return strings.ContainsAny(v, "*?") || slices.Contains(theirs[key], v) }
		masked := func(v string) bool { return strings.ContainsAny(v, "*?") }
		found = found || !slices.ContainsFunc(*values, common) && !slices.ContainsFunc(theirs[key], masked)
	})
	return found
}

var methodWords = lazy.Regexp(`^\^?\(?(?:\?:)?([A-Z]+(?:\|[A-Z]+)*)\)?\$?$`)

// methodsIn are the methods that an expression is made of, nil if it is none of whole words: ^P fits POST and PUT.
func methodsIn(pattern string) (words []string) {
	parts := methodWords().FindStringSubmatch(pattern)
	if parts == nil {
		return nil
	}
	words = strings.Split(parts[1], "|")
	whole := strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$")
	if !whole && slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(methods, w) }) {
		return nil
	}
	return words
}
