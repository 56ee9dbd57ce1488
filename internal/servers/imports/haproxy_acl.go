package imports

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/servers/imports/haproxycfg"
)

// What rules ask for: acls, samples, and what tables count.

// A rateTerm is a condition on a rate, and the requests that it is asked for.
type rateTerm struct {
	counter string // the number behind sc; "": by the address, or by the sample
	sample  string
	table   string
	rate    string // http_req_rate, gpc0_rate, conn_cur; gpc0 for whether a client is marked
	most    int64  // the highest that is admitted
	set     Set
}

// counts reports whether two conditions ask for one rate of the same requests.
func (t rateTerm) counts(other rateTerm) bool {
	return t.counter == other.counter && t.sample == other.sample && t.table == other.table && t.rate == other.rate && t.set.same(other.set)
}

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
func (s *haproxySection) headersAsked() map[string]int {
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
	return mapped(askedHeader().FindAllStringSubmatch(strings.ToLower(text), -1), func(m []string) string { return m[1] })
}

// condition reads what stands behind if or unless: the requests that it fits, as far as they alone say so, and for each
// way in which a rate is asked for, that rate with its requests.
func (r *haproxyReader) condition(s *haproxySection, rule haproxycfg.Rule, words []string) (set Set, rates []rateTerm) {
	groups, text, unless, ok := haproxycfg.Condition(words)
	if !ok {
		return Set{}, nil
	}
	var sets []Set
	for _, terms := range groups {
		g := r.group(s, rule, terms, unless, text)
		some, plain, lost := g.finish()
		if sets, rates = append(sets, plain), append(rates, some...); lost {
			r.lose(r.place(rule), "%s asks for several rates at once: what they refuse together is left out", text)
		}
	}
	if set = union(sets...); !unless {
		return set, rates
	}
	if rates != nil {
		r.below(rule, "unless "+text)
	}
	return set.except(), nil
}

// requests is condition for rules that no rate may be asked for.
func (r *haproxyReader) requests(s *haproxySection, rule haproxycfg.Rule, words []string) Set {
	set, terms := r.condition(s, rule, words)
	if terms != nil {
		r.lose(r.place(rule), "%s goes by a rate, which is not judged here", strings.Join(rule.Words[:2], " "))
	}
	return set
}

// group reads terms that must all fit.
func (r *haproxyReader) group(s *haproxySection, rule haproxycfg.Rule, terms []haproxycfg.Term, unless bool, text string) (g haproxyGroup) {
	for _, t := range terms {
		one, found, known := r.term(s, rule, t)
		switch {
		case !known && unless:
			r.unknown++
			r.lose(r.place(rule), "no condition says %s: it is taken not to hold", text)
			g.all = none
		case !known:
			r.unknown++
			r.lose(r.place(rule), "no condition says %s: it is taken to hold", text)
		case found != nil && t.Not: // what is asked for then is no refusal
			r.below(rule, text)
		case found != nil:
			g.add(found, one)
		default:
			g.all = g.all.and(one.unless(t.Not))
		}
	}
	return g
}

// A haproxyGroup is conditions that must all fit.
type haproxyGroup struct {
	all   Set // those without a rate
	rates []haproxyRates
}

// haproxyRates hold where one of their rates is exceeded, or a request is in the set.
type haproxyRates struct {
	terms []rateTerm
	set   Set
}

// add adds rates. Of one counter, what is above two numbers is above the higher one.
func (g *haproxyGroup) add(terms []rateTerm, set Set) {
	for i, before := range g.rates {
		if len(terms) == 1 && len(before.terms) == 1 && set.never && before.set.never {
			if one, other := terms[0], before.terms[0]; one.counts(other) {
				one.most = max(one.most, other.most)
				g.rates[i].terms = []rateTerm{one}
				return
			}
		}
	}
	g.rates = append(g.rates, haproxyRates{terms, set})
}

// finish returns the rates, each with the requests that it alone decides on, and the requests that fit without any; lost
// reports whether some requests are left for which several rates must be exceeded: those of neither set.
func (g *haproxyGroup) finish() (terms []rateTerm, plain Set, lost bool) {
	plain = g.all
	for i, rates := range g.rates {
		alone, left := g.all, g.all.and(rates.set.except())
		for j, other := range g.rates {
			if j != i {
				alone, lost = alone.and(other.set), lost || !left.and(other.set.except()).never
			}
		}
		for _, t := range rates.terms {
			if t.set = t.set.and(alone); !t.set.never {
				terms = append(terms, t)
			}
		}
		plain = plain.and(rates.set)
	}
	return terms, plain, lost
}

// term returns what an acl fits, by its name or between braces.
func (r *haproxyReader) term(s *haproxySection, rule haproxycfg.Rule, t haproxycfg.Term) (set Set, terms []rateTerm, known bool) {
	if t.Name != "" {
		return r.named(s, t.Name)
	}
	if set, terms, known = r.acl(rule, t.Words); terms != nil {
		set = none
	}
	return set, terms, known
}

// below tells of a condition that a rate is not exceeded. A rule that counts asks so for what a rule behind it refuses.
func (r *haproxyReader) below(rule haproxycfg.Rule, condition string) {
	if !countRule().MatchString(rule.Words[1]) || !strings.Contains(condition, "var(") {
		r.unknown++
		r.lose(r.place(rule), "%s asks for a rate that is not exceeded, which no condition says: it is taken to hold", condition)
	}
}

var predefined = map[string]Set{
	"TRUE": {}, "HTTP": {}, "FALSE": none, "METH_GET": within("method", "GET", "HEAD"), "METH_POST": within("method", "POST"),
	"METH_PUT": within("method", "PUT"), "METH_DELETE": within("method", "DELETE"), "METH_OPTIONS": within("method", "OPTIONS"),
	"METH_HEAD": within("method", "HEAD"), "LOCALHOST": within("network", "127.0.0.0/8", "::1"),
}

// named returns what an acl of a section stands for: any of its lines.
func (r *haproxyReader) named(s *haproxySection, name string) (set Set, terms []rateTerm, known bool) {
	set = none
	for _, line := range s.Rules {
		if line.Words[0] != "acl" || len(line.Words) < 3 || line.Words[1] != name {
			continue
		}
		one, rates, ok := r.acl(line, line.Words[2:])
		if known = true; !ok {
			return Set{}, nil, false
		}
		if terms = append(terms, rates...); rates == nil {
			set = union(set, one)
		}
	}
	if fixed, ok := predefined[name]; ok && !known { // an acl of this name goes before it
		return fixed, nil, true
	}
	return set, terms, known
}

// acl returns what one test fits.
func (r *haproxyReader) acl(rule haproxycfg.Rule, words []string) (set Set, terms []rateTerm, known bool) {
	if len(words) == 0 {
		return Set{}, nil, false
	}
	if strings.HasPrefix(words[0], "var(") && !mappedRate().MatchString(words[0]) {
		name := strings.TrimSuffix(strings.TrimPrefix(words[0], "var("), ")")
		if terms = r.flags[name]; terms != nil {
			return Set{}, terms, true
		}
		return r.variable(rule, r.vars[name], words[1:])
	}
	test, ok := haproxycfg.ParseTest(words[1:], r.lines)
	if !ok {
		return Set{}, nil, false
	}
	if set, terms, ok := r.counted(rule, words[0], test.Values); ok {
		return set, terms, true
	}
	parts := haSample().FindStringSubmatch(words[0])
	if parts == nil {
		return Set{}, nil, false
	}
	name, suffix, _ := strings.Cut(strings.TrimPrefix(parts[1], "req."), "_")
	param, which, _ := strings.Cut(parts[2], ",")
	host := (name == "hdr" || name == "fhdr") && strings.EqualFold(param, "host")
	if test.How == "" && parts[3] == "" && suffix != "param" { // behind a converter, the name of a sample says no method
		test.How = suffix
	}
	if which != "" && !host && test.How != "found" {
		return Set{}, nil, false
	}
	if strings.Contains(parts[3], ",lower") && !test.Fold {
		if slices.ContainsFunc(test.Values, func(v string) bool { return v != strings.ToLower(v) }) {
			return none, nil, test.How != "reg"
		}
		test.Fold = true
	}
	if parts[3] != "" && parts[3] != ",lower" && !(host && strings.HasPrefix(parts[3], ",field(1,:)")) {
		return Set{}, nil, false
	}
	if host && test.How != "found" {
		set, known = r.hostTest(rule, test, strings.HasPrefix(parts[3], ",field"))
		return set, nil, known
	}
	set, known = r.sampled(rule, parts[1], name, param, test)
	return set, nil, known
}

// hostTest are the requests for hosts that fit a test. bare says that the port is cut off before.
func (r *haproxyReader) hostTest(rule haproxycfg.Rule, test haproxycfg.Test, bare bool) (Set, bool) {
	switch {
	case strings.Contains(strings.Join(test.Values, ""), ":"):
		r.lose(r.place(rule), "hosts have no port here: the condition fits those of other ports and without one as well")
	case !test.Fold || !bare && !slices.Contains([]string{"beg", "dom", "sub"}, test.How):
		r.tell(r.place(rule), otherHosts)
	}
	return hostSet(test.How, test.Values)
}

// sampled returns the requests whose sample fits a test. The host has a test of its own.
func (r *haproxyReader) sampled(rule haproxycfg.Rule, sample, name, param string, test haproxycfg.Test) (Set, bool) {
	asParam, values := sample == "url_param", test.Values
	switch {
	case name == "url" && !asParam && (test.How != "beg" || strings.Contains(strings.Join(values, ""), "?")):
		return Set{}, false // it has the query
	case (name == "path" || name == "url") && !asParam:
		return textSet("regexp", test.How, values, test.Fold)
	case name == "method":
		return within("method", upperAll(values)...), len(values) > 0
	case name == "src":
		return networkSet(values)
	case sample == "dst_port":
		r.lose(r.place(rule), "only a log with the port tells what dst_port was; else it is taken for another one")
		return within("port", values...), len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool {
			return strings.Trim(v, "0123456789") != ""
		})
	case foundKinds[name] == "":
		return Set{}, false
	case test.How == "found":
		return within("without", foundKinds[name]+param).except(), true
	case strings.EqualFold(param, "user-agent"):
		if name == "hdr" && test.How == "reg" {
			r.lose(r.place(rule), "hdr tests what stands between commas of the agent, and the whole agent is tested here; fhdr tests that")
		}
		return valueSet("agent", "", test, name == "hdr" && test.How != "reg")
	}
	return valueSet("with", foundKinds[name]+param+"~", test, name == "hdr")
}

// foundKinds are the parts of requests that a sample may look for.
var foundKinds = map[string]string{"hdr": "header:", "fhdr": "header:", "cook": "cookie:", "url": "field:", "urlp": "field:"}

// valueSet are the requests of which a header, a cookie or a field has one of some texts; of a list, one of its texts has.
func valueSet(key, part string, test haproxycfg.Test, list bool) (Set, bool) {
	if list {
		if test.How == "reg" || strings.ContainsAny(strings.Join(test.Values, ""), "^$") {
			return none, false
		}
		alone := func(v string) bool { return !strings.Contains(v, ",") }
		if test.Values = slices.DeleteFunc(slices.Clone(test.Values), func(v string) bool { return !alone(v) }); len(test.Values) == 0 {
			return none, true
		}
	}
	set, known := textSet("agent", test.How, test.Values, test.Fold)
	texts := slices.Clone(set.c.Agents)
	for i, pattern := range texts {
		if list {
			pattern = strings.NewReplacer("^", `(^|,)\s*`, "$", `\s*(,|$)`).Replace(pattern)
		}
		texts[i] = part + pattern
	}
	return within(key, texts...), known
}

// affixes has what stands around a text in an expression, by how that is tested.
var affixes = map[string][2]string{"": {"^", "$"}, "str": {"^", "$"}, "beg": {"^", ""}, "end": {"", "$"}, "sub": {}, "dir": {}, "reg": {}}

// textSet are the requests whose path or agent has one of some texts.
func textSet(key, how string, values []string, fold bool) (Set, bool) {
	affix, known := affixes[how]
	plainPath := key == "regexp" && !fold
	var sets []Set
	for _, v := range values {
		pattern := affix[0] + regexp.QuoteMeta(v) + affix[1]
		switch {
		case !known:
			return none, false
		case plainPath && affix == affixes["str"]:
			sets = append(sets, exactly(v))
			continue
		case plainPath && how == "beg" && strings.HasPrefix(v, "/"):
			sets = append(sets, below(v))
			continue
		case how == "dir":
			pattern = "/" + regexp.QuoteMeta(strings.Trim(v, "/?")) + "(/|$)"
		case how == "reg":
			pattern = v
		}
		if fold {
			pattern = "(?i)" + pattern
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return none, false
		}
		sets = append(sets, within(key, pattern))
	}
	return union(sets...), len(sets) > 0
}

// counted is a test of what a table counts: by a counter, by looking a sample up, or held against the limit of a path.
func (r *haproxyReader) counted(rule haproxycfg.Rule, sample string, values []string) (Set, []rateTerm, bool) {
	if m := mappedRate().FindStringSubmatch(sample); m != nil && slices.Equal(values, []string{"lt", "0"}) {
		return r.against(rule, r.vars[m[1]], r.vars[m[2]])
	}
	if m := lookedUp().FindStringSubmatch(sample); m != nil {
		return r.rate(rule, []string{sample, "", m[2], m[3]}, m[1], values)
	}
	if parts := rateSample().FindStringSubmatch(sample); parts != nil && counter().MatchString(parts[2]) {
		return r.rate(rule, parts, "", values)
	}
	return Set{}, nil, false
}

// rate is a test of a rate: sc_http_req_rate(0,table) gt 20. A sample is what is looked up.
func (r *haproxyReader) rate(rule haproxycfg.Rule, parts []string, sample string, values []string) (Set, []rateTerm, bool) {
	t := rateTerm{counter: parts[1], rate: strings.TrimPrefix(parts[2], "get_"), sample: sample}
	args := strings.Split(parts[3], ",")
	if strings.HasPrefix(strings.Join(parts[:1], ""), "sc_") && len(args) > 0 { // the number stands between parentheses
		t.counter, args = strings.TrimSpace(args[0]), args[1:]
	}
	if len(args) > 0 {
		t.table = strings.TrimSpace(args[0])
	}
	any := slices.Contains([]string{"gt 0", "ge 1"}, strings.Join(values, " "))
	if t.rate == "inc_gpc0" && any { // it is counted, so it holds
		r.marking = &t
		return Set{}, nil, true
	}
	if t.rate == "gpc0" && any && r.refusing {
		return Set{}, []rateTerm{t}, true
	}
	if !slices.Contains([]string{"http_req_rate", "gpc0_rate", "http_err_rate", "http_fail_rate", "conn_cur"}, t.rate) {
		r.unknown++
		r.lose(r.place(rule), "%s counts what no limit here does", parts[0])
		return none, []rateTerm{}, true
	}
	if len(values) < 2 {
		return Set{}, nil, false
	}
	n, err := strconv.ParseInt(values[1], 10, 64)
	switch {
	case err != nil:
		return Set{}, nil, false
	case values[0] == "gt":
		t.most = n
	case values[0] == "ge":
		t.most = n - 1
	default:
		return Set{}, nil, false
	}
	return Set{}, []rateTerm{t}, true
}

// asks reports whether a rate is that of a counter: of its number, or of a table that it counts in. What one counter
// tracks may be looked up in the table of another.
func (x *sectionReader) asks(t rateTerm, c tracked, number string) bool {
	if t.counter == number && cmp.Or(t.table, c.table) == c.table {
		return true
	}
	if t.counter != "" && (t.counter == number || t.table == "" || len(x.counters[t.counter]) == 0) {
		return false
	}
	sample := t.sample
	if t.counter != "" {
		sample = x.counters[t.counter][0].by
	}
	return c.table == cmp.Or(t.table, x.s.Name) && cmp.Or(sample, c.by) == c.by
}
