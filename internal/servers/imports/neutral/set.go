package neutral

import (
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/request"
)

// A Set is some requests. The zero Set is all of them.
type Set struct {
	Conditions request.Conditions
	Never      bool // None of them
}

// None is no request.
var None = Set{Never: true}

// Same reports whether two sets are written alike.
func (s Set) Same(other Set) bool {
	return s.Never == other.Never && s.Conditions.Is(&other.Conditions)
}

// IsAll reports whether a set is all requests.
func (s Set) IsAll() bool { return !s.Never && s.Conditions.Is(&request.Conditions{}) }

// Size returns how long the set is when written down.
func (s Set) Size() int { return len(s.Conditions.String()) }

// only reports whether a set says nothing but its Not, or its Any.
func only(c request.Conditions) (not, anyOf bool) {
	bare := c
	bare.Not, bare.Any = nil, nil
	if !bare.Is(&request.Conditions{}) {
		return false, false
	}
	return len(c.Any) == 0 && len(c.Not) > 0, len(c.Not) == 0 && len(c.Any) > 0
}

// Except are the requests that are not in a set.
func (s Set) Except() Set {
	switch not, anyOf := only(s.Conditions); {
	case s.Never:
		return Set{}
	case s.IsAll():
		return None
	case not && len(s.Conditions.Not) == 1:
		return Set{Conditions: s.Conditions.Not[0]}
	case not:
		return Set{Conditions: request.Conditions{Any: s.Conditions.Not}}
	case anyOf:
		return Set{Conditions: request.Conditions{Not: s.Conditions.Any}}
	}
	return Set{Conditions: request.Conditions{Not: []request.Conditions{s.Conditions}}}
}

// And are the requests that are in both sets.
func (s Set) And(other Set) Set {
	switch {
	case s.Never || other.Never:
		return None
	case s.IsAll():
		return other
	case other.IsAll(), s.Conditions.Is(&other.Conditions):
		return s
	}
	c, theirs, clash := s.Conditions, map[string][]string{}, len(s.Conditions.Any) > 0 && len(other.Conditions.Any) > 0
	other.Conditions.Each(func(key string, values *[]string) { theirs[key] = *values })
	c.Each(func(key string, values *[]string) {
		both, ok := meet(key, *values, theirs[key])
		*values, clash = both, clash || !ok
	})
	switch {
	case clash && len(s.Conditions.Any) == 0:
		c = s.Conditions
		c.Any = alternatives(other.Conditions)
		return Set{Conditions: c}
	case clash && len(other.Conditions.Any) == 0:
		return other.And(s)
	case clash:
		c = s.Conditions
		c.Not = append(slices.Clip(c.Not), other.Except().Conditions)
		return Set{Conditions: c}
	}
	if len(c.Any) == 0 {
		c.Any = other.Conditions.Any
	}
	c.Not = slices.Clip(c.Not)
	for i := range other.Conditions.Not {
		if index(c.Not, &other.Conditions.Not[i]) < 0 {
			c.Not = append(c.Not, other.Conditions.Not[i])
		}
	}
	for i := range c.Not {
		if not := &c.Not[i]; len(not.Any)+len(not.Not) == 0 && states(&c, not) {
			return None
		}
	}
	return Set{Conditions: c}
}

// Minus are the requests of a set that are in none of others.
func (s Set) Minus(others []Set) Set {
	if !s.IsAll() {
		others = slices.DeleteFunc(slices.Clone(others), func(o Set) bool { return Apart(o, s) || Disjoint(o.Conditions, s.Conditions) })
	}
	return s.And(Union(others...).Except())
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

// alternatives returns groups: one of them must fit.
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

// Union are the requests that are in one of the sets.
func Union(sets ...Set) Set {
	var parts []request.Conditions
	alone, values := map[string]int{}, map[string][]string{} // conditions that stand alone: their parts and values
	for _, s := range sets {
		if s.IsAll() {
			return s
		}
		for _, c := range alternatives(s.Conditions) {
			key, more := single(c)
			_, there := alone[key]
			switch joins := key != "" && key != "without"; {
			case s.Never:
			case joins && there:
				values[key] = append(values[key], more...)
			case joins:
				alone[key], values[key] = len(parts), slices.Clone(more)
				parts = append(parts, c)
			case index(parts, &c) < 0:
				parts = append(parts, c)
			}
		}
	}
	for key, part := range alone {
		parts[part].Each(func(name string, list *[]string) {
			if name == key {
				*list = unique(values[key])
			}
		})
	}
	parts = absorbed(parts)
	switch len(parts) {
	case 0:
		return None
	case 1:
		return Set{Conditions: parts[0]}
	}
	return Set{Conditions: request.Conditions{Any: parts}}
}

// UnionInTurn returns the requests in one of the sets. One may exclude those before it: what these have need not be
// excluded.
func UnionInTurn(sets []Set) Set {
	before := map[string]bool{}
	for n := range sets {
		c := &sets[n].Conditions
		c.Not = slices.DeleteFunc(slices.Clone(c.Not), func(not request.Conditions) bool { return before[not.String()] })
		for _, one := range alternatives(*c) {
			before[one.String()] = !sets[n].Never
		}
	}
	return Union(sets...)
}

// unique returns texts in their order, each once.
func unique(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	return slices.DeleteFunc(texts, func(text string) bool {
		before := seen[text]
		seen[text] = true
		return before
	})
}

// AnyOf are the requests in one of the sets; all if there are none.
func AnyOf(sets []Set) Set {
	if len(sets) == 0 {
		return Set{}
	}
	return Union(sets...)
}

// absorbed joins parts where one excludes others: a, and what is neither a nor b, are what is not b without a.
func absorbed(parts []request.Conditions) []request.Conditions {
	for i, p := range parts {
		if not, _ := only(p); !not {
			continue
		}
		left, kept := p.Not, []request.Conditions(nil)
		for _, a := range slices.Concat(parts[:i], parts[i+1:]) {
			if at := index(left, &a); at >= 0 {
				left = mapped.Add(nil, slices.Concat(left[:at], left[at+1:]), func(b request.Conditions) request.Conditions {
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
	if Disjoint(a, b) {
		return b
	}
	return Set{Conditions: b}.And(Set{Conditions: a}.Except()).Conditions
}

// Disjoint reports whether the paths of two groups of conditions have nothing in common, as far as that shows.
func Disjoint(a, b request.Conditions) bool {
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

// Within is the set of one condition.
func Within(key string, values ...string) Set {
	var s Set
	s.Conditions.Each(func(name string, list *[]string) {
		if name == key {
			*list = values
		}
	})
	return s
}

// Lacking are the requests that lack a part of a key.
func Lacking(part string) Set { return Within("without", part) }

// Having are the requests of a set that have all of some parts of a key.
func (s Set) Having(parts ...string) Set {
	for _, p := range parts {
		s = s.And(Lacking(p).Except())
	}
	return s
}

// Unless are the requests that are in a set, or if inverted those that are not.
func (s Set) Unless(inverted bool) Set {
	if inverted {
		return s.Except()
	}
	return s
}

// hostMasks has those of a host, by how it is tested; dom tests words between dots.
var hostMasks = map[string][]string{
	"": {"HOST"}, "str": {"HOST"}, "beg": {"HOST*"}, "end": {"*HOST"}, "sub": {"*HOST*"}, "dom": {"HOST", "*.HOST", "HOST.*", "*.HOST.*"},
}

// Apart reports whether two sets are known to have nothing in common: other hosts, methods or paths.
func Apart(a, b Set) bool {
	theirs := map[string][]string{}
	b.Conditions.Each(func(key string, values *[]string) { theirs[key] = *values })
	found := false
	a.Conditions.Each(func(key string, values *[]string) {
		if key != "host" && key != "method" && key != "path" || len(*values) == 0 || len(theirs[key]) == 0 {
			return
		}
		common := func(v string) bool { return strings.ContainsAny(v, "*?") || slices.Contains(theirs[key], v) }
		masked := func(v string) bool { return strings.ContainsAny(v, "*?") }
		found = found || !slices.ContainsFunc(*values, common) && !slices.ContainsFunc(theirs[key], masked)
	})
	return found
}

// Meet reports whether two sets may have a request in common.
func Meet(a, b Set) bool {
	return !a.And(b).Never && !Apart(a, b) && !Disjoint(a.Conditions, b.Conditions)
}

var methodWords = lazy.Regexp(`^\^?\(?(?:\?:)?([A-Z]+(?:\|[A-Z]+)*)\)?\$?$`)
