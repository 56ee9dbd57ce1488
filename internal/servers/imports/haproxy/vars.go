package haproxy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// A varCase is the sample that a variable has for some requests.
type varCase struct {
	set    neutral.Set
	sample string
}

// unset finds variables that no request has before a rule sets them. Those of a connection may be of a request before.
func (r *reader) unset() {
	for _, s := range r.sections {
		for _, rule := range s.Rules {
			for _, word := range rule.Words[:min(3, len(rule.Words))] {
				if m := setAnyVar().FindStringSubmatch(word); m != nil && !lastingVar().MatchString(rule.Words[0]+" "+m[1]) {
					r.vars[m[1]] = []varCase{}
				}
			}
		}
	}
}

// setVar reads set-var(NAME) SAMPLE, to which open requests come. One that is true where a rate is exceeded stands for it.
func (r *reader) setVar(s *section, rule haproxycfg.Rule, words []string, open neutral.Set) {
	name, before := setAnyVar().FindStringSubmatch(words[1])[1], r.unknown
	set, terms := r.condition(s, rule, words)
	set = open.And(set)
	if _, known := r.vars[name]; !known && !set.IsAll() || !setVarRule().MatchString(words[1]) {
		r.unknown++
	}
	if terms != nil && words[2] == "bool(true)" {
		r.flags[name] = terms
		return
	} else if terms != nil {
		r.Lose(r.place(rule), "%s goes by a rate, which is not judged here", words[1])
	}
	set = s.set.And(set)
	var cases []varCase
	for _, c := range r.vars[name] {
		if c.set = c.set.And(set.Except()); !c.set.Never {
			cases = append(cases, c)
		}
	}
	own := []varCase{{set, words[2]}}
	if m := lone().FindStringSubmatch(words[2]); m != nil { // it gets what that has now
		if own = nil; r.vars[m[1]] == nil {
			r.unknown++
		}
		for _, c := range r.vars[m[1]] {
			own = append(own, varCase{set.And(c.set), c.sample})
		}
	}
	if r.vars[name] = append(cases, own...); terms != nil || r.unknown != before {
		delete(r.vars, name) // then conditions on it are told
	}
}

// variable is a test of a variable: of what it has for some requests.
func (r *reader) variable(rule haproxycfg.Rule, cases []varCase, test []string) (neutral.Set, []rateTerm, bool) {
	var sets []neutral.Set
	for _, c := range cases {
		fits, known := constantFits(c.sample, test)
		switch {
		case known && fits:
			sets = append(sets, c.set)
		case !known:
			one, terms, ok := r.acl(rule, append([]string{c.sample}, test...))
			if !ok || terms != nil {
				return neutral.Set{}, nil, false
			}
			sets = append(sets, c.set.And(one))
		}
	}
	return neutral.Union(sets...), nil, cases != nil
}

// constantFits reports whether a constant fits a test, and whether that is known.
func constantFits(sample string, test []string) (fits, known bool) {
	parts := haSample().FindStringSubmatch(sample)
	if parts == nil || parts[3] != "" || !slices.Contains([]string{"bool", "int", "str"}, parts[1]) {
		return false, false
	}
	text, number := parts[2], 0
	if parts[1] == "int" {
		number, _ = strconv.Atoi(text)
	}
	switch joined := strings.Join(test, " "); {
	case joined == "-m found":
		return true, true
	case (joined == "-m bool" || joined == "") && parts[1] != "str":
		return text == "true" || number != 0, true
	case parts[1] == "str":
		values := slices.DeleteFunc(slices.Clone(test), func(w string) bool { return w == "-m" || w == "str" })
		return slices.Contains(values, text), !slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, "-") }) &&
			(len(test) == len(values) || test[0] == "-m" && slices.Contains(test, "str"))
	case parts[1] == "int" && len(test) > 1:
		n, err := strconv.Atoi(test[1])
		order := cmp.Compare(number, n)
		how := map[string]bool{"eq": order == 0, "gt": order > 0, "ge": order >= 0, "lt": order < 0, "le": order <= 0}
		fits, known = how[test[0]]
		return fits, known && err == nil && len(test) == 2
	}
	return false, false
}

// against holds what a table counts against a variable that has a number, or one of a map, for some requests.
func (r *reader) against(rule haproxycfg.Rule, most, now []varCase) (_ neutral.Set, terms []rateTerm, known bool) {
	if len(now) != 1 {
		return neutral.Set{}, nil, false
	}
	look, sample := rateSample().FindStringSubmatch(now[0].sample), ""
	if m := lookedUp().FindStringSubmatch(now[0].sample); m != nil {
		look, sample = []string{m[0], "", m[2], m[3]}, m[1]
	}
	for _, c := range most {
		cases := []varCase{c}
		if m := mapSample().FindStringSubmatch(c.sample); m != nil {
			cases = r.mapped(rule, c.set, m)
		}
		for _, c := range cases {
			number := haSample().FindStringSubmatch(c.sample)
			if look == nil || number == nil || number[1] != "int" {
				return neutral.Set{}, nil, false
			}
			_, one, ok := r.rate(rule, look, sample, []string{"gt", number[2]})
			if !ok {
				return neutral.Set{}, nil, false
			}
			for _, t := range one {
				t.set = c.set.And(now[0].set)
				terms = append(terms, t)
			}
		}
	}
	return neutral.Set{}, terms, terms != nil
}

// mapped are the cases of a map of numbers. Of beginnings, the longest that fits counts, else the first entry.
func (r *reader) mapped(rule haproxycfg.Rule, set neutral.Set, m []string) (cases []varCase) {
	sample, how, fallback := m[1], cmp.Or(m[2], "str"), m[4]
	lines, err := r.lines(m[3])
	if err != nil {
		r.Lose(r.place(rule), "%v: paths have the limit that stands for the others", err)
	}
	if how == "beg" {
		slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	var before []neutral.Set
	add := func(one neutral.Set, number string) {
		of := set
		for _, b := range before {
			if !neutral.Disjoint(one.Conditions, b.Conditions) {
				of = of.And(b.Except())
			}
		}
		before = append(before, one)
		if of = of.And(one); !of.Never && number != "" {
			cases = append(cases, varCase{of, "int(" + number + ")"})
		}
	}
	for _, line := range lines {
		key, number, _ := strings.Cut(line, " ")
		if one, terms, ok := r.acl(rule, []string{sample, "-m", how, "--", key}); ok && terms == nil {
			add(one, strings.TrimSpace(number))
		} else {
			r.Lose(r.place(rule), "%s %s of a map is not understood: this entry is left out", how, key)
		}
	}
	add(neutral.Set{}, fallback)
	return cases
}
