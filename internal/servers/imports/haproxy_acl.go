package imports

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
)

// What rules ask for: acls, samples, and what tables count.

// A rateTerm is a condition on a rate, and the requests that it is asked for.
type rateTerm struct {
	counter string // the number behind sc; "": by the address, or by the sample
	sample  string
	table   string
	rate    string // http_req_rate, gpc0_rate; gpc0 for whether a client is marked
	most    int64  // the highest that is admitted
	set     Set
}

var (
	rateSample = lazy.Regexp(`^(?:sc(\d)?_|src_)([a-z0-9_]+)(?:\(([^)]*)\))?$`)
	counter    = lazy.Regexp(`(_rate|_cnt|_cur|_?gpc\d?|_?gpt\d?)$`)
	lookedUp   = lazy.Regexp(`^(.+),table_([a-z0-9_]+)(?:\(([^)]*)\))?$`)
	mappedRate = lazy.Regexp(`^var\(([\w.]+)\),sub\(([\w.]+)\)$`)
	pathMap    = lazy.Regexp(`^path,map_beg\(([^,)]+)(?:,(\d+))?\)$`)
	haSample   = lazy.Regexp(`^([a-z0-9_.]+)(?:\(([^)]*)\))?((?:,.*)?)$`)
	maskSample = lazy.Regexp(`ipmask\((\d+)(?:,(\d+))?\)`)
)

// condition reads what stands behind if or unless: the requests that it fits, as far as they alone say so, and for each
// way in which a rate is asked for, that rate with its requests.
func (r *haproxyReader) condition(s *haproxySection, rule haproxyRule, words []string) (set Set, terms []rateTerm) {
	at := slices.IndexFunc(words, func(w string) bool { return w == "if" || w == "unless" })
	if at < 0 {
		return Set{}, nil
	}
	var sets []Set
	all := Set{}
	var rates []rateTerm
	finish := func() {
		for _, rate := range rates {
			rate.set = rate.set.and(all)
			terms = append(terms, rate)
		}
		if rates == nil {
			sets = append(sets, all)
		}
		all, rates = Set{}, nil
	}
	rest := words[at+1:]
	for n := 0; n < len(rest); n++ {
		word := rest[n]
		if word == "||" || word == "or" {
			finish()
			continue
		}
		not := false
		for strings.HasPrefix(word, "!") {
			not, word = !not, word[1:]
		}
		if word == "" && n+1 < len(rest) {
			n++
			word = rest[n]
		}
		var one Set
		var found []rateTerm
		var known bool
		if word == "{" {
			end := n + 1
			for end < len(rest) && rest[end] != "}" {
				end++
			}
			one, found, known = r.acl(rule, rest[n+1:end])
			n = end
		} else {
			one, found, known = r.named(s, word)
		}
		switch {
		case !known:
			r.unknown++
			r.lose(r.place(rule), "no condition says %s: it is taken to hold", strings.Join(rest, " "))
		case found != nil && not:
			// below the rate: what is asked for then is no refusal
		case found != nil:
			rates = append(rates, found...)
		case not:
			all = all.and(one.except())
		default:
			all = all.and(one)
		}
	}
	finish()
	set = union(sets...)
	if words[at] == "unless" {
		set, terms = set.except(), nil
	}
	return set, terms
}

var predefined = map[string]Set{
	"TRUE": {}, "HTTP": {}, "FALSE": none, "METH_GET": within("method", "GET", "HEAD"), "METH_POST": within("method", "POST"),
	"METH_PUT": within("method", "PUT"), "METH_DELETE": within("method", "DELETE"), "METH_OPTIONS": within("method", "OPTIONS"),
	"METH_HEAD": within("method", "HEAD"), "LOCALHOST": within("network", "127.0.0.0/8", "::1"),
}

// named returns what an acl of a section stands for: any of its lines.
func (r *haproxyReader) named(s *haproxySection, name string) (set Set, terms []rateTerm, known bool) {
	if set, ok := predefined[name]; ok {
		return set, nil, true
	}
	set = none
	for _, line := range s.rules {
		if line.words[0] != "acl" || len(line.words) < 3 || line.words[1] != name {
			continue
		}
		one, rates, ok := r.acl(line, line.words[2:])
		if known = true; !ok {
			return Set{}, nil, false
		}
		if terms = append(terms, rates...); rates == nil {
			set = union(set, one)
		}
	}
	return set, terms, known
}

// acl returns what one test fits.
func (r *haproxyReader) acl(rule haproxyRule, words []string) (set Set, terms []rateTerm, known bool) {
	if len(words) == 0 {
		return Set{}, nil, false
	}
	if strings.HasPrefix(words[0], "var(") && !mappedRate().MatchString(words[0]) {
		terms = r.flags[strings.TrimSuffix(strings.TrimPrefix(words[0], "var("), ")")]
		return Set{}, terms, terms != nil
	}
	sample, how, fold := words[0], "", false
	values := words[1:]
	for len(values) > 0 && strings.HasPrefix(values[0], "-") {
		switch {
		case values[0] == "-i":
			fold = true
		case values[0] == "-m" && len(values) > 1:
			how = values[1]
			values = values[1:]
		case values[0] == "--":
		default: // -f FILE and the like
			return Set{}, nil, false
		}
		values = values[1:]
	}
	if set, terms, ok := r.counted(rule, sample, values); ok {
		return set, terms, true
	}
	parts := haSample().FindStringSubmatch(sample)
	if parts == nil {
		return Set{}, nil, false
	}
	name, suffix, _ := strings.Cut(parts[1], "_")
	if strings.HasPrefix(parts[1], "req.") {
		name, suffix, _ = strings.Cut(parts[1][4:], "_")
	}
	if how == "" && suffix != "param" {
		how = suffix
	}
	header, _, _ := strings.Cut(strings.ToLower(parts[2]), ",")
	switch {
	case (name == "path" || name == "url" || name == "base") && suffix != "param":
		set, known = textSet("regexp", how, values, fold)
	case name == "method":
		return within("method", upperAll(values)...), nil, len(values) > 0
	case name == "src":
		var networks []string
		for _, v := range values {
			prefix, err := parseNetwork(v)
			if err != nil {
				return Set{}, nil, false
			}
			networks = append(networks, networkText(prefix))
		}
		return within("network", networks...), nil, len(networks) > 0
	case parts[1] == "dst_port":
		r.lose(r.place(rule), "only a log with the port tells what dst_port was; else it is taken for another one")
		return within("port", values...), nil, len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool {
			return strings.Trim(v, "0123456789") != ""
		})
	case (name == "hdr" || name == "fhdr") && header == "host":
		set, known = hostSet(how, values)
	case (name == "hdr" || name == "fhdr") && header == "user-agent" && how != "found":
		set, known = textSet("agent", how, values, fold)
	case how == "found" && foundKinds[name] != "":
		return within("without", foundKinds[name]+parts[2]).except(), nil, true
	}
	return set, nil, known
}

// foundKinds are the parts of requests that a sample may look for.
var foundKinds = map[string]string{"hdr": "header:", "fhdr": "header:", "cook": "cookie:", "url": "field:", "urlp": "field:"}

func upperAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, strings.ToUpper(t))
	}
	return all
}

// textSet are the requests whose path or agent has one of some texts.
func textSet(key, how string, values []string, fold bool) (Set, bool) {
	var sets []Set
	for _, v := range values {
		pattern := regexp.QuoteMeta(v)
		switch how {
		case "":
			if key == "regexp" && !fold {
				sets = append(sets, exactly(v))
				continue
			}
			pattern = "^" + pattern + "$"
		case "beg":
			if key == "regexp" && !fold && strings.HasPrefix(v, "/") {
				sets = append(sets, below(v))
				continue
			}
			pattern = "^" + pattern
		case "end":
			pattern += "$"
		case "sub":
		case "dir":
			pattern = "/" + pattern + "(/|$)"
		case "reg":
			pattern = v
		default:
			return none, false
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

// hostSet are the requests for some hosts.
func hostSet(how string, values []string) (Set, bool) {
	var all []string
	for _, v := range values {
		v, _, _ = strings.Cut(strings.ToLower(v), ":")
		switch how {
		case "":
			all = append(all, v)
		case "beg":
			all = append(all, v+"*")
		case "end":
			all = append(all, "*"+v)
		case "dom":
			all = append(all, v, "*."+v)
		case "sub":
			all = append(all, "*"+v+"*")
		default:
			return none, false
		}
	}
	return within("host", all...), len(all) > 0
}

// counted is a test of what a table counts: by a counter, by looking a sample up, or held against the limit of a path.
func (r *haproxyReader) counted(rule haproxyRule, sample string, values []string) (Set, []rateTerm, bool) {
	if m := mappedRate().FindStringSubmatch(sample); m != nil && slices.Equal(values, []string{"lt", "0"}) {
		most, now := pathMap().FindStringSubmatch(r.vars[m[1]]), lookedUp().FindStringSubmatch(r.vars[m[2]])
		if most == nil || now == nil {
			return Set{}, nil, false
		}
		return r.mapped(rule, most[1], most[2], now)
	}
	if m := lookedUp().FindStringSubmatch(sample); m != nil {
		return r.rate(rule, []string{sample, "", m[2], m[3]}, m[1], values)
	}
	if parts := rateSample().FindStringSubmatch(sample); parts != nil && counter().MatchString(parts[2]) {
		return r.rate(rule, parts, "", values)
	}
	return Set{}, nil, false
}

// mapped are the rates of a file that has a path and how many are admitted on each line; the longest that fits counts.
func (r *haproxyReader) mapped(rule haproxyRule, file, fallback string, now []string) (_ Set, terms []rateTerm, known bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(r.file), file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		r.lose(r.place(rule), "%v: paths have the limit that stands for the others", err)
	}
	most := map[string]string{"/": fallback}
	for line := range strings.Lines(string(text)) {
		if words := haproxyWords(strings.TrimSpace(line)); len(words) == 2 {
			most[words[0]] = words[1]
		}
	}
	paths := slices.Sorted(maps.Keys(most))
	for n, path := range paths {
		set := below(path)
		for _, longer := range paths[n+1:] {
			if strings.HasPrefix(longer, path) {
				set = set.and(below(longer).except())
			}
		}
		if _, one, ok := r.rate(rule, []string{now[0], "", now[2], now[3]}, now[1], []string{"gt", most[path]}); ok && most[path] != "" {
			for _, t := range one {
				t.set = set
				terms = append(terms, t)
			}
		}
	}
	return Set{}, terms, terms != nil
}

// rate is a test of a rate: sc_http_req_rate(0,table) gt 20. A sample is what is looked up.
func (r *haproxyReader) rate(rule haproxyRule, parts []string, sample string, values []string) (Set, []rateTerm, bool) {
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
	if t.rate != "http_req_rate" && t.rate != "gpc0_rate" {
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
