package haproxy

import (
	"fmt"
	"slices"
	"strings"

	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// route finds which requests backends get, and from which sections.
func (r *reader) route() {
	gets, fronts := map[string][]neutral.Set{}, false
	limits := slices.ContainsFunc(r.sections, func(s *section) bool { return s.Kind == "backend" && s.limits() })
	for _, s := range r.sections {
		if s.Kind != "frontend" && s.Kind != "listen" {
			continue
		}
		fronts = true
		left := s.set.And(s.passed)
		for _, rule := range s.Rules {
			if rule.Words[0] == "use_backend" && len(rule.Words) > 1 {
				set, certain := r.leads(s, rule, limits)
				if r.lead(gets, s, rule.Words[1], left.And(set)); certain { // else what stands behind may get them too
					left = left.And(set.Except())
				}
			}
		}
		r.lead(gets, s, s.Setting("default_backend")[1], left)
	}
	r.receive(gets, fronts)
}

// leads returns the requests that a rule sends to a backend, and whether it is certain that it sends them there.
func (r *reader) leads(s *section, rule haproxycfg.Rule, limits bool) (set neutral.Set, certain bool) {
	name, before, notes := rule.Words[1], r.unknown, len(r.Notes)
	set = r.requests(s, rule, rule.Words[2:])
	switch {
	case r.unknown != before:
		for i := range r.Notes[notes:] {
			if text, _, ok := strings.Cut(r.Notes[notes+i].Text, "it is taken "); ok {
				r.Notes[notes+i].Text = text + "its requests are taken to come to " + name + ", and to backends behind it as well"
			}
		}
	case !strings.Contains(name, "%["):
		return set, true
	case limits:
		r.Lose(r.place(rule), "%s is made of the request, which is not read: its requests are taken to come to all backends "+
			"that it may name, and to those behind it as well", name)
	}
	return set, false
}

// lead gives requests of a section to the backend of a name, or to all whose name it may be where it is made of the request.
func (r *reader) lead(gets map[string][]neutral.Set, s *section, name string, set neutral.Set) {
	if name == "" {
		return
	}
	begin, end, made := strings.Cut(name, "%[")
	end = end[strings.LastIndexByte(end, ']')+1:]
	for _, b := range r.sections {
		if (b.Kind == "backend" || b.Kind == "listen") &&
			(b.Name == name || made && strings.HasPrefix(b.Name, begin) && strings.HasSuffix(b.Name, end)) {
			if gets[b.Name] = append(gets[b.Name], set); !slices.Contains(b.leads, s) {
				b.leads = append(b.leads, s)
			}
		}
	}
}

// receive gives backends what leads to them, and tells of limits that nothing in this file leads to.
func (r *reader) receive(gets map[string][]neutral.Set, fronts bool) {
	for _, s := range r.sections {
		place := fmt.Sprintf("%s:%d", r.file, s.Line)
		switch all := gets[s.Name]; {
		case s.Kind == "listen" && all != nil && s.limits():
			r.Lose(place, "listen %s gets requests of other sections, which are not read: its limits are judged on those that it listens for", s.Name)
		case s.Kind != "backend":
		case all != nil:
			if s.set = neutral.Union(all...); s.set.Never && s.limits() {
				r.Tell(place, "no request comes to backend %s", s.Name)
			}
		case !s.limits():
		case fronts:
			s.set = neutral.None
			r.Lose(place, "nothing in this file leads to backend %s: its limits are judged on no request", s.Name)
		default:
			r.Lose(place, "no frontend in this file leads to backend %s: its limits are judged on all requests", s.Name)
		}
	}
}

// limits reports whether rules of a section ask for a rate.
func (s *section) limits() bool {
	return s.Has(func(words []string) bool {
		return words[0] != "stick-table" && counted().MatchString(strings.Join(words, " "))
	})
}

// tracks reports whether rules of a section count requests.
func (s *section) tracks() bool {
	return s.Has(func(words []string) bool {
		return haproxycfg.Action(words) != "" && trackRule().MatchString(haproxycfg.Action(words))
	})
}

// inherit has a backend know the counters of the sections that lead to it.
func (x *sectionReader) inherit() {
	for _, from := range x.s.leads {
		for number, all := range from.counters {
			for _, c := range all {
				c.at = -1
				x.counters[number] = append(x.counters[number], c)
			}
			set := from.set.And(from.taken[number])
			if before, ok := x.taken[number]; ok {
				set = neutral.Union(before, set)
			}
			x.taken[number] = set
		}
	}
}
