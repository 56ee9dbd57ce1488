package haproxy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/servers/imports/neutral"
	"shadow/internal/testneeds"
)

// read reads a configuration.
func read(t *testing.T, text string) *neutral.Result {
	t.Helper()
	return readAs(t, "haproxy.cfg", []byte(text))
}

// readAs reads the text of a file.
func readAs(t *testing.T, file string, text []byte) *neutral.Result {
	t.Helper()
	r := new(neutral.Result)
	if err := Read(r, file, text); err != nil {
		t.Fatal(err)
	}
	r.CheckFrom(0)
	r.Finish()
	return r
}

// What HAProxy has and limits here have not is said, whatever is read besides.
func TestTells(t *testing.T) {
	const deny = "\nhttp-request deny if { sc_http_req_rate(0) gt 8 }"
	const mark = "http-request deny if { sc0_http_req_rate gt 50 } { sc0_inc_gpc0 gt 0 }\n"
	const marked = "\nhttp-request deny if { sc0_get_gpc0 gt 0 }\n" + mark
	table := func(words string) string { return "frontend f\nstick-table " + words + "\n" }
	ip := table("type ip size 1k expire 1m store http_req_rate(10s),gpc0,gpc1_rate(1s)")
	for text, want := range map[string]string{
		table("type string len 8 size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 path" + deny:                                                                "haproxy.cfg:3: the table f cuts keys to 8 bytes",
		table("type string size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 path" + deny:                                                                      "haproxy.cfg:3: the table f cuts keys to 32 bytes",
		table("type ip size 1k expire 1m store http_req_rate(10s)") + "http-request track-sc0 req.hdr(X-Key)" + deny:                                                                "haproxy.cfg:3: the table f has addresses",
		table("type ip size 1k expire 1s store http_req_rate(1s)") + "http-request deny if { src_http_req_rate gt 8 }\nhttp-request track-sc0 src":                                  "haproxy.cfg:4: the table f forgets a client after 1s",
		table("type ipv4 size 1k expire 1m store http_req_rate(1s)") + "http-request track-sc0 src" + deny:                                                                          "haproxy.cfg:2: type ipv4 is not understood in a stick-table",
		table("type ip sise 1k expire 1m store http_req_rate(1s)") + "http-request track-sc0 src" + deny:                                                                            "haproxy.cfg:2: sise is not understood in a stick-table",
		ip + "acl over src_http_req_rate gt 5\nhttp-request track-sc0 src unless over" + deny:                                                                                       "haproxy.cfg:4: unless over asks for a rate that is not exceeded",
		ip + "http-request track-sc0 src if { sc_http_req_rate(1) gt 5 }" + deny:                                                                                                    "haproxy.cfg:3: http-request track-sc0 goes by a rate",
		ip + "http-request track-sc0 src if !{ src_http_req_rate gt 5 }" + deny:                                                                                                     "haproxy.cfg:3: !{ src_http_req_rate gt 5 } asks for a rate that is not exceeded",
		ip + "http-request track-sc0 src" + deny + "\nuse_backend slow if { sc_http_req_rate(0) gt 3 }":                                                                             "haproxy.cfg:5: use_backend slow goes by a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request allow if { sc_http_req_rate(0) gt 3 }":                                                                           "haproxy.cfg:5: http-request allow goes by a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request deny unless { sc_http_req_rate(0) gt 3 }":                                                                        "haproxy.cfg:5: unless { sc_http_req_rate(0) gt 3 } asks for a rate",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request set-var(req.a) int(1) if { sc_conn_rate(0) gt 3 }":                                                               "haproxy.cfg:5: sc_conn_rate(0) counts what no limit here does",
		table("type ip size 1k expire 1m store conn_cur") + "tcp-request connection track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }\noption httplog":                    "haproxy.cfg:4: it bounds connections",
		table("type ip size 1k expire 1m store conn_cur") + "http-request deny if { sc0_conn_cur gt 8 }\nhttp-request track-sc0 src\noption httplog":                                "haproxy.cfg:3: it stands before",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request track-sc1 src\nhttp-request deny if { sc0_conn_cur gt 8 }\noption httplog":    "haproxy.cfg:5: several rules track one key",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request tarpit if { sc0_conn_cur gt 8 }\noption httplog":                              "haproxy.cfg:4: what tarpit keeps waiting stays under way",
		table("type ip size 1k expire 1m store conn_cur,http_req_rate(1s)") + "http-request track-sc0 src" + deny + "\nhttp-response deny if { sc0_conn_cur gt 8 }\noption httplog": "haproxy.cfg:5: http-response deny refuses when",
		table("type ip size 1k expire 1m store conn_cur") + "http-request track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }":                                              "haproxy.cfg:4: conn_cur bounds how many requests are under way",
		table("type ip size 1k expire 1m store gpc0") + "http-request track-sc0 src\nhttp-request deny if { sc_conn_cur(0) gt 8 }":                                                  "haproxy.cfg:4: the table f stores no conn_cur",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request sc-inc-gpc1(0)":                                                                                                  "haproxy.cfg:5: sc-inc-gpc1 is not understood",
		ip + "http-request track-sc0 src" + deny + "\nhttp-response sc-inc-gpc0(0) if { status 401 }":                                                                               "haproxy.cfg:5: http-response sc-inc-gpc0 is not understood",
		ip + "http-request track-sc0 src" + deny + "\nhttp-request denny if { path /a }":                                                                                            "haproxy.cfg:5: denny is a word that is not known",
		ip + "http-request track-sc0 src" + deny + " !{ base_beg a.example/ }":                                                                                                      "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 src" + deny + " { path,word(1,/) a }":                                                                                                          "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 path,word(1,/)" + deny:                                                                                                                         "haproxy.cfg:3: what word(1,/) makes of a key",
		ip + "http-request track-sc0 url32+src" + deny:                                                                                                                              "haproxy.cfg:3: url has the query",
		ip + "http-request track-sc0 src" + deny + " { hdr(host) a.example:81 }":                                                                                                    "haproxy.cfg:4: hosts have no port here",
		ip + "http-request track-sc0 src" + deny + " { hdr_reg(user-agent) ^a.*z }":                                                                                                 "haproxy.cfg:4: hdr tests what stands between commas of the agent",
		ip + "http-request track-sc0 src" + deny + " { hdr(x-a,1) a }":                                                                                                              "haproxy.cfg:4: no condition says",
		ip + "http-request track-sc0 src" + deny + " { var(txn.never) -m bool }":                                                                                                    "haproxy.cfg:4: no condition says",
		ip + "http-request set-var-fmt(txn.a) %[src]\nhttp-request track-sc0 src" + deny + " { var(txn.a) -m found }":                                                               "haproxy.cfg:5: no condition says",
		table("type string size 1k expire 1m store http_req_rate(9s)") + "http-request track-sc0 req.hdr(User-Agent)" + deny:                                                        "haproxy.cfg:3: what stands behind the last comma of the agent",
		table("type string size 1k expire 1m store http_req_rate(8s)") + "http-request track-sc0 base" + deny:                                                                       "haproxy.cfg:3: hosts are the same here in any case",
		table("type integer size 1k expire 1m store http_req_rate(8s)") + "http-request track-sc0 path" + deny:                                                                      "haproxy.cfg:3: the table f has numbers",
		ip + "http-request set-path /a\nhttp-request track-sc0 src" + deny:                                                                                                          "haproxy.cfg:3: set-path changes or ends",
		ip + "http-request set-header X-Key a\nhttp-request track-sc0 req.hdr(x-key)" + deny:                                                                                        "haproxy.cfg:3: set-header changes a header",
		ip + "block if { path /a }\nhttp-request track-sc0 src" + deny:                                                                                                              "haproxy.cfg:3: block is not understood",
		ip + "tcp-request connection track-sc0 src\ntcp-request connection reject if { sc0_http_req_rate gt 5 }":                                                                    "haproxy.cfg:4: connection reject is asked for once a connection",
		ip + "http-request track-sc0 src" + marked + "http-request deny if { path /a } { sc0_http_req_rate gt 5 } { sc0_inc_gpc0 gt 0 }":                                            "haproxy.cfg:6: it marks who is over its rate, and who has a mark is shut out of more",
		ip + "http-request track-sc0 src if { path /a }\nhttp-request deny if { src_get_gpc0 gt 0 }\n" + mark:                                                                       "haproxy.cfg:4: it shuts out of all requests who has a mark",
		ip + "http-request track-sc0 src\nhttp-request deny if { sc0_inc_gpc0 gt 0 } { sc0_http_req_rate gt 5 }":                                                                    "haproxy.cfg:4: it marks before it asks for a rate",
		"defaults\nhttp-request deny if { path /a }\n" + ip + "http-request track-sc0 src" + deny:                                                                                   "haproxy.cfg:2: rules of a defaults section are not read",
	} {
		i := read(t, text)
		if !slices.ContainsFunc(i.Notes, func(n neutral.Note) bool { return strings.HasPrefix(n.String(), want) }) {
			t.Errorf("%s: %v, want %s", text, i.Notes, want)
		}
	}
}

// Tests that HAProxy 2.6.12 was seen to make so.
func TestConditions(t *testing.T) {
	const table = "frontend f\nstick-table type ipv6 size 1k expire 1m store http_req_rate(10s),http_err_rate(10s)\n"
	for test, want := range map[string]string{
		"{ hdr_dom(host),field(1,:) -i a.example }": "{host: a.example}", // behind a converter it is the whole
		"{ hdr_dom(host) -i a.example }":            "{host: [a.example, '*.a.example', 'a.example.*', '*.a.example.*']}",
		"{ path_dir /deep/ }":                       "{regexp: '/deep(/|$)'}",
		"{ path_beg,lower /a }":                     "{regexp: '(?i)^/a$'}",
		"{ path,lower -m reg ^/\\S }":               "",
		"{ hdr_beg(user-agent) like }":              `{agent: '(^|,)\s*like'}`,
		"{ req.fhdr(user-agent) -m beg like }":      "{agent: '^like'}",
		"{ hdr(x-a) k1,k2 k3 }":                     `{with: 'header:x-a~(^|,)\s*k3\s*(,|$)'}`,
		"{ cook(SID) x }":                           "{with: 'cookie:SID~^x$'}",
		"{ path /a } { var(txn.later) -m bool }":    "none", // which a rule behind sets
		"{ path /a } !{ var(txn.later) -m bool }":   "{path: /a}",
	} {
		i := read(t, table+"http-request track-sc0 src\nhttp-request deny if { sc0_http_req_rate gt 8 } "+test+
			"\nhttp-request set-var(txn.later) bool(true)\n")
		got := "none"
		if len(i.Policies) > 0 {
			got = i.Policies[0].Limits[0].Match.String()
		}
		if got != want && (want != "" || len(i.Lost()) == 0) { // "": it is told
			t.Errorf("%s: %s, want %s", test, got, want)
		}
	}
}

// Which limits rules ask for, as HAProxy 2.6.12 was seen to judge.
func TestRates(t *testing.T) {
	const tables = "backend short\nstick-table type ipv6 size 1k expire 20s store http_req_rate(2s),gpc0,gpc0_rate(3s)\n" +
		"backend long\nstick-table type ipv6 size 1k expire 20m store http_req_rate(10m)\n"
	const track = "frontend f\nhttp-request track-sc0 src table short\nhttp-request track-sc1 src table long\n"
	const content = "frontend f\ntcp-request content track-sc0 src table short\ntcp-request content track-sc1 src table long\n"
	const counts, asks = "http-request sc-inc-gpc0(0) if { path /in }\n", "http-request deny if { sc0_gpc0_rate gt 5 }\n"
	for rules, want := range map[string]string{
		"http-request deny if { sc0_http_req_rate(long) gt 5 }":                                                                          "haproxy:5/10m all",
		"http-request deny if { sc_http_req_rate(0,nowhere) gt 5 }":                                                                      "no rule of this section counts what is asked for",
		"http-request deny if { sc0_http_req_rate gt 5 } { sc1_http_req_rate gt 9 }":                                                     "several rates at once",
		"http-request deny if { sc0_http_req_rate gt 5 } { sc_http_req_rate(0) ge 9 }":                                                   "haproxy:8/2s all",
		"acl a sc0_http_req_rate gt 5\nacl a path /x\nacl b sc1_http_req_rate gt 9\nacl b path /x\nhttp-request deny if { path /x } a b": "[there is no limit of requests in it]",
		"http-request capture str(tried) len 9 if { sc0_http_req_rate gt 5 }":                                                            "haproxy:5/2s all",
		"http-request capture str(x) len 9 if { path /x }\n" + asks + counts:                                                             "haproxy:6/3s,charge=admitted all",
		"http-request capture str(x) len 9 if { lua.known }\n" + asks + counts:                                                           "haproxy:6/3s,charge=admitted all",
		"http-request capture src len 15 if { sc0_http_req_rate gt 5 }\n" + asks + counts:                                                "haproxy:6/3s,charge=admitted all",
		"acl a sc0_http_req_rate gt 5\nacl a path /evil\nhttp-request deny if a":                                                         "haproxy:5/2s {not: {path: /evil}}",
		"acl a sc0_http_req_rate gt 5\nacl a path /evil\nhttp-request deny if a { path /a }":                                             "haproxy:5/2s {path: /a, not: {path: /a, either: {path: /evil}}}",
		content + "http-request deny if { sc_http_req_rate(0,long) gt 5 }":                                                               "haproxy:5/10m all",
		counts + asks: "haproxy:5/3s all",
		asks + counts: "haproxy:6/3s,charge=admitted all",
		"http-request deny unless { lua.known }\n" + asks + counts: "haproxy:6/3s,charge=admitted all",
	} {
		if !strings.HasPrefix(rules, "frontend") {
			rules = track + rules
		}
		i := read(t, tables+rules+"\n")
		var got []string
		for _, p := range i.Policies {
			for _, l := range p.Limits {
				text, _, _ := strings.Cut(l.Text, ",expire")
				got = append(got, text+" "+strings.Replace(l.Match.String(), "{}", "all", 1))
			}
		}
		text, told := strings.Join(got, "; "), fmt.Sprint(i.Lost())
		if text != want && !(len(got) == 0 && strings.Contains(told, want)) || strings.HasPrefix(rules, track+"http-request capture") && told != "[]" {
			t.Errorf("%s: %s, want %s; told is %v", rules, text, want, told)
		}
	}
}

// Each slot moves the entry of its key in a table, asked for or not, as HAProxy 2.6.12 was seen to count.
func TestSlotsOfOneKey(t *testing.T) {
	const tables = "backend t\nmode http\nstick-table type ipv6 size 1k expire 1m store http_req_rate(9s),gpc0_rate(9s)\n" +
		"backend n\nmode http\nstick-table type integer size 1k expire 1m store http_req_rate(9s)\n" +
		"frontend f\nmode http\nstick-table type ipv6 size 1k expire 1m store http_req_rate(9s),http_err_rate(9s)\n"
	const a, b = "http-request track-sc0 src if { path /a }\n", "http-request track-sc1 src unless { path /a }\n"
	const deny = "http-request deny if { sc1_http_req_rate gt 9 }\n"
	for rules, want := range map[string]string{
		a + b + deny: "{} []",
		a + "http-request track-sc1 src table t unless { path /a }\n" + deny:                                        "{not: {path: /a}} []",
		a + "http-request track-sc1 src if { path_beg /b/ }\n" + deny:                                               "{either: [{prefix: /b/}, {path: /a}]} []",
		a + b + "http-request deny if { sc1_http_err_rate gt 9 }\n":                                                 "{either: [{status: '4xx', not: {path: /a}}, {path: /a, status: '4xx'}]} [haproxy.cfg:12: what is denied",
		"http-request track-sc0 int(1) table n\nhttp-request track-sc1 int(2) table n if { path /b }\n" + deny:      "{path: /b} []",
		"http-request track-sc1 int(1) table n if { path /a }\nhttp-request track-sc1 int(2) table n\n" + deny:      "{path: /a} []",
		"http-request track-sc0 src\n" + b + deny:                                                                   "{} [haproxy.cfg:11: what sc0 and sc1 track by one key in the table f counts twice there",
		"tcp-request connection track-sc0 src\nhttp-request track-sc1 src\n" + deny:                                 "{} [haproxy.cfg:11: what sc0 and sc1 track by one key in the table f counts twice there",
		"http-request track-sc2 src table t\n" + a + "http-request deny if { sc2_http_req_rate gt 9 }\n" + b + deny: "{} [haproxy.cfg:12: of the rules that count by one key in the table f, some stand before",
		strings.ReplaceAll(a+b, "src", "src table t") + "http-request sc-inc-gpc0(0)\nhttp-request sc-inc-gpc0(1)\n" +
			"http-request deny if { sc1_gpc0_rate gt 9 }\n": "{not: {path: /a}} [haproxy.cfg:14: another slot than sc1 counts gpc0",
	} {
		i := read(t, tables+rules)
		if got := fmt.Sprint(i.Policies[0].Limits[0].Count.String(), " ", i.Lost()); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", rules, got, want)
		}
	}
}

// Configurations out of public questions about HAProxy, with what is right.
func TestCases(t *testing.T) {
	cases := testneeds.Shared(t, "cases")
	ofCase := func(name string) *neutral.Result {
		file := filepath.Join(cases, name, "haproxy.cfg")
		return readAs(t, file, testneeds.Content(t, file))
	}
	cut := ofCase("haproxy-key-cut-by-len")
	if text := fmt.Sprint(cut.Lost()); !strings.Contains(text, "haproxy.cfg:6: the table fe cuts keys to 8 bytes") {
		t.Error(text)
	}
	var limits []string
	for _, l := range ofCase("haproxy-map-unless").Policies[0].Limits {
		limits = append(limits, fmt.Sprint(l.Text, " ", l.By, " ", l.Match.String()))
	}
	if want := []string{
		"haproxy:30/1s path {prefix: /ann/version, not: {regexp: '/remote$'}}", "haproxy:10/1s path {prefix: /ann/user, not: {regexp: '/remote$'}}",
		"haproxy:20/1s path {not: [{regexp: '/remote$'}, {prefix: /ann/version}, {prefix: /ann/user}]}", "haproxy:2/1s path {regexp: '/remote$'}",
	}; !slices.Equal(limits, want) {
		t.Errorf("%q, want %q", limits, want)
	}
}

// Words of HAProxy that no list has are told at each level. Those of answers, of users and of the known are not.
func TestUnknownWordsAreTold(t *testing.T) {
	const text = `global
	wordglobal 1
	tune.bufsize 16384
userlist u
	user a password b
defaults
	worddefaults 1
	mode http
frontend f
	wordfrontend 1
	rate-bound 5
	http-request wordaction
	http-response set-header A b
	tcp-request content wordcontent
	http-request track-sc0 src table b
	http-request deny if { sc0_http_req_rate gt 5 }
backend b
	wordbackend 1
	stick-table type ipv6 size 1k expire 1m store http_req_rate(10s)
`
	i := read(t, text)
	var got []string
	for _, n := range i.Notes {
		word, _, _ := strings.Cut(n.Text, " ")
		got = append(got, fmt.Sprint(n.Place, " ", word, " ", n.Mild))
	}
	want := []string{
		"haproxy.cfg:2 wordglobal true", "haproxy.cfg:7 worddefaults true", "haproxy.cfg:10 wordfrontend true", "haproxy.cfg:11 rate-bound false",
		"haproxy.cfg:12 wordaction true", "haproxy.cfg:14 wordcontent true", "haproxy.cfg:18 wordbackend true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told are %q, want %q", got, want)
	}
}

// Rules that count by one sample depend on all before them; a thousand are read in a moment, and told once.
func TestRulesForOneSampleAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("frontend f\n  stick-table type ip size 1k expire 1m store http_req_rate(10s)\n")
	for n := range 1000 {
		fmt.Fprintf(&b, "  http-request track-sc0 src if { path /p%d }\n", n)
	}
	var i *neutral.Result
	testneeds.Within(time.Minute, func() {
		i = read(t, b.String()+"  http-request deny if { sc0_http_req_rate gt 50 }\n")
	})
	if told := slices.DeleteFunc(i.Lost(), func(n neutral.Note) bool { return !strings.HasSuffix(n.Text, "the 64th, are not read") }); len(told) != 1 {
		t.Errorf("told are %v", told)
	}
}

// Many rules that end requests take a condition each.
func TestEndingRulesAreBounded(t *testing.T) {
	for _, verb := range []string{"deny", "allow"} {
		var b strings.Builder
		b.WriteString("frontend f\nstick-table type ip size 1k expire 1m store http_req_rate(10s)\n")
		for n := range 24 {
			fmt.Fprintf(&b, "http-request %s if { path_beg /p%d } { method PUT }\n", verb, n)
		}
		b.WriteString("http-request track-sc0 src\nhttp-request deny if { sc0_http_req_rate gt 50 }\n")
		var r *neutral.Result
		testneeds.Within(time.Minute, func() { r = read(t, b.String()) })
		if text := r.Policies[0].Limits[0].Match.String(); len(text) > 24*50 {
			t.Errorf("%s: %s", verb, text)
		}
	}
}
