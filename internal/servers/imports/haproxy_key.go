package imports

import (
	"cmp"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/limit"
)

// hashed matches samples that have a length of their own.
var hashed = lazy.Regexp(`(^|,)(base32|url32|xxh\d+|sha1|sha2|md5|crc32c?|sdbm|djb2|wt6)\b`)

// sameKeys matches converters that make other keys of other values.
var sameKeys = lazy.Regexp(`^(,(ipmask\([^)]*\)|base64|hex|xxh\d+|sha1|sha2|md5|crc32c?|sdbm|djb2|wt6)(\([^)]*\))?)*$`)

// haproxyKey returns what a sample counts by in a table.
func (r *haproxyReader) haproxyKey(rule haproxyRule, table, sample string, set Set) []keyCase {
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
				if r.types[table] == "ip" {
					return present(set.and(within("network", "0.0.0.0/0")), []string{v4}, nil, true)
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
				if word = "agent"; parts[1] != "req.fhdr" {
					r.lose(r.place(rule), "what stands behind the last comma of the agent counts there, and the whole agent here; req.fhdr counts that")
				}
			case "x-forwarded-for":
				r.tell(r.place(rule), "clients are taken from X-Forwarded-For: --client-from x-forwarded-for, with --trusted-proxy")
				word = "client"
			default:
				if parts[1] != "req.fhdr" {
					r.tell(r.place(rule), "of a list with commas one value counts there, and the whole header here; req.fhdr counts that")
				}
			}
		case "req.cook", "cook":
			word = "cookie:" + name
		case "url_param", "urlp":
			word = "field:" + name
		case "http_auth_user":
			word = "user"
		case "path":
			word = "path"
		case "url":
			r.lose(r.place(rule), "url has the query, which no limit here counts by: each path is one")
			word = "path"
		case "base", "base32", "url32":
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
	if strings.Contains(word, "host") && !(strings.Contains(sample, ",lower") && strings.Contains(sample, ",field(1,:)")) {
		r.tell(r.place(rule), otherHosts)
	}
	if parts != nil && word == "host" {
		parts[3] = strings.NewReplacer(",field(1,:)", "", ",lower", "").Replace(parts[3])
	}
	if parts != nil && !sameKeys().MatchString(parts[3]) {
		r.lose(r.place(rule), "what %s makes of a key is not understood: the key itself is counted", parts[3][1:])
	}
	switch kind := r.types[table]; {
	case kind == "ip" && word == "client": // which stores no other address
		set = set.and(within("network", "0.0.0.0/0"))
	case strings.HasPrefix(kind, "ip") && word != "client":
		r.lose(r.place(rule), "the table %s has addresses, and counts %s only where it is one", table, sample)
	case kind == "integer" && word != "client" && !hashed().MatchString(sample):
		r.lose(r.place(rule), "the table %s has numbers, and counts %s only where it is one", table, sample)
	}
	if length := r.lengths[table]; length > 0 && !hashed().MatchString(sample) && !strings.HasPrefix(word, "client") {
		r.lose(r.place(rule), "the table %s cuts keys to %d bytes: longer ones that begin alike are counted as one there, each for itself here", table, length)
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

// HAProxy shuts clients out by a mark: who is over a rate gets gpc0 counted up, and a rule refuses who has any. Each
// request puts off when the table forgets its client, refused ones too, and with the client the mark. So it is a cooldown
// that each request extends.
// Source: haproxy/haproxy 50872da, doc/configuration.txt, sc_inc_gpc0, expire; src/stick_table.c, stktable_touch_with_exp.

// shutOut finds which refusals by a rate also mark, and which rule shuts out who is marked. A mark without a refusal is one
// where the rule that shuts out stands behind it.
func (r *haproxyReader) shutOut(s *haproxySection, refusals, marks, bans []refusal) []refusal {
	table := func(f refusal, t *rateTerm) string { return cmp.Or(t.table, f.term.table, s.name) }
	used := make([]bool, len(bans))
	ban := func(f refusal, mark *rateTerm) *haproxyRule {
		for n, b := range bans {
			if table(b, &b.term) == table(f, mark) && b.term.set.same(f.term.set) {
				used[n] = true
				return &bans[n].rule
			}
		}
		return nil
	}
	for n, f := range refusals {
		if f.mark != nil {
			refusals[n].ban = ban(f, f.mark)
		}
	}
	for _, m := range marks {
		same := slices.IndexFunc(refusals, func(f refusal) bool {
			return f.term.rate == m.term.rate && f.term.most == m.term.most && f.term.counter == m.term.counter && f.term.table == m.term.table
		})
		switch {
		case same >= 0 && refusals[same].at > m.at:
			m.term.set = refusals[same].term.set
			refusals[same].ban = ban(m, m.mark)
		case same < 0:
			at := slices.IndexFunc(bans, func(b refusal) bool { return b.at > m.at && table(b, &b.term) == table(m, m.mark) })
			if at < 0 {
				continue
			}
			used[at] = true
			m.term.set, m.how, m.ban = bans[at].term.set, bans[at].how, &bans[at].rule
			refusals = append(refusals, m)
		}
	}
	for n, b := range bans {
		if !used[n] {
			r.unknown++
			r.lose(r.place(b.rule), "it shuts out who has a mark, and no rate before it in this section is read that sets one")
		}
	}
	return refusals
}

// cooldown is the option that shuts clients out for as long as a table remembers them.
func (r *haproxyReader) cooldown(ban haproxyRule, table string) string {
	expire, ok := r.expires[table]
	if !ok {
		r.lose(r.place(ban), "the table %s forgets no client while it has room: no cooldown is that long", table)
		return ""
	}
	if _, err := limit.ParsePeriod(expire); err != nil {
		r.lose(r.place(ban), "the table %s expires after %s: %v", table, expire, err)
		return ""
	}
	return ",cooldown=" + expire + "/extend"
}

// forgets is the option of a table that forgets a client, and its rate with it, before the rate does. It is told where what
// puts that off is not what counts.
func (r *haproxyReader) forgets(rule haproxyRule, table, period string, counts bool) string {
	expire, err := limit.ParsePeriod(cmp.Or(r.expires[table], "0s"))
	p, wrong := limit.ParsePeriod(period)
	switch {
	case err != nil || wrong != nil || expire >= 2*p || expire == 0:
	case counts:
		return ",expire=" + r.expires[table]
	default:
		r.lose(r.place(rule), "the table %s forgets a client after %s, and its rate with it; the limit remembers that for twice %s", table,
			r.expires[table], period)
	}
	return ""
}

// withUnit is a time of HAProxy, which is in milliseconds without a unit.
func withUnit(period string) string {
	if !strings.ContainsFunc(period, func(c rune) bool { return c > '9' }) {
		period += "ms"
	}
	return period
}
