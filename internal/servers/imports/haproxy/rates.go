package haproxy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
)

// A rateTerm is a condition on a rate, and the requests that it is asked for.
type rateTerm struct {
	counter string // the number behind sc; "": by the address, or by the sample
	sample  string
	table   string
	rate    string // http_req_rate, gpc0_rate, conn_cur; gpc0 for whether a client is marked
	most    int64  // the highest that is admitted
	set     neutral.Set
}

// counts reports whether two conditions ask for one rate of the same requests.
func (t rateTerm) counts(other rateTerm) bool {
	return t.counter == other.counter && t.sample == other.sample && t.table == other.table && t.rate == other.rate && t.set.Same(other.set)
}

// counted is a test of what a table counts: by a counter, by looking a sample up, or held against the limit of a path.
func (r *reader) counted(rule haproxycfg.Rule, sample string, values []string) (neutral.Set, []rateTerm, bool) {
	if m := mappedRate().FindStringSubmatch(sample); m != nil && slices.Equal(values, []string{"lt", "0"}) {
		return r.against(rule, r.vars[m[1]], r.vars[m[2]])
	}
	if m := lookedUp().FindStringSubmatch(sample); m != nil {
		return r.rate(rule, []string{sample, "", m[2], m[3]}, m[1], values)
	}
	if parts := rateSample().FindStringSubmatch(sample); parts != nil && counter().MatchString(parts[2]) {
		return r.rate(rule, parts, "", values)
	}
	return neutral.Set{}, nil, false
}

// rate is a test of a rate: sc_http_req_rate(0,table) gt 20. A sample is what is looked up.
func (r *reader) rate(rule haproxycfg.Rule, parts []string, sample string, values []string) (neutral.Set, []rateTerm, bool) {
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
		r.marking, r.early = &t, !r.rated
		return neutral.Set{}, nil, true
	}
	if t.rate == "gpc0" && any && r.refusing {
		return neutral.Set{}, []rateTerm{t}, true
	}
	r.rated = true
	if !slices.Contains([]string{"http_req_rate", "gpc0_rate", "http_err_rate", "http_fail_rate", "conn_cur"}, t.rate) {
		r.unknown++
		r.Lose(r.place(rule), "%s counts what no limit here does", parts[0])
		return neutral.None, []rateTerm{}, true
	}
	if len(values) < 2 {
		return neutral.Set{}, nil, false
	}
	n, err := strconv.ParseInt(values[1], 10, 64)
	switch {
	case err != nil:
		return neutral.Set{}, nil, false
	case values[0] == "gt":
		t.most = n
	case values[0] == "ge":
		t.most = n - 1
	default:
		return neutral.Set{}, nil, false
	}
	return neutral.Set{}, []rateTerm{t}, true
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
