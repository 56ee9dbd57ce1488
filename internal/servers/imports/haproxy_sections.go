package imports

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/request"
	"shadow/internal/servers/imports/haproxycfg"
	"shadow/internal/textfile"
)

// readTables reads the stick-table of a section or those of peers, and tells which of their words are not understood.
func (r *haproxyReader) readTables(s *haproxycfg.Section) {
	for _, rule := range s.Rules {
		name, words := s.Name, rule.Words
		if s.Kind == "peers" && words[0] == "table" && len(words) > 1 {
			name, words = s.Name+"/"+words[1], words[1:]
		} else if words[0] != "stick-table" {
			continue
		}
		table := r.tables[name]
		for _, word := range table.Read(words) {
			r.lose(r.place(rule), "%s is not understood in a stick-table", word)
		}
		r.tables[name] = table
	}
}

// addresses puts src in the place of a variable that begins as it: who a client is behind proxies, flags say.
func (r *haproxyReader) addresses() {
	for _, s := range r.sections {
		from := ""
		for _, rule := range s.Rules {
			if len(rule.Words) == 3 && rule.Words[2] == "src" && setVarRule().MatchString(rule.Words[1]) {
				from = "var(" + setVarRule().FindStringSubmatch(rule.Words[1])[1] + ")"
			}
			for i, word := range rule.Words {
				if rest, ok := strings.CutPrefix(word, from); ok && from != "" {
					rule.Words[i] = "src" + rest
				}
			}
		}
	}
}

// byPorts tells the requests of sections that listen by their ports, where one of them limits and another does more than
// redirect. Those of a log without ports are taken to come to each.
func (r *haproxyReader) byPorts() {
	var listening []*haproxySection
	limits, differ, odd := 0, false, false
	for _, s := range r.sections {
		tracks := s.Has(func(words []string) bool { return len(words) > 1 && trackRule().MatchString(words[1]) })
		ports := s.ports()
		if ports == nil || !tracks && s.Has(redirectsAll) {
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
		place, ports := fmt.Sprintf("%s:%d", r.file, s.Line), s.ports()
		if odd {
			r.lose(place, "%s %s: a bind in it or beside it has no number for a port: all requests are taken to come to it", s.Kind, s.Name)
			continue
		}
		note := r.tell
		if limits > 1 {
			note = r.lose
		}
		note(place, "only a log with the port tells requests to %s %s (%s) from others; else all are taken to come to it", s.Kind, s.Name,
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

// ports returns the ports on which a section listens.
func (s *haproxySection) ports() (ports []string) {
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
	return sortedPorts(ports)
}

// Words of each section that limit nothing, or that are judged, and actions likewise. Those of limited are told as lost.
var (
	proxyWords = wordSet(`acl backlog balance bind bind-process capture clitcpka-cnt clitcpka-idle clitcpka-intvl clitimeout compression
		contimeout cookie declare default-server default_backend description disabled dispatch email-alert enabled errorfile errorfiles errorloc
		errorloc302 errorloc303 error-log-format external-check filter force-be-switch force-persist fullconn grace guid hash-balance-factor
		hash-preserve-affinity hash-type http-after-response http-check http-error http-request http-response http-reuse http-send-name-header id
		ignore-persist load-server-state-from-file log log-format log-format-sd log-steps log-tag max-keep-alive-queue max-session-srv-conns
		maxconn mode no option persist rate-limit redirect redispatch reqadd reqdel reqidel reqirep reqrep retries retry-on rspadd rspdel
		rspidel rspirep rsprep server server-state-file-name server-template source srvtcpka-cnt srvtcpka-idle srvtcpka-intvl srvtimeout stats
		stick stick-table tcp-check tcp-request tcp-response timeout transparent unique-id-format unique-id-header use-fcgi-app use-server
		use_backend`)
	globalWords = wordSet(`51degrees-data-file busy-polling ca-base chroot close-spread-time cluster-secret cpu-map cpu-policy crt-base daemon
		default-path description deviceatlas-json-file expose-deprecated-directives expose-experimental-directives external-check
		fd-hard-limit gid grace group h1-accept-payload-with-any-method h1-case-adjust h1-case-adjust-file hard-stop-after harden.reject-privileged-ports.tcp
		insecure-fork-wanted insecure-setuid-wanted issuers-chain-path key-base limited-quic localpeer log log-send-hostname log-tag
		lua-load lua-load-per-thread lua-prepend-path master-worker maxcompcpuusage maxcomprate maxconn maxconnrate maxpipes maxsessrate
		maxsslconn maxsslrate maxzlibmem mworker-max-reloads nbproc nbthread no node no-quic noepoll noevports nogetaddrinfo nokqueue nopoll
		noreuseport nosplice numa-cpu-mapping pidfile pp2-never-send-local presetenv profiling.memory profiling.tasks quiet resetenv
		server-state-base server-state-file set-dumpable set-var set-var-fmt setenv setcap spread-checks stats strict-limits
		thread-group thread-groups thread-hard-limit uid ulimit-n unix-bind unsetenv user warn-blocked-traffic-after wurfl-data-file zero-warning`)
	actionWords = wordSet(`add-header allow accept cache-use capture close del-header deny disable-l7-retry do-log do-resolve early-hint
		expect-proxy inspect-delay redirect reject return sc-inc-gpc0 set-dst set-dst-port set-fc-mark set-fc-tos set-header set-log-level
		set-mark set-nice set-priority-class set-priority-offset set-query set-src-port set-timeout set-tos set-var silent-drop strict-mode
		replace-header replace-value switch-mode tarpit track-sc0 track-sc1 track-sc2 wait-for-body wait-for-handshake`)
	limited = lazy.Regexp(`(?i)limit|throttl|rate|flood|(^|-)ban(-|$)|block|deny|tarpit|reject|^(track-)?sc|gpc|gpt|table`)
	// lost are words that change what rules behind them judge, or end them.
	lost = wordSet(`add-acl auth del-acl del-map monitor monitor-uri normalize-uri pause replace-path replace-pathq replace-uri send-spoe-group
		set-bandwidth-limit set-map set-method set-path set-pathq set-src set-uri unset-var use-service`)
)

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// tellUnknown tells of words that no list has, and of those that end or change what limits judge.
func (r *haproxyReader) tellUnknown() {
	for _, s := range r.sections {
		for _, rule := range s.Rules {
			word, known := rule.Words[0], proxyWords
			switch s.Kind {
			case "defaults":
				if (word == "http-request" || word == "tcp-request") && len(rule.Words) > 1 && rule.Words[1] != "inspect-delay" {
					r.lose(r.place(rule), "rules of a defaults section are not read")
					continue
				}
			case "global":
				if known = globalWords; strings.HasPrefix(word, "tune.") || strings.HasPrefix(word, "ssl-") || strings.HasPrefix(word, "httpclient.") {
					continue
				}
			case "frontend", "backend", "listen":
			default:
				continue // words of servers, users and logs
			}
			if known[word] {
				word, known = action(rule.Words), actionWords
			}
			if set, ok := strings.CutSuffix(word, "-header"); ok && set != "del" && r.asks(rule.Words) {
				r.lose(r.place(rule), "%s changes a header that rules ask for: they judge here what is logged", word)
			}
			r.tellWord(rule, word, known)
		}
	}
}

// action returns the word behind http-request and the like; "": there is none that could limit.
func action(words []string) string {
	at := 1
	switch {
	case len(words) < 2 || words[0] != "http-request" && words[0] != "tcp-request" && !strings.HasSuffix(words[0], "-response"):
		return ""
	case words[0] != "http-request" && slices.Contains([]string{"connection", "content", "session"}, words[1]) && len(words) > 2:
		at = 2
	}
	word, _, _ := strings.Cut(words[at], "(")
	if strings.HasSuffix(words[0], "-response") && !limited().MatchString(strings.TrimPrefix(word, "deny")) {
		return "" // of an answer
	} else if strings.HasSuffix(words[0], "-response") && !strings.HasPrefix(word, "silent") && word != "reject" {
		return words[0] + " " + word
	}
	return word
}

func (r *haproxyReader) tellWord(rule haproxycfg.Rule, word string, known map[string]bool) {
	switch {
	case word == "" || known[word] || strings.HasPrefix(word, "lua."): // which is told where it is read
	case lost[word]:
		r.lose(r.place(rule), "%s changes or ends what rules judge behind it, which is not read", word)
	case word == "http-err-codes" || word == "http-fail-codes":
		r.lose(r.place(rule), "%s is not read: errors are what is logged with 4xx here, and failures with 5xx", word)
	case strings.Contains(word, " ") || limited().MatchString(word):
		r.lose(r.place(rule), "%s is not understood: what it limits or counts is not judged", word)
	default:
		r.tell(r.place(rule), "%s is a word that is not known: it is taken to limit nothing", word)
	}
}

// asks reports whether a rule or acl of any section has a header that words change.
func (r *haproxyReader) asks(words []string) bool {
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "-header") })
	if at+1 >= len(words) || words[0] != "http-request" {
		return false
	}
	asked := "hdr(" + strings.ToLower(words[at+1])
	return slices.ContainsFunc(r.sections, func(s *haproxySection) bool {
		return s.Has(func(other []string) bool {
			return (other[0] == "acl" || action(other) != "") && !slices.ContainsFunc(other, func(w string) bool { return strings.HasSuffix(w, "-header") }) &&
				strings.Contains(strings.ToLower(strings.Join(other, " ")), asked)
		})
	})
}

// httplog is a line of option httplog around what is captured.
const httplog = `$remote_addr:$remote_port [$time_local] $frontend $backend $timers $status $body_bytes_sent $request_cookie ` +
	`$response_cookie $termination $connections $queues %s"$request"`

var headerSample = lazy.Regexp(`^(?:req\.)?f?hdr\(([\w-]+)\)$`)

// captures finds which headers the log has between braces, if that is the same for all sections that listen.
func (r *haproxyReader) captures() {
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
		r.tell(fmt.Sprintf("%s:%d", r.file, first), "with shadow.yaml, state that headers are captured: --format '%s'", formats[0])
	}
}

// captured returns what a section has in its log of requests and of answers. line becomes that of the first rule.
func (s *haproxySection) captured(line *int) (names [2][]string) {
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

// A haproxyPlace says where a limit stands: its rule, and the one that counts.
type haproxyPlace struct {
	s       *haproxySection
	by      refusal
	counted int
}

// combine says how limits work together. What one refuses another does not count if that counts behind. In a policy those
// do so that charge only what is admitted; or, in turn, those behind it.
func (r *haproxyReader) combine(p *Policy) {
	together, inTurn := -1, -1 // limits that these count otherwise
	for i, mine := range r.places {
		for j, other := range r.places {
			same := mine.s == other.s
			apart := !same && mine.s.Kind == other.s.Kind // a request is of one frontend, and of one backend
			if apart || same && mine.by.at == other.by.at || p.Limits[i].Count.and(p.Limits[j].Match).never {
				continue
			}
			behind := same && mine.counted > other.by.at || !same && mine.s.Kind == "backend"
			if behind != strings.Contains(p.Limits[i].Text, "charge=admitted") {
				together = i
			}
			if behind != (j < i) {
				inTurn = i
			}
		}
	}
	switch {
	case together >= 0 && inTurn < 0:
		p.Combine = "in-turn"
	case together >= 0:
		place := r.places[together]
		r.lose(r.place(place.by.rule), "the rate counts only some of what other rules refuse by a rate, and in another way here")
	}
}

// route finds which requests backends get.
func (r *haproxyReader) route() {
	gets := map[string][]Set{}
	for _, s := range r.sections {
		left := s.set.and(s.passed)
		for _, rule := range s.Rules {
			switch {
			case rule.Words[0] == "use_backend" && len(rule.Words) > 1:
				set := r.requests(s, rule, rule.Words[2:])
				gets[rule.Words[1]] = append(gets[rule.Words[1]], left.and(set))
				left = left.and(set.except())
			case rule.Words[0] == "default_backend" && len(rule.Words) > 1:
				gets[rule.Words[1]] = append(gets[rule.Words[1]], left)
			}
		}
	}
	for _, s := range r.sections {
		if s.Kind == "backend" && gets[s.Name] != nil {
			s.set = union(gets[s.Name]...)
		}
	}
}

// lines returns those of a file of patterns or of a map.
func (r *haproxyReader) lines(file string) (all []string, err error) {
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
