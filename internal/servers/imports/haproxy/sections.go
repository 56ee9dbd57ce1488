package haproxy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/servers/imports/neutral"
	"shadow/internal/textfile"
)

// readTables reads the stick-table of a section or those of peers, and tells which of their words are not understood.
func (r *reader) readTables(s *haproxycfg.Section) {
	for _, rule := range s.Rules {
		name, words := s.Name, rule.Words
		if s.Kind == "peers" && words[0] == "table" && len(words) > 1 {
			name, words = s.Name+"/"+words[1], words[1:]
		} else if words[0] != "stick-table" {
			continue
		}
		table := r.tables[name]
		for _, word := range table.Read(words) {
			r.Lose(r.place(rule), "%s is not understood in a stick-table", word)
		}
		r.tables[name] = table
	}
}

// addresses puts src in the place of a variable that begins as it: who a client is behind proxies, flags say.
func (r *reader) addresses() {
	for _, s := range r.sections {
		from := ""
		for _, rule := range s.Rules {
			if len(rule.Words) == 3 && rule.Words[2] == "src" && setVarRule().MatchString(rule.Words[1]) {
				from = "var(" + setVarRule().FindStringSubmatch(rule.Words[1])[1] + ")"
			} else if len(rule.Words) > 2 && from != "" && rule.Words[1] == "set-"+from {
				if m := header().FindStringSubmatch(rule.Words[2]); m != nil {
					r.Tell(r.place(rule), "clients are taken from %s: --client-from %s, with --trusted-proxy", m[1], strings.ToLower(m[1]))
				} else {
					r.Lose(r.place(rule), "%s %s is not read: the variable is taken for the client", rule.Words[1], rule.Words[2])
				}
			}
			for i, word := range rule.Words {
				if rest, ok := strings.CutPrefix(word, from); ok && from != "" {
					rule.Words[i] = "src" + rest
				}
			}
		}
	}
}

// header matches samples of a header.
var header = lazy.Regexp(`^(?:req\.)?f?hdr(?:_ip)?\(([\w-]+)`)

// byPorts tells the requests of sections that listen by their ports, where one of them limits and another does more than
// redirect. Those of a log without ports are taken to come to each.
func (r *reader) byPorts() {
	var listening []*section
	limits, differ, odd := 0, false, false
	for _, s := range r.sections {
		tracks, ports := s.tracks(), s.ports()
		if ports == nil || !tracks && s.Has(redirectsAll) || s.plainTCP() {
			continue
		}
		if tracks {
			limits++
		}
		for _, other := range listening {
			if (tracks || other.tracks()) && slices.ContainsFunc(ports, func(p string) bool { return p != "" && slices.Contains(other.ports(), p) }) {
				r.Lose(fmt.Sprintf("%s:%d", r.file, s.Line), "%s %s and that at line %d listen on one port, and no log tells to which a request came: "+
					"all of the port are taken to come to both", s.Kind, s.Name, other.Line)
				break
			}
		}
		listening = append(listening, s)
		differ = differ || !slices.Equal(ports, listening[0].ports())
		odd = odd || slices.Contains(ports, "")
	}
	if limits == 0 || !differ {
		return
	}
	for _, s := range listening {
		place, ports := fmt.Sprintf("%s:%d", r.file, s.Line), s.ports()
		if odd {
			r.Lose(place, "%s %s: a bind in it or beside it has no number for a port: all requests are taken to come to it", s.Kind, s.Name)
			continue
		}
		note := r.Tell
		if limits > 1 {
			note = r.Lose
		}
		note(place, "only a log with the port tells requests to %s %s (%s) from others; else all are taken to come to it", s.Kind, s.Name,
			strings.Join(ports, ", "))
		s.set = neutral.Within("port", append(ports, request.NoPort)...)
	}
}

// redirectsAll reports whether a rule redirects every request, or every one without TLS.
func redirectsAll(words []string) bool {
	at, text := slices.Index(words, "redirect"), strings.Join(words, " ")
	always := !slices.Contains(words, "if") && !slices.Contains(words, "unless")
	return (at == 0 || at == 1 && words[0] == "http-request") &&
		(always || strings.HasSuffix(text, "unless { ssl_fc }") || strings.HasSuffix(text, "if !{ ssl_fc }"))
}

// ports returns the ports on which a section listens.
func (s *section) ports() (ports []string) {
	for _, rule := range s.Rules {
		if rule.Words[0] != "bind" || len(rule.Words) < 2 || s.Kind == "backend" {
			continue
		}
		for address := range strings.SplitSeq(rule.Words[1], ",") {
			port := address[strings.LastIndexByte(address, ':')+1:]
			if strings.Trim(port, "0123456789") != "" {
				port = "" // a path, a variable, a range
			}
			ports = append(ports, port)
		}
	}
	return neutral.SortedPorts(ports)
}

// tellUnknown tells of words that no list has, and of those that end or change what limits judge.
func (r *reader) tellUnknown() {
	for _, s := range r.sections {
		for _, rule := range s.Rules {
			word, known := rule.Words[0], haproxycfg.ProxyWords
			switch s.Kind {
			case "defaults":
				if (word == "http-request" || word == "tcp-request") && len(rule.Words) > 1 && rule.Words[1] != "inspect-delay" {
					r.Lose(r.place(rule), "rules of a defaults section are not read")
					continue
				}
			case "global":
				if known = haproxycfg.GlobalWords; strings.HasPrefix(word, "tune.") || strings.HasPrefix(word, "ssl-") || strings.HasPrefix(word, "httpclient.") ||
					word == ".if" && s.Has(func(words []string) bool { return words[0] == ".endif" }) {
					continue
				}
			case "frontend", "backend", "listen":
			default:
				continue // words of servers, users and logs
			}
			if known[word] {
				word, known = haproxycfg.Action(rule.Words), haproxycfg.ActionWords
			}
			if set, ok := strings.CutSuffix(word, "-header"); ok && set != "del" && r.asks(rule.Words) {
				r.Lose(r.place(rule), "%s changes a header that rules ask for: they judge here what is logged", word)
			}
			r.tellWord(rule, word, known)
		}
	}
}

func (r *reader) tellWord(rule haproxycfg.Rule, word string, known map[string]bool) {
	switch {
	case word == "" || known[word] || strings.HasPrefix(word, "lua."): // which is told where it is read
	case word == ".if":
		r.Lose(r.place(rule), ".if is not read: the lines of all its branches are taken to hold")
	case word[0] == '.': // of the same
	case haproxycfg.Lost[word]:
		r.Lose(r.place(rule), "%s changes or ends what rules judge behind it, which is not read", word)
	case word == "http-err-codes" || word == "http-fail-codes":
		r.Lose(r.place(rule), "%s is not read: errors are what is logged with 4xx here, and failures with 5xx", word)
	case strings.Contains(word, " ") || haproxycfg.Limited().MatchString(word):
		r.Lose(r.place(rule), "%s is not understood: what it limits or counts is not judged", word)
	default:
		r.Tell(r.place(rule), "%s is a word that is not known: it is taken to limit nothing", word)
	}
}

// asks reports whether a rule or acl of any section has a header that words change.
func (r *reader) asks(words []string) bool {
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "-header") })
	if at+1 >= len(words) || words[0] != "http-request" {
		return false
	}
	asked := "hdr(" + strings.ToLower(words[at+1])
	return slices.ContainsFunc(r.sections, func(s *section) bool {
		return s.Has(func(other []string) bool {
			return (other[0] == "acl" || haproxycfg.Action(other) != "") && !slices.ContainsFunc(other, func(w string) bool { return strings.HasSuffix(w, "-header") }) &&
				strings.Contains(strings.ToLower(strings.Join(other, " ")), asked)
		})
	})
}

// httplog is a line of option httplog around what is captured.
const httplog = `$remote_addr:$remote_port [$time_local] $frontend $backend $timers $status $body_bytes_sent $request_cookie ` +
	`$response_cookie $termination $connections $queues %s"$request"`

var headerSample = lazy.Regexp(`^(?:req\.)?f?hdr\(([\w-]+)\)$`)

// captures finds which headers the log has between braces, if that is the same for all sections that listen.
func (r *reader) captures() {
	formats, first := []string{}, 0
	for _, s := range r.sections {
		if s.Has(func(words []string) bool { return words[0] == "log-format" }) {
			return
		}
		if s.ports() == nil {
			continue
		}
		captured := ""
		for _, all := range s.captured(&first) {
			if all != nil {
				captured += "{" + strings.Join(all, "|") + "} "
			}
		}
		formats = append(formats, fmt.Sprintf(httplog, captured))
	}
	if formats = slices.Compact(formats); len(formats) == 1 && first > 0 {
		r.Logged = append(r.Logged, formats[0])
		r.Tell(fmt.Sprintf("%s:%d", r.file, first), "with shadow.yaml, state that headers are captured: --format '%s'", formats[0])
	}
}

// captured returns what a section has in its log of requests and of answers. line becomes that of the first rule.
func (s *section) captured(line *int) (names [2][]string) {
	for _, rule := range s.Rules {
		var name string
		words, side := append(slices.Clone(rule.Words), "", "", "", ""), 0
		switch {
		case words[0] == "capture" && words[1] == "request" && words[2] == "header":
			name = words[3]
		case words[0] == "http-request" && words[1] == "capture":
			name = headerSample().ReplaceAllString(words[2], "$1")
		case words[0] == "capture" && words[1] == "response":
			name, side = "answer's", 1
		default:
			continue
		}
		switch name = strings.ToLower(strings.ReplaceAll(name, "-", "_")); {
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			name = fmt.Sprintf("$captured_%d_%d", side, len(names[side]))
		case name == "host":
			name = "$host"
		default:
			name = "$http_" + name
		}
		names[side], *line = append(names[side], name), cmp.Or(*line, rule.Line)
	}
	return names
}

// A place says where a limit stands: the section of its rule, that of the one that counts, and before which it does.
type place struct {
	s, in   *section
	by      refusal
	counted int
	table   string
	moves   neutral.Set // which of the requests of its counter count
}

// behind reports whether what counts in a section before one of its rules does so behind the rule of a limit.
func (p place) behind(in *section, counted int) bool {
	return in == p.s && counted > p.by.at || in.Kind == "backend" && p.s.Kind != "backend"
}

// apart reports whether no request is of two sections: it is of one frontend, and of one backend.
func apart(a, b *section) bool { return a != b && (a.Kind == "backend") == (b.Kind == "backend") }

// combine says how limits work together. What one refuses another does not count if that counts behind. In a policy those
// do so that charge only what is admitted; or, in turn, those behind it.
func (r *reader) combine(p *neutral.Policy) {
	together, inTurn := -1, -1 // limits that these count otherwise
	for i, mine := range r.places {
		for j, other := range r.places {
			behind := other.behind(mine.in, mine.counted)
			otherwise, turned := together != i && behind != strings.Contains(p.Limits[i].Text, "charge=admitted"), inTurn != i && behind != (j < i)
			if apart(mine.in, other.s) || mine.s == other.s && mine.by.at == other.by.at || !otherwise && !turned ||
				p.Limits[i].Count.And(p.Limits[j].Match).Never {
				continue
			}
			if otherwise {
				together = i
			}
			if turned {
				inTurn = i
			}
		}
	}
	switch {
	case together >= 0 && inTurn < 0:
		p.Combine = "in-turn"
	case together >= 0:
		place := r.places[together]
		r.Lose(r.place(place.by.rule), "the rate counts only some of what other rules refuse by a rate, and in another way here")
	}
}

// plainTCP reports whether a section passes on bytes, and asks no rule for requests. It is told if one of them limits.
func (x *sectionReader) plainTCP() bool {
	place := fmt.Sprintf("%s:%d", x.file, x.s.Line)
	if !x.s.plainTCP() {
		if x.s.limits() && x.s.Setting("mode")[0] == "" {
			x.Tell(place, "%s %s states no mode: HAProxy takes tcp, and asks none of its rules for requests; judged as with mode http",
				x.s.Kind, x.s.Name)
		}
		return false
	}
	if slices.ContainsFunc(x.s.Rules, func(rule haproxycfg.Rule) bool {
		return rule.Words[0] == "tcp-request" && counted().MatchString(strings.Join(rule.Words, " "))
	}) {
		x.Lose(place, "%s %s has mode tcp: it bounds connections, which no limit here does", x.s.Kind, x.s.Name)
	} else if x.s.limits() {
		x.Tell(place, "%s %s has mode tcp: HAProxy asks none of its rules for requests", x.s.Kind, x.s.Name)
	}
	return true
}

// plainTCP reports whether a section passes on bytes.
func (s *section) plainTCP() bool { return s.Setting("mode")[1] == "tcp" }

// tellShared tells of a counter that some of the sections that lead to a backend track, and others do not.
func (x *sectionReader) tellShared(rule haproxycfg.Rule, number string) {
	tracking := func(s *section) bool { return s.counters[number] != nil }
	if slices.ContainsFunc(x.s.leads, tracking) && slices.ContainsFunc(x.s.leads, func(s *section) bool { return !tracking(s) }) {
		x.Lose(x.place(rule), "some of the sections that lead here track sc%s before, and others do not: all requests are taken to be of the former", number)
	}
}

// lines returns those of a file of patterns or of a map.
func (r *reader) lines(file string) (all []string, err error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(r.file), file)
	}
	text, err := textfile.Read(file, textfile.Most)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all, err
}
