// Package haproxy reads configurations of HAProxy: sections come in, the limits of their rules go out.
//
// A rule track-sc counts requests in a stick table by a sample, and a rule that denies asks for the rate. A rate of requests
// counts refused ones too; one of gpc0 those that a rule counts, behind the one that denies. The first rule that fits takes
// a counter.
//
// Source: haproxy/haproxy 50872da, doc/configuration.txt, track-sc0, sc_http_req_rate, ACL basics, predefined ACLs;
// src/http_act.c, http_action_track_sc.
package haproxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/mapped"
	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// Line matches what configurations of HAProxy have.
var Line = lazy.Regexp(`(?m)^\s*(stick-table\s+type|http-request\s+(track-sc|deny|tarpit)|default_backend\s|acl\s+\S+\s|(frontend|backend|listen)\s+[^\s;{]+[ \t]*$)`)

// A section is a frontend, a backend or both.
type section struct {
	*haproxycfg.Section
	set      neutral.Set // its requests
	passed   neutral.Set // those that no rule of it refuses, other than by a rate
	leads    []*section
	counters map[string][]tracked
	taken    map[string]neutral.Set // of each counter, what has taken it
}

type reader struct {
	*neutral.Result
	file     string
	sections []*section
	tables   map[string]haproxycfg.Table
	flags    map[string][]rateTerm // variables that are set when a rate is exceeded
	vars     map[string][]varCase  // other variables
	unknown  int                   // conditions that were taken to hold
	asked    []string              // of each limit of the policy, the rate of a table that it asks for
	places   []place               // of each limit of the policy
	refusing bool                  // whether the condition that is read is that of a refusal
	timed    bool                  // whether the log tells how long requests take
	marking  *rateTerm             // the mark that the condition read last sets; nil: none
	rated    bool                  // whether that condition has asked for a rate so far
	early    bool                  // whether it marks before it does
}

// Read reads the text of a file.
func Read(to *neutral.Result, file string, text []byte) error {
	r := &reader{
		Result: to, file: file, tables: map[string]haproxycfg.Table{}, flags: map[string][]rateTerm{}, vars: map[string][]varCase{},
	}
	for _, s := range haproxycfg.Parse(string(text)) {
		r.readTables(s)
		r.timed = r.timed || s.Has(logsTimes)
		if s.Kind != "defaults" && s.Setting("disabled", "enabled")[0] == "disabled" {
			r.Tell(fmt.Sprintf("%s:%d", file, s.Line), "%s %s is disabled: it gets no request", s.Kind, s.Name)
			continue
		}
		r.sections = append(r.sections, &section{Section: s})
	}
	r.addresses()
	r.tellUnknown()
	r.captures()
	r.byPorts()
	r.unset()
	p := neutral.Policy{Name: "haproxy"}
	read := func(backends bool) {
		for _, s := range r.sections {
			if s.Kind != "defaults" && s.Kind != "global" && (s.Kind == "backend") == backends {
				r.readSection(&p, s)
			}
		}
	}
	read(false)
	r.route()
	read(true)
	r.share(&p)
	r.combine(&p)
	to.Policies = append(to.Policies, p)
	return nil
}

func (r *reader) place(rule haproxycfg.Rule) string {
	return fmt.Sprintf("%s:%d", r.file, rule.Line)
}

// A tracked counter is counted by a rule.
type tracked struct {
	rule  haproxycfg.Rule
	in    *section
	at    int         // which rule of the section it is; -1 in a backend to which that leads
	moves int         // before which rule of its section it counts requests
	came  neutral.Set // which of its requests these are
	table string
	by    string // the sample
	keys  []neutral.KeyCase
}

var (
	trackRule  = lazy.Regexp(`^track-sc(\d)$`)
	countRule  = lazy.Regexp(`^sc-inc-gpc0\((\d)\)$`)
	setVarRule = lazy.Regexp(`^set-var\(([\w.]+)\)$`)
	constant   = lazy.Regexp(`^(str|int|bool)\(`)
	counted    = lazy.Regexp(`_(rate|cur|cnt)\b`)
	answering  = lazy.Regexp(`^(http-response (deny|return|redirect|silent-drop)|tcp-response content (reject|close|silent-drop))`)
	headerRule = lazy.Regexp(`^(set|add|del|replace)-(header|value)$`)
	setAnyVar  = lazy.Regexp(`^set-var(?:-fmt)?\(([\w.]+)`)
)

// A sectionReader reads the rules of a section in their order.
type sectionReader struct {
	*reader
	s                     *section
	counters              map[string][]tracked
	taken, counts         map[string]neutral.Set // of each counter, what has taken it, and what moves its gpc0
	counted               map[string][2]int      // the first rule that moves it, and the last
	refusals, marks, bans []refusal
	left, open            neutral.Set // that no rule has ended, and that none has allowed
	begin                 int         // where rules of requests begin
	headers               map[string]int
}

func (r *reader) readSection(p *neutral.Policy, s *section) {
	s.counters, s.taken = map[string][]tracked{}, map[string]neutral.Set{}
	x := sectionReader{reader: r, s: s, counters: s.counters, taken: s.taken, counts: map[string]neutral.Set{}, counted: map[string][2]int{}, headers: s.headersAsked()}
	if x.plainTCP() {
		return
	}
	x.inherit()
	rules := slices.Clone(s.Rules)
	slices.SortStableFunc(rules, func(a, b haproxycfg.Rule) int { return cmp.Compare(a.Turn(), b.Turn()) })
	for x.begin < len(rules) && rules[x.begin].Turn() < haproxycfg.OfRequests {
		x.begin++
	}
	for n, rule := range rules {
		if x.read(n, rule); n+1 == x.begin {
			x.count()
		}
	}
	for _, f := range x.shutOut(x.refusals, x.marks, x.bans) {
		x.limit(p, f)
	}
}

// count has the counters of connections and content count requests: those that no rule has ended so far.
func (x *sectionReader) count() {
	for _, all := range x.counters {
		for n := range all {
			if all[n].in == x.s {
				all[n].came = x.left
			}
		}
	}
}

// read takes a rule, the n-th of the section.
func (x *sectionReader) read(n int, rule haproxycfg.Rule) {
	switch text := strings.Join(rule.Words, " "); {
	case rule.Words[0] == "rate-limit":
		x.Lose(x.place(rule), "%s bounds connections, which no limit here does", text)
	case answering().MatchString(text) && counted().MatchString(x.spelled(rule)):
		x.Lose(x.place(rule), "%s refuses when the answer is there, which no limit here does", answering().FindString(text))
	}
	words := rule.Judging()
	if words == nil {
		return
	}
	switch verb := words[1]; {
	case trackRule().MatchString(verb) && len(words) > 2:
		x.track(n, rule, words)
	case countRule().MatchString(verb):
		number := countRule().FindStringSubmatch(verb)[1]
		set, terms := x.condition(x.s, rule, words)
		set = x.left.And(set)
		x.marks = append(x.marks, mapped.Add(nil, terms, func(t rateTerm) refusal {
			return refusal{rule: rule, at: n, term: t, mark: &rateTerm{counter: number}}
		})...)
		if before, ok := x.counts[number]; ok {
			set = neutral.Union(before, set)
		}
		first, ok := x.counted[number]
		if !ok {
			first[0] = n
		}
		x.counted[number] = [2]int{first[0], n}
		x.counts[number] = set
	case headerRule().MatchString(verb) && len(words) > 2:
		if x.headers[strings.ToLower(words[2])] > rule.Line {
			x.Lose(x.place(rule), "%s %s is not read: what asks for the header behind it is judged by what is logged", verb, words[2])
		}
	case setAnyVar().MatchString(verb) && len(words) > 2:
		x.setVar(x.s, rule, words, x.open)
	case strings.HasPrefix(verb, "lua."):
		x.Lose(x.place(rule), "%s is not read, and may refuse requests", verb)
	case verb == "accept" && len(words) > 2: // which ends rules of tcp-request alone
		x.Lose(x.place(rule), "accept is not read: rules of tcp-request behind it are taken to judge its requests as well")
	case slices.Contains([]string{"deny", "tarpit", "reject", "return", "silent-drop", "redirect", "allow"}, verb),
		verb == "capture" && len(words) > 2 && constant().MatchString(words[2]): // as a limit is tried first
		x.refuse(n, rule, words)
	}
}

// mostTracked is the most rules for one sample: what each of them is for depends on all before it.
const mostTracked = 64

// track takes a rule that counts requests by a sample.
func (x *sectionReader) track(n int, rule haproxycfg.Rule, words []string) {
	table, number := x.s.Name, trackRule().FindStringSubmatch(words[1])[1]
	if len(words) > 4 && words[3] == "table" {
		table = words[4]
	}
	if all := x.counters[number]; len(all) == mostTracked {
		x.Lose(x.place(all[mostTracked-1].rule), "of the rules for %s those behind this one, the %dth, are not read", words[1], mostTracked)
		return
	}
	set := x.left.And(x.requests(x.s, rule, words))
	own := set
	before, again := x.taken[number]
	if again {
		x.tellShared(rule, number)
		if own = set.And(before.Except()); own.Never && !set.Never {
			x.Tell(x.place(rule), "rules before it have taken %s of all that it is for: it counts nothing there", words[1])
		}
	}
	var keys []neutral.KeyCase
	if !own.Never {
		keys = x.keyCases(rule, table, words[2], x.s.set.And(own))
	}
	if len(keys) == 1 && strings.Contains(keys[0].By.String(), ":") { // what is not there does not take the counter
		set = set.Having(keys[0].By.String())
	}
	if again {
		set = neutral.Union(before, set)
	}
	x.taken[number] = set
	moves := n
	if rule.Turn() < haproxycfg.OfRequests {
		moves = x.begin
	}
	x.counters[number] = append(x.counters[number], tracked{rule, x.s, n, moves, neutral.Set{}, table, words[2], keys})
}

// refuse takes a rule that ends what it fits, by a rate or without, or that marks it by a rate.
func (x *sectionReader) refuse(n int, rule haproxycfg.Rule, words []string) {
	verb, read := words[1], x.ended
	if verb == "capture" {
		read = x.tried
	}
	terms := read(rule, words)
	switch {
	case terms != nil && verb == "allow":
		x.Lose(x.place(rule), "http-request allow goes by a rate, which is not judged here")
		return
	case terms != nil && (rule.Words[1] == "connection" || rule.Words[1] == "session"):
		x.Lose(x.place(rule), "%s %s is asked for once a connection there, and for each request here", rule.Words[1], rule.Words[2])
	}
	if x.early && len(terms) > 0 {
		x.Lose(x.place(rule), "it marks before it asks for a rate: each request is marked there, and here who is over the rate")
	}
	for _, t := range terms {
		how := strings.TrimSuffix(strings.Join(words[1:3], " "), " if")
		if at := slices.IndexFunc(words, func(w string) bool { return w == "deny_status" || w == "status" }); at > 0 && at+1 < len(words) {
			how = verb + " " + words[at+1]
		}
		t.set = t.set.And(x.left)
		if f := (refusal{rule: rule, at: n, term: t, how: how, mark: x.marking}); t.rate == "gpc0" {
			x.bans = append(x.bans, f)
		} else {
			x.refusals = append(x.refusals, f)
		}
	}
}

// ended takes out what a rule ends without a rate, and returns the rates that it asks for.
func (x *sectionReader) ended(rule haproxycfg.Rule, words []string) []rateTerm {
	before, notes := x.unknown, len(x.Notes)
	x.refusing, x.marking, x.rated, x.early = true, nil, false, false
	set, terms := x.condition(x.s, rule, words)
	x.refusing = false
	switch {
	case x.unknown == before: // no rule behind it is asked
		if x.left = x.left.And(set.Except()); words[1] == "allow" {
			x.open = x.open.And(set.Except())
		} else {
			x.s.passed = x.s.passed.And(set.And(x.open).Except())
		}
	case terms == nil:
		left := "what the rule ends counts here"
		if x.s.Has(func(acl []string) bool { // by a rate, which is not understood
			return len(acl) > 2 && acl[0] == "acl" && slices.Contains(words, acl[1]) && (counted().MatchString(acl[2]) || mappedRate().MatchString(acl[2]))
		}) {
			left = "it refuses by a rate there, and nothing here"
		}
		for i := range x.Notes[notes:] {
			if text, _, ok := strings.Cut(x.Notes[notes+i].Text, "it is taken "); ok {
				x.Notes[notes+i].Text = text + left
			}
		}
	}
	return terms
}

// tried returns the rates that a rule asks for which marks requests in the log alone, and ends none. Without a rate, its
// condition matters to no limit.
func (x *sectionReader) tried(rule haproxycfg.Rule, words []string) []rateTerm {
	unknown, notes := x.unknown, len(x.Notes)
	x.refusing, x.marking, x.rated, x.early = true, nil, false, false
	_, terms := x.condition(x.s, rule, words)
	if x.refusing = false; terms == nil {
		for _, n := range x.Notes[notes:] {
			delete(x.Noted, n)
		}
		x.unknown, x.Notes = unknown, x.Notes[:notes]
	}
	return terms
}
