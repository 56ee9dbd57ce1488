package imports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"shadow/lazy"
	"shadow/request"
)

// HAProxy: a rule track-sc counts requests in a stick table by a sample, and a rule that denies asks for the rate. A rate
// of requests counts refused ones too; one of gpc0 those that a rule counts, behind the one that denies. The first rule
// that fits takes a counter.
// Source: haproxy/haproxy 50872da, doc/configuration.txt, track-sc0, sc_http_req_rate, ACL basics, predefined ACLs;
// src/http_act.c, http_action_track_sc.

var haproxyFormat = format{name: "haproxy", is: looksLikeHAProxy, read: readHAProxy}

var haproxyLine = lazy.Regexp(`(?m)^\s*(stick-table\s+type|http-request\s+(track-sc|deny|tarpit)|default_backend\s|acl\s+\S+\s|(frontend|backend|listen)\s+[^\s;{]+[ \t]*$)`)

func looksLikeHAProxy(text []byte) bool { return haproxyLine().Match(text) }

// A haproxyRule is a line.
type haproxyRule struct {
	words []string
	line  int
}

// A haproxySection is a frontend, a backend or both.
type haproxySection struct {
	kind, name string
	line       int
	rules      []haproxyRule
	set        Set // its requests
}

type haproxyReader struct {
	*Import
	file     string
	sections []*haproxySection
	tables   map[string]map[string]string // the period of each rate, by table
	flags    map[string][]rateTerm        // variables that are set when a rate is exceeded
	vars     map[string]string            // other variables
	unknown  int                          // conditions that were taken to hold
	asked    []string                     // of each limit of the policy, the rate of a table that it asks for
	expires  map[string]string            // after which time without a request a table forgets a client
	refusing bool                         // whether the condition that is read is that of a refusal
	marking  *rateTerm                    // the mark that the condition read last sets; nil: none
}

var storedRate = lazy.Regexp(`^([a-z0-9_]+)\((\w+)\)$`)

func readHAProxy(i *Import, file string, text []byte) error {
	r := &haproxyReader{Import: i, file: file, tables: map[string]map[string]string{}, flags: map[string][]rateTerm{}, vars: map[string]string{}, expires: map[string]string{}}
	for n, line := range strings.Split(string(text), "\n") {
		words := haproxyWords(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "frontend", "backend", "listen", "defaults", "global", "userlist", "peers", "resolvers", "cache", "program":
			name := ""
			if len(words) > 1 {
				name = words[1]
			}
			r.sections = append(r.sections, &haproxySection{kind: words[0], name: name, line: n + 1})
		default:
			if len(r.sections) == 0 { // a part of a frontend
				r.sections = append(r.sections, &haproxySection{kind: "frontend"})
			}
			last := r.sections[len(r.sections)-1]
			last.rules = append(last.rules, haproxyRule{words, n + 1})
		}
	}
	for _, s := range r.sections {
		for _, rule := range s.rules {
			if rule.words[0] == "stick-table" {
				r.tables[s.name] = stored(rule.words)
				if at := slices.Index(rule.words, "expire"); at > 0 && at+1 < len(rule.words) {
					r.expires[s.name] = withUnit(rule.words[at+1])
				}
			}
		}
	}
	r.byPorts()
	r.route()
	p := Policy{Name: "haproxy"}
	for _, s := range r.sections {
		if s.kind != "defaults" && s.kind != "global" {
			r.readSection(&p, s)
		}
	}
	for n := range p.Limits { // sections may count in one place
		for m := range p.Limits {
			if r.asked[n] == r.asked[m] && p.Limits[n].By == p.Limits[m].By {
				p.Limits[n].Count = union(p.Limits[n].Count, p.Limits[m].Count)
			}
		}
	}
	i.Policies = append(i.Policies, p)
	return nil
}

// haproxyWords are those of a line, without its comment.
func haproxyWords(line string) (words []string) {
	var word strings.Builder
	begun, quote := false, rune(0)
	flush := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == '#':
			flush()
			return words
		case c == ' ' || c == '\t' || c == '\r':
			flush()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	flush()
	return words
}

// stored are the rates that a table keeps, with their periods.
func stored(words []string) map[string]string {
	rates := map[string]string{}
	for n, word := range words {
		if word != "store" || n+1 == len(words) {
			continue
		}
		for item := range strings.SplitSeq(words[n+1], ",") {
			if parts := storedRate().FindStringSubmatch(item); parts != nil {
				rates[parts[1]] = parts[2]
			}
		}
	}
	return rates
}

func (r *haproxyReader) place(rule haproxyRule) string {
	return fmt.Sprintf("%s:%d", r.file, rule.line)
}

// byPorts tells the requests of sections that listen by their ports, where one of them limits and another does more than
// redirect. Those of a log without ports are taken to come to each.
func (r *haproxyReader) byPorts() {
	var listening []*haproxySection
	limits, differ, odd := 0, false, false
	for _, s := range r.sections {
		tracks := s.has(func(words []string) bool { return len(words) > 1 && trackRule().MatchString(words[1]) })
		ports := s.ports()
		if ports == nil || !tracks && s.has(redirectsAll) {
			continue
		}
		if tracks {
			limits++
		}
		listening = append(listening, s)
		differ = differ || !slices.Equal(ports, listening[0].ports())
		odd = odd || slices.Contains(ports, "")
	}
	if limits == 0 || !differ {
		return
	}
	for _, s := range listening {
		place, ports := fmt.Sprintf("%s:%d", r.file, s.line), s.ports()
		if odd {
			r.lose(place, "%s %s: a bind in it or beside it has no number for a port: all requests are taken to come to it", s.kind, s.name)
			continue
		}
		note := r.tell
		if limits > 1 {
			note = r.lose
		}
		note(place, "only a log with the port tells requests to %s %s (%s) from others; else all are taken to come to it", s.kind, s.name,
			strings.Join(ports, ", "))
		s.set = within("port", append(ports, request.NoPort)...)
	}
}

// redirectsAll reports whether a rule redirects every request, or every one without TLS.
func redirectsAll(words []string) bool {
	at, text := slices.Index(words, "redirect"), strings.Join(words, " ")
	always := !slices.Contains(words, "if") && !slices.Contains(words, "unless")
	return (at == 0 || at == 1 && words[0] == "http-request") &&
		(always || strings.HasSuffix(text, "unless { ssl_fc }") || strings.HasSuffix(text, "if !{ ssl_fc }"))
}

func (s *haproxySection) has(is func(words []string) bool) bool {
	return slices.ContainsFunc(s.rules, func(rule haproxyRule) bool { return is(rule.words) })
}

// ports are those on which a section listens.
func (s *haproxySection) ports() (ports []string) {
	for _, rule := range s.rules {
		if rule.words[0] != "bind" || len(rule.words) < 2 || s.kind == "backend" {
			continue
		}
		for address := range strings.SplitSeq(rule.words[1], ",") {
			port := address[strings.LastIndexByte(address, ':')+1:]
			if strings.Trim(port, "0123456789") != "" {
				port = "" // a path, a variable, a range
			}
			ports = append(ports, port)
		}
	}
	return sortedPorts(ports)
}

// route finds which requests backends get.
func (r *haproxyReader) route() {
	gets := map[string][]Set{}
	for _, s := range r.sections {
		left := s.set
		for _, rule := range s.rules {
			switch {
			case rule.words[0] == "use_backend" && len(rule.words) > 1:
				set, _ := r.condition(s, rule, rule.words[2:])
				gets[rule.words[1]] = append(gets[rule.words[1]], left.and(set))
				left = left.and(set.except())
			case rule.words[0] == "default_backend" && len(rule.words) > 1:
				gets[rule.words[1]] = append(gets[rule.words[1]], left)
			}
		}
	}
	for _, s := range r.sections {
		if s.kind == "backend" && gets[s.name] != nil {
			s.set = union(gets[s.name]...)
		}
	}
}

// A tracked counter is counted by a rule.
type tracked struct {
	rule  haproxyRule
	at    int // which rule of the section it is
	table string
	keys  []keyCase
}

var (
	trackRule  = lazy.Regexp(`^track-sc(\d)$`)
	countRule  = lazy.Regexp(`^sc-inc-gpc0\((\d)\)$`)
	setVarRule = lazy.Regexp(`^set-var\(([\w.]+)\)$`)
)

// A refusal is a rule that refuses, and one way in which it asks for a rate.
type refusal struct {
	rule haproxyRule
	at   int // which rule of the section it is
	term rateTerm
	how  string
	mark *rateTerm    // with what it marks those that it refuses; nil: it does not
	ban  *haproxyRule // which then shuts them out; nil: none does
}

// readSection reads the rules of a section in their order.
func (r *haproxyReader) readSection(p *Policy, s *haproxySection) {
	counters, taken := map[string][]tracked{}, map[string]Set{}
	var refusals, marks, bans []refusal
	left := Set{} // that no rule has ended
	counts := map[string]Set{}
	for n, rule := range s.rules {
		words := rule.words
		switch {
		case words[0] == "tcp-request" && len(words) > 3 && (words[1] == "connection" || words[1] == "content" || words[1] == "session"):
			words = append([]string{"http-request"}, words[2:]...)
			if words[1] == "reject" {
				words[1] = "deny"
			}
		case words[0] == "rate-limit":
			r.lose(r.place(rule), "%s bounds connections, which no limit here does", strings.Join(words, " "))
			continue
		case words[0] != "http-request" || len(words) < 2:
			continue
		}
		verb := words[1]
		switch {
		case trackRule().MatchString(verb) && len(words) > 2:
			table := s.name
			if len(words) > 4 && words[3] == "table" {
				table = words[4]
			}
			set, _ := r.condition(s, rule, words)
			set = left.and(set)
			number := trackRule().FindStringSubmatch(verb)[1]
			own := set
			if before, ok := taken[number]; ok {
				own, set = set.and(before.except()), union(before, set)
			}
			taken[number] = set
			counters[number] = append(counters[number], tracked{rule, n, table, r.haproxyKey(rule, words[2], s.set.and(own))})
		case countRule().MatchString(verb):
			number := countRule().FindStringSubmatch(verb)[1]
			set, terms := r.condition(s, rule, words)
			for _, t := range terms {
				marks = append(marks, refusal{rule: rule, at: n, term: t, mark: &rateTerm{counter: number}})
			}
			if before, ok := counts[number]; ok {
				set = union(before, set)
			}
			counts[number] = set
		case setVarRule().MatchString(verb) && len(words) > 2 && words[2] == "bool(true)":
			if _, terms := r.condition(s, rule, words); terms != nil {
				r.flags[setVarRule().FindStringSubmatch(verb)[1]] = terms
			}
		case strings.HasPrefix(verb, "lua."):
			r.lose(r.place(rule), "%s is not read, and may refuse requests", verb)
		case verb == "accept" && len(words) > 2: // which ends rules of tcp-request alone
			r.lose(r.place(rule), "accept is not read: rules of tcp-request behind it are taken to judge its requests as well")
		case setVarRule().MatchString(verb) && len(words) > 2:
			r.vars[setVarRule().FindStringSubmatch(verb)[1]] = words[2]
		case slices.Contains([]string{"deny", "tarpit", "reject", "return", "silent-drop", "redirect", "allow"}, verb),
			verb == "capture" && len(words) > 2 && words[2] == "str(over-limit)": // which is how a limit is tried first
			before, notes := r.unknown, len(r.Notes)
			r.refusing, r.marking = true, nil
			set, terms := r.condition(s, rule, words)
			r.refusing = false
			switch {
			case terms == nil && r.unknown == before: // no rule behind it is asked
				left = left.and(left.and(set).except())
			case terms == nil:
				for i := range r.Notes[notes:] {
					if text, ok := strings.CutSuffix(r.Notes[notes+i].Text, "it is taken to hold"); ok {
						r.Notes[notes+i].Text = text + "what the rule ends counts here"
					}
				}
			}
			for _, t := range terms {
				how := strings.TrimSuffix(strings.Join(words[1:3], " "), " if")
				if at := slices.IndexFunc(words, func(w string) bool { return w == "deny_status" || w == "status" }); at > 0 && at+1 < len(words) {
					how = verb + " " + words[at+1]
				}
				t.set = t.set.and(left)
				if f := (refusal{rule: rule, at: n, term: t, how: how, mark: r.marking}); t.rate == "gpc0" {
					bans = append(bans, f)
				} else {
					refusals = append(refusals, f)
				}
			}
		}
	}
	refusals = r.shutOut(s, refusals, marks, bans)
	for _, f := range refusals {
		found, before, tables := false, len(p.Limits), []string{}
		for _, number := range slices.Sorted(maps.Keys(counters)) {
			for _, counter := range counters[number] {
				if f.term.counter != number && (f.term.counter != "" || found || counter.table != cmp.Or(f.term.table, s.name) ||
					f.term.sample != "" && f.term.sample != counter.rule.words[2]) {
					continue
				}
				found = true
				table := counter.table
				period, ok := r.tables[table][f.term.rate]
				if !ok {
					r.lose(r.place(f.rule), "the table %s stores no %s", table, f.term.rate)
					continue
				}
				period = withUnit(period)
				most, options := f.term.most, ""
				moves, counted := counts[number]
				if f.term.rate != "gpc0_rate" {
					moves = Set{}
				}
				switch {
				case f.term.rate == "gpc0_rate" && !counted:
					r.lose(r.place(f.rule), "no rule of this section counts gpc0 in requests")
					continue
				case f.term.rate == "gpc0_rate", f.at < counter.at:
					// the request itself is not counted yet, and a refused one never
					options = ",charge=admitted"
					most++
				}
				if f.ban != nil {
					options += r.cooldown(*f.ban, table, period)
				}
				if most < 1 {
					r.lose(r.place(f.rule), "a rate of %d admits nothing", most)
					continue
				}
				for _, key := range counter.keys {
					if k := slices.IndexFunc(p.Limits[before:], func(l Limit) bool { return l.By == key.by }); k >= 0 && tables[k] == table {
						l := &p.Limits[before+k] // rules that count in one place
						l.Match, l.Count = union(l.Match, key.set.and(f.term.set)), union(l.Count, key.set.and(moves))
						l.Told = slices.Insert(l.Told, 1, fmt.Sprintf("%s %s", r.place(counter.rule), strings.Join(counter.rule.words, " ")))
						continue
					}
					told := []string{
						fmt.Sprintf("%s %s", r.place(counter.rule), strings.Join(counter.rule.words, " ")),
						fmt.Sprintf("%s %s", r.place(f.rule), f.how),
					}
					if f.ban != nil && f.ban.line != f.rule.line {
						told = append(told, fmt.Sprintf("%s %s", r.place(*f.ban), strings.Join(f.ban.words, " ")))
					}
					tables = append(tables, table)
					r.asked = append(r.asked, table+" "+f.term.rate+options)
					p.Limits = append(p.Limits, Limit{
						Text: fmt.Sprintf("haproxy:%d/%s%s", most, period, options), By: key.by,
						Match: key.set.and(f.term.set), Count: key.set.and(moves),
						Told: told,
					})
				}
			}
		}
		if !found {
			r.lose(r.place(f.rule), "no rule of this section counts what is asked for")
		}
	}
}

// haproxyKey is what a sample counts by.
func (r *haproxyReader) haproxyKey(rule haproxyRule, sample string, set Set) []keyCase {
	parts := haSample().FindStringSubmatch(sample)
	word := ""
	if parts != nil {
		name, _, _ := strings.Cut(parts[2], ",")
		switch parts[1] {
		case "src":
			if mask := maskSample().FindStringSubmatch(parts[3]); mask != nil {
				v4, v6 := "client/"+mask[1], "client"
				if mask[2] != "" {
					v6 = "client/" + mask[2]
				}
				return slices.Concat(present(set.and(within("network", "0.0.0.0/0")), []string{v4}, nil, true),
					present(set.and(within("network", "::/0")), []string{v6}, nil, true))
			}
			word = "client"
		case "req.hdr", "req.fhdr", "hdr", "req.hdr_ip", "hdr_ip", "req.hdr_host":
			switch word = "header:" + name; strings.ToLower(name) {
			case "host":
				word = "host"
			case "user-agent":
				word = "agent"
			case "x-forwarded-for":
				r.tell(r.place(rule), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
				word = "client"
			}
		case "req.cook", "cook":
			word = "cookie:" + name
		case "url_param", "urlp":
			word = "field:" + name
		case "http_auth_user":
			word = "user"
		case "path", "url", "base":
			word = "path"
		case "base32", "url32":
			word = "host+path"
		case "base32+src", "url32+src":
			word = "client+host+path"
		case "int", "str", "bool", "always_true":
			return []keyCase{{set, request.BySite}}
		}
	}
	if strings.HasPrefix(sample, "base32+src") || strings.HasPrefix(sample, "url32+src") {
		word = "client+host+path"
	}
	if word == "" {
		r.lose(r.place(rule), "no limit here counts by %s: limits of this counter are left out", sample)
		return nil
	}
	var words []string
	for w := range strings.SplitSeq(word, "+") {
		if key, err := request.ParseKey(w); err == nil {
			w = key.String()
		}
		words = append(words, w)
	}
	return present(set, words, nil, false)
}
