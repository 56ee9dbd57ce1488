package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shadow/internal/request"
	"shadow/limit"
)

// haproxyKey returns what a sample counts by.
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
func (r *haproxyReader) cooldown(ban haproxyRule, table, period string) string {
	expire, ok := r.expires[table]
	if !ok {
		r.lose(r.place(ban), "the table %s forgets no client while it has room: no cooldown is that long", table)
		return ""
	}
	length, err := limit.ParsePeriod(expire)
	if err != nil {
		r.lose(r.place(ban), "the table %s expires after %s: %v", table, expire, err)
		return ""
	}
	if p, err := limit.ParsePeriod(period); err == nil && length < 2*p {
		r.lose(r.place(ban), "the table %s forgets a client after %s, and its rate with it; the limit remembers that for twice %s", table, expire, period)
	}
	return ",cooldown=" + expire + "/extend"
}

// withUnit is a time of HAProxy, which is in milliseconds without a unit.
func withUnit(period string) string {
	if !strings.ContainsFunc(period, func(c rune) bool { return c > '9' }) {
		period += "ms"
	}
	return period
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

// ports returns the ports on which a section listens.
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
