package haproxy

import (
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// What rules ask for: acls, samples, and what tables count.

var (
	rateSample = lazy.Regexp(`^(?:sc(\d)?_|src_)([a-z0-9_]+)(?:\(([^)]*)\))?$`)
	counter    = lazy.Regexp(`(_rate|_cnt|_cur|_?gpc\d?|_?gpt\d?)$`)
	lookedUp   = lazy.Regexp(`^(.+),table_([a-z0-9_]+)(?:\(([^)]*)\))?$`)
	mappedRate = lazy.Regexp(`^var\(([\w.]+)\),sub\(([\w.]+)\)$`)
	mapSample  = lazy.Regexp(`^(.+),map(?:_(beg|str|end|sub|reg|dir))?\(([^,)]+)(?:,(\d+))?\)$`)
	haSample   = lazy.Regexp(`^([a-z0-9_.]+)(?:\(([^)]*)\))?((?:,.*)?)$`)
	lastingVar = lazy.Regexp(`^http-request (sess|proc)\.`)
	maskSample = lazy.Regexp(`ipmask\((\d+)(?:,(\d+))?\)`)
)

// spelled returns the words of a rule, and behind them those of the acls that it names.
func (x *sectionReader) spelled(rule haproxycfg.Rule) string {
	all := rule.Words
	for _, acl := range x.s.Rules {
		if acl.Words[0] == "acl" && len(acl.Words) > 2 &&
			slices.ContainsFunc(rule.Words, func(word string) bool { return strings.TrimPrefix(word, "!") == acl.Words[1] }) {
			all = slices.Concat(all, acl.Words[2:])
		}
	}
	return strings.Join(all, " ")
}

// headersAsked returns the last line at which rules of a section judge by each header, also by an acl.
func (s *section) headersAsked() map[string]int {
	of, asked := map[string][]string{}, map[string]int{}
	for _, r := range s.Rules {
		if r.Words[0] == "acl" && len(r.Words) > 2 {
			of[r.Words[1]] = append(of[r.Words[1]], headersIn(strings.Join(r.Words[2:], " "))...)
		}
	}
	for _, r := range s.Rules {
		verb := append(slices.Clip(r.Judging()), "", "")[1]
		if r.Words[0] != "use_backend" && (verb == "" || verb == "capture" || headerRule().MatchString(verb)) {
			continue
		}
		for _, word := range r.Words {
			for _, name := range append(headersIn(word), of[strings.TrimPrefix(word, "!")]...) {
				asked[name] = max(asked[name], r.Line)
			}
		}
	}
	return asked
}

var askedHeader = lazy.Regexp(`hdr\w*\(([^,)]+)`)

// headersIn are the headers that samples ask for.
func headersIn(text string) []string {
	return mapped.Add(nil, askedHeader().FindAllStringSubmatch(strings.ToLower(text), -1), func(m []string) string { return m[1] })
}

// condition reads what stands behind if or unless: the requests that it fits, as far as they alone say so, and for each
// way in which a rate is asked for, that rate with its requests.
func (r *reader) condition(s *section, rule haproxycfg.Rule, words []string) (set neutral.Set, rates []rateTerm) {
	groups, text, unless, ok := haproxycfg.Condition(words)
	if !ok {
		return neutral.Set{}, nil
	}
	var sets []neutral.Set
	for _, terms := range groups {
		g := r.group(s, rule, terms, unless, text)
		some, plain, lost := g.finish()
		if sets, rates = append(sets, plain), append(rates, some...); lost {
			r.Lose(r.place(rule), "%s asks for several rates at once: what they refuse together is left out", text)
		}
	}
	if set = neutral.Union(sets...); !unless {
		return set, rates
	}
	if rates != nil {
		r.below(rule, "unless "+text)
	}
	return set.Except(), nil
}

// requests is condition for rules that no rate may be asked for.
func (r *reader) requests(s *section, rule haproxycfg.Rule, words []string) neutral.Set {
	set, terms := r.condition(s, rule, words)
	if terms != nil {
		r.Lose(r.place(rule), "%s goes by a rate, which is not judged here", strings.Join(rule.Words[:2], " "))
	}
	return set
}

// group reads terms that must all fit.
func (r *reader) group(s *section, rule haproxycfg.Rule, terms []haproxycfg.Term, unless bool, text string) (g group) {
	for _, t := range terms {
		one, rates, known := r.term(s, rule, t)
		switch {
		case !known && unless:
			r.unknown++
			r.Lose(r.place(rule), "no condition says %s: it is taken not to hold", t)
			g.all = neutral.None
		case !known:
			r.unknown++
			r.Lose(r.place(rule), "no condition says %s: it is taken to hold", t)
		case rates != nil && t.Not: // what is asked for then is no refusal
			r.below(rule, text)
		case rates != nil:
			g.add(rates, one)
		default:
			g.all = g.all.And(one.Unless(t.Not))
		}
	}
	return g
}

// A group is conditions that must all fit.
type group struct {
	all   neutral.Set // those without a rate
	rates []ratesOf
}

// ratesOf a group hold where one of their rates is exceeded, or a request is in the set.
type ratesOf struct {
	terms []rateTerm
	set   neutral.Set
}

// add adds rates. Of one counter, what is above two numbers is above the higher one.
func (g *group) add(terms []rateTerm, set neutral.Set) {
	for i, before := range g.rates {
		if len(terms) == 1 && len(before.terms) == 1 && set.Never && before.set.Never {
			if one, other := terms[0], before.terms[0]; one.counts(other) {
				one.most = max(one.most, other.most)
				g.rates[i].terms = []rateTerm{one}
				return
			}
		}
	}
	g.rates = append(g.rates, ratesOf{terms, set})
}

// finish returns the rates, each with the requests that it alone decides on, and the requests that fit without any; lost
// reports whether some requests are left for which several rates must be exceeded: those of neither set.
func (g *group) finish() (terms []rateTerm, plain neutral.Set, lost bool) {
	plain = g.all
	for i, rates := range g.rates {
		alone, left := g.all, g.all.And(rates.set.Except())
		for j, other := range g.rates {
			if j != i {
				alone, lost = alone.And(other.set), lost || !left.And(other.set.Except()).Never
			}
		}
		for _, t := range rates.terms {
			if t.set = t.set.And(alone); !t.set.Never {
				terms = append(terms, t)
			}
		}
		plain = plain.And(rates.set)
	}
	return terms, plain, lost
}

// term returns what an acl fits, by its name or between braces.
func (r *reader) term(s *section, rule haproxycfg.Rule, t haproxycfg.Term) (set neutral.Set, terms []rateTerm, known bool) {
	if t.Name != "" {
		return r.named(s, t.Name)
	}
	if set, terms, known = r.acl(rule, t.Words); terms != nil {
		set = neutral.None
	}
	return set, terms, known
}

// below tells of a condition that a rate is not exceeded. A rule that counts asks so for what a rule behind it refuses.
func (r *reader) below(rule haproxycfg.Rule, condition string) {
	if !countRule().MatchString(rule.Words[1]) || !strings.Contains(condition, "var(") {
		r.unknown++
		r.Lose(r.place(rule), "%s asks for a rate that is not exceeded, which no condition says: it is taken to hold", condition)
	}
}

var predefined = map[string]neutral.Set{
	"TRUE": {}, "HTTP": {}, "FALSE": neutral.None, "METH_GET": neutral.Within("method", "GET", "HEAD"), "METH_POST": neutral.Within("method", "POST"),
	"METH_PUT": neutral.Within("method", "PUT"), "METH_DELETE": neutral.Within("method", "DELETE"), "METH_OPTIONS": neutral.Within("method", "OPTIONS"),
	"METH_HEAD": neutral.Within("method", "HEAD"), "LOCALHOST": neutral.Within("network", "127.0.0.0/8", "::1"),
}

// named returns what an acl of a section stands for: any of its lines.
func (r *reader) named(s *section, name string) (set neutral.Set, terms []rateTerm, known bool) {
	set = neutral.None
	for _, line := range s.Rules {
		if line.Words[0] != "acl" || len(line.Words) < 3 || line.Words[1] != name {
			continue
		}
		one, rates, ok := r.acl(line, line.Words[2:])
		if known = true; !ok {
			return neutral.Set{}, nil, false
		}
		if terms = append(terms, rates...); rates == nil {
			set = neutral.Union(set, one)
		}
	}
	if fixed, ok := predefined[name]; ok && !known { // an acl of this name goes before it
		return fixed, nil, true
	}
	return set, terms, known
}

// acl returns what one test fits.
func (r *reader) acl(rule haproxycfg.Rule, words []string) (set neutral.Set, terms []rateTerm, known bool) {
	if len(words) == 0 {
		return neutral.Set{}, nil, false
	}
	if strings.HasPrefix(words[0], "var(") && !mappedRate().MatchString(words[0]) {
		name := strings.TrimSuffix(strings.TrimPrefix(words[0], "var("), ")")
		if terms = r.flags[name]; terms != nil {
			return neutral.Set{}, terms, true
		}
		return r.variable(rule, r.vars[name], words[1:])
	}
	test, ok := haproxycfg.ParseTest(words[1:], r.lines)
	if !ok {
		return neutral.Set{}, nil, false
	}
	if set, terms, ok := r.counted(rule, words[0], test.Values); ok {
		return set, terms, true
	}
	parts := haSample().FindStringSubmatch(words[0])
	if parts == nil {
		return neutral.Set{}, nil, false
	}
	name, suffix, _ := strings.Cut(strings.TrimPrefix(parts[1], "req."), "_")
	param, which, _ := strings.Cut(parts[2], ",")
	host := (name == "hdr" || name == "fhdr") && strings.EqualFold(param, "host")
	if test.How == "" && parts[3] == "" && suffix != "param" { // behind a converter, the name of a sample says no method
		test.How = suffix
	}
	if which != "" && !host && test.How != "found" {
		return neutral.Set{}, nil, false
	}
	if strings.Contains(parts[3], ",lower") && !test.Fold {
		if slices.ContainsFunc(test.Values, func(v string) bool { return v != strings.ToLower(v) }) {
			return neutral.None, nil, test.How != "reg"
		}
		test.Fold = true
	}
	if parts[3] != "" && parts[3] != ",lower" && !(host && strings.HasPrefix(parts[3], ",field(1,:)")) {
		return neutral.Set{}, nil, false
	}
	if host && test.How != "found" {
		set, known = r.hostTest(rule, test, strings.HasPrefix(parts[3], ",field"))
		return set, nil, known
	}
	set, known = r.sampled(rule, parts[1], name, param, test)
	return set, nil, known
}

// hostTest are the requests for hosts that fit a test. bare says that the port is cut off before.
func (r *reader) hostTest(rule haproxycfg.Rule, test haproxycfg.Test, bare bool) (neutral.Set, bool) {
	switch {
	case strings.Contains(strings.Join(test.Values, ""), ":"):
		r.Lose(r.place(rule), "hosts have no port here: the condition fits those of other ports and without one as well")
	case !test.Fold || !bare && !slices.Contains([]string{"beg", "dom", "sub"}, test.How):
		r.Tell(r.place(rule), otherHosts)
	}
	return neutral.HostSet(test.How, test.Values)
}

// sampled returns the requests whose sample fits a test. The host has a test of its own.
func (r *reader) sampled(rule haproxycfg.Rule, sample, name, param string, test haproxycfg.Test) (neutral.Set, bool) {
	asParam, values := sample == "url_param", test.Values
	switch {
	case name == "url" && !asParam && (test.How != "beg" || strings.Contains(strings.Join(values, ""), "?")):
		return neutral.Set{}, false // it has the query
	case (name == "path" || name == "url") && !asParam:
		return neutral.TextSet("regexp", test.How, values, test.Fold)
	case name == "method":
		return neutral.Within("method", neutral.UpperAll(values)...), len(values) > 0
	case name == "src":
		return neutral.NetworkSet(values)
	case sample == "dst_port":
		r.Lose(r.place(rule), "only a log with the port tells what dst_port was; else it is taken for another one")
		return neutral.Within("port", values...), len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool {
			return strings.Trim(v, "0123456789") != ""
		})
	case foundKinds[name] == "":
		return neutral.Set{}, false
	case test.How == "found":
		return neutral.Within("without", foundKinds[name]+param).Except(), true
	case strings.EqualFold(param, "user-agent"):
		if name == "hdr" && test.How == "reg" {
			r.Lose(r.place(rule), "hdr tests what stands between commas of the agent, and the whole agent is tested here; fhdr tests that")
		}
		return valueSet("agent", "", test, name == "hdr" && test.How != "reg")
	}
	return valueSet("with", foundKinds[name]+param+"~", test, name == "hdr")
}

// foundKinds are the parts of requests that a sample may look for.
var foundKinds = map[string]string{"hdr": "header:", "fhdr": "header:", "cook": "cookie:", "url": "field:", "urlp": "field:"}

// valueSet returns the requests whose header, cookie or field has one of some texts; of a list, one of its texts has.
func valueSet(key, part string, test haproxycfg.Test, list bool) (neutral.Set, bool) {
	if list {
		if test.How == "reg" || strings.ContainsAny(strings.Join(test.Values, ""), "^$") {
			return neutral.None, false
		}
		alone := func(v string) bool { return !strings.Contains(v, ",") }
		if test.Values = slices.DeleteFunc(slices.Clone(test.Values), func(v string) bool { return !alone(v) }); len(test.Values) == 0 {
			return neutral.None, true
		}
	}
	set, known := neutral.TextSet("agent", test.How, test.Values, test.Fold)
	texts := slices.Clone(set.Conditions.Agents)
	for i, pattern := range texts {
		if list {
			pattern = strings.NewReplacer("^", `(^|,)\s*`, "$", `\s*(,|$)`).Replace(pattern)
		}
		texts[i] = part + pattern
	}
	return neutral.Within(key, texts...), known
}
