package haproxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
	"shadow/limit"
)

// hashed matches samples that have a length of their own.
var hashed = lazy.Regexp(`(^|,)(base32|url32|xxh\d+|sha1|sha2|md5|crc32c?|sdbm|djb2|wt6)\b`)

// lone matches a variable without converters.
var lone = lazy.Regexp(`^var\(([\w.]+)\)$`)

// sameKeys matches converters that make other keys of other values.
var sameKeys = lazy.Regexp(`^(,(ipmask\([^)]*\)|base64|hex|xxh\d+|sha1|sha2|md5|crc32c?|sdbm|djb2|wt6)(\([^)]*\))?)*$`)

// sampleKeys are the parts of keys that samples stand for; one with a colon goes on with the name that the sample has.
var sampleKeys = map[string]string{
	"src": "client", "req.cook": "cookie:", "cook": "cookie:", "url_param": "field:", "urlp": "field:", "http_auth_user": "user",
	"path": "path", "url": "path", "base": "host+path", "base32": "host+path", "url32": "host+path",
	"base32_src": "client+host+path", "url32_src": "client+host+path", "int": "site", "str": "site", "bool": "site", "always_true": "site",
}

// keyWord returns the key that a sample is; "": none.
func (r *reader) keyWord(rule haproxycfg.Rule, sample, name string) string {
	word := sampleKeys[sample]
	if strings.HasSuffix(word, ":") {
		return word + name
	}
	if strings.HasPrefix(sample, "url") {
		r.Lose(r.place(rule), "url has the query, which no limit here counts by: each path is one")
	}
	if kind, _, _ := strings.Cut(strings.TrimPrefix(sample, "req."), "_"); kind != "hdr" && kind != "fhdr" {
		return word
	}
	switch strings.ToLower(name) {
	case "host":
		return "host"
	case "x-forwarded-for":
		r.Tell(r.place(rule), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
		return "client"
	case "user-agent":
		if sample != "req.fhdr" {
			r.Lose(r.place(rule), "what stands behind the last comma of the agent counts there, and the whole agent here; req.fhdr counts that")
		}
		return "agent"
	}
	if sample != "req.fhdr" {
		r.Tell(r.place(rule), "of a list with commas one value counts there, and the whole header here; req.fhdr counts that")
	}
	return "header:" + name
}

// maskedKey is the network of a client.
func (r *reader) maskedKey(table, v4, v6 string, set neutral.Set) []neutral.KeyCase {
	all := neutral.Present(set.And(neutral.Within("network", "0.0.0.0/0")), []string{"client/" + v4}, nil, true)
	if r.tables[table].Type != "ip" {
		all = append(all, neutral.Present(set.And(neutral.Within("network", "::/0")), []string{strings.TrimSuffix("client/"+v6, "/")}, nil, true)...)
	}
	return all
}

// keyCases returns what a sample counts by in a table.
func (r *reader) keyCases(rule haproxycfg.Rule, table, sample string, set neutral.Set) []neutral.KeyCase {
	parts, word := haSample().FindStringSubmatch(strings.Replace(sample, "32+src", "32_src", 1)), ""
	if parts != nil {
		if mask := maskSample().FindStringSubmatch(parts[3]); mask != nil && parts[1] == "src" {
			return r.maskedKey(table, mask[1], mask[2], set)
		}
		name, _, _ := strings.Cut(parts[2], ",")
		word = r.keyWord(rule, parts[1], name)
	}
	if word == "site" {
		return []neutral.KeyCase{{Set: set, By: request.BySite}}
	}
	if word == "" {
		r.Lose(r.place(rule), "no limit here counts by %s: limits of this counter are left out", sample)
		return nil
	}
	if strings.Contains(word, "host") && !(strings.Contains(sample, ",lower") && strings.Contains(sample, ",field(1,:)")) {
		r.Tell(r.place(rule), otherHosts)
	}
	if word == "host" {
		parts[3] = strings.NewReplacer(",field(1,:)", "", ",lower", "").Replace(parts[3])
	}
	if !sameKeys().MatchString(parts[3]) {
		r.Lose(r.place(rule), "what %s makes of a key is not understood: the key itself is counted", parts[3][1:])
	}
	switch kind := r.tables[table].Type; {
	case kind == "ip" && word == "client": // which stores no other address
		set = set.And(neutral.Within("network", "0.0.0.0/0"))
	case strings.HasPrefix(kind, "ip") && word != "client":
		r.Lose(r.place(rule), "the table %s has addresses, and counts %s only where it is one", table, sample)
	case kind == "integer" && word != "client" && !hashed().MatchString(sample):
		r.Lose(r.place(rule), "the table %s has numbers, and counts %s only where it is one", table, sample)
	}
	if length := r.tables[table].Length; length > 0 && !hashed().MatchString(sample) && !strings.HasPrefix(word, "client") {
		r.Lose(r.place(rule), "the table %s cuts keys to %d bytes: longer ones that begin alike are counted as one there, each for itself here", table, length)
	}
	var words []string
	for w := range strings.SplitSeq(word, "+") {
		if key, err := request.ParseKey(w); err == nil {
			w = key.String()
		}
		words = append(words, w)
	}
	return neutral.Present(set, words, nil, false)
}

// HAProxy shuts clients out by a mark: who is over a rate gets gpc0 counted up, and a rule refuses who has any. In a table
// that rules count in, each request puts off when that forgets its client, refused ones too, and with the client the mark.
// So it is a cooldown that each request extends.
// Source: haproxy/haproxy 50872da, doc/configuration.txt, sc_inc_gpc0, expire; src/stick_table.c, stktable_touch_with_exp.

// shutOut finds which refusals by a rate also mark, and which rule shuts out who is marked. A mark without a refusal is one
// where the rule that shuts out stands behind it.
func (x *sectionReader) shutOut(refusals, marks, bans []refusal) []refusal {
	used := make([]bool, len(bans))
	ban := func(f *refusal, set neutral.Set) {
		for n, b := range bans {
			if x.tableOf(&b.term) == x.tableOf(f.mark) && b.term.set.Same(set) {
				used[n] = true
				f.ban, f.all = &bans[n].rule, b.term.counter == ""
				return
			}
		}
	}
	for n, f := range refusals {
		if f.mark != nil {
			ban(&refusals[n], f.term.set)
		}
	}
	for _, m := range marks {
		same := slices.IndexFunc(refusals, func(f refusal) bool {
			return f.term.rate == m.term.rate && f.term.most == m.term.most && f.term.counter == m.term.counter && f.term.table == m.term.table
		})
		switch {
		case same >= 0 && refusals[same].at > m.at:
			refusals[same].mark = m.mark
			ban(&refusals[same], refusals[same].term.set)
		case same < 0:
			at := slices.IndexFunc(bans, func(b refusal) bool { return b.at > m.at && x.tableOf(&b.term) == x.tableOf(m.mark) })
			if at < 0 {
				continue
			}
			used[at] = true
			m.term.set, m.how, m.ban, m.all = bans[at].term.set, bans[at].how, &bans[at].rule, bans[at].term.counter == ""
			refusals = append(refusals, m)
		}
	}
	for _, f := range refusals {
		if f.mark != nil && f.ban == nil && slices.ContainsFunc(x.sections, asksForMarks) {
			x.Lose(x.place(f.rule), "it marks who is over its rate, and who has a mark is shut out of more than it refuses: here the "+
				"rate alone refuses")
		}
	}
	for n, b := range bans {
		if !used[n] {
			x.unknown++
			x.Lose(x.place(b.rule), "it shuts out who has a mark, and no rate before it in this section is read that sets one")
		}
	}
	return refusals
}

// asksForMarks reports whether a rule or an acl of a section asks who has a mark.
func asksForMarks(s *section) bool {
	return s.Has(func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "get_gpc0") })
	})
}

// underWay returns the limit on requests that a counter has under way. The one that asks is among them unless it asks
// before it is counted; "": it is told why there is none.
func (x *sectionReader) underWay(f refusal, counter tracked) string {
	most := f.term.most
	if f.at < counter.at {
		most++
	}
	twice := 0
	for _, counters := range x.counters {
		for _, c := range counters {
			if c.table == counter.table && c.by == counter.by {
				twice++
			}
		}
	}
	switch words := counter.rule.Words; {
	case twice > 1:
		x.Lose(x.place(f.rule), "several rules track one key in the table %s, so that a request counts as several under way: "+
			"it is left out", counter.table)
		return ""
	case !x.timed:
		x.Lose(x.place(f.rule), "conn_cur bounds how many requests are under way at once, which is judged where option httplog, or a "+
			"log-format with %%Ta, is beside it")
		return ""
	case words[0] == "tcp-request" && words[1] != "content":
		x.Lose(x.place(f.rule), "it bounds connections, and a log has requests: it is left out")
		return ""
	case most < 1:
		x.Lose(x.place(f.rule), "conn_cur of %d admits nothing", most)
		return ""
	}
	if f.ban != nil {
		x.Lose(x.place(*f.ban), "it shuts out who has too many under way, which no limit here does")
	}
	if slices.Contains(f.rule.Words, "tarpit") {
		x.Lose(x.place(f.rule), "what tarpit keeps waiting stays under way there, and not here")
	}
	return fmt.Sprintf("conn:%d", most)
}

var logTimes = lazy.Regexp(`^option https?log\b|^log-format .*(%T[at]|txn\.timer|HTTPS?_LOG_FMT)`)

// logsTimes reports whether a rule has the log tell how long requests take.
func logsTimes(words []string) bool { return logTimes().MatchString(strings.Join(words, " ")) }

// tableOf is the table that a sample of a counter asks for.
func (x *sectionReader) tableOf(t *rateTerm) string {
	if all := x.counters[t.counter]; t.table == "" && len(all) > 0 {
		return all[0].table
	}
	return cmp.Or(t.table, x.s.Name)
}

// cooldown is the option that shuts clients out for as long as the table of their mark remembers them.
func (x *sectionReader) cooldown(f refusal) string {
	table, counts := x.tableOf(f.mark), ""
	for _, all := range x.counters {
		if slices.ContainsFunc(all, func(c tracked) bool { return c.table == table }) {
			counts = "/extend"
		}
	}
	expire := x.tables[table].Expire
	if expire == "" {
		x.Lose(x.place(*f.ban), "the table %s forgets no client while it has room: no cooldown is that long", table)
		return ""
	}
	if _, err := limit.ParsePeriod(expire); err != nil {
		x.Lose(x.place(*f.ban), "the table %s expires after %s: %v", table, expire, err)
		return ""
	}
	return ",cooldown=" + expire + counts
}

// forgets is the option of a table that forgets a client, and its rate with it, before the rate does. It is told where what
// puts that off is not what counts.
func (r *reader) forgets(rule haproxycfg.Rule, table, period string, counts bool) string {
	expire, err := limit.ParsePeriod(cmp.Or(r.tables[table].Expire, "0s"))
	p, wrong := limit.ParsePeriod(period)
	switch {
	case err != nil || wrong != nil || expire >= 2*p || expire == 0:
	case counts:
		return ",expire=" + r.tables[table].Expire
	default:
		r.Lose(r.place(rule), "the table %s forgets a client after %s, and its rate with it; the limit remembers that for twice %s", table,
			r.tables[table].Expire, period)
	}
	return ""
}

// otherHosts is told where HAProxy tells requests by what is one host here.
const otherHosts = "hosts are the same here in any case, and with a port or without; lower and field(1,:) make them so there"
