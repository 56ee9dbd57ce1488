package commands

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

const (
	importedFolder = "../servers/imports/testdata/nginx"
	importRequests = 600
)

// harness configures what else the test needs of an nginx.
const harness = `log_format harness '$http_x_seq $remote_addr $msec "$request" $status "$http_user_agent" "$host" '
	'"$http_x_api_key" "$cookie_session" $limit_req_status';
access_log %[1]s/log harness;
client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d;
scgi_temp_path %[1]s/e;
`

// A real nginx judges requests by a configuration, and a replay by the limits that are imported from it judges its log:
// every request must get the same verdict.
func TestImportedLimitsJudgeAsNginxDoes(t *testing.T) {
	testneeds.Program(t, "nginx")
	folders, err := os.ReadDir(importedFolder)
	must(t, err)
	for seed, folder := range folders {
		if !folder.IsDir() {
			continue // what is written of it
		}
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			lines := loggedByNginx(t, testneeds.Rand(t, uint64(seed), 31), folder.Name())
			refused := func(words []string) bool { return strings.HasPrefix(words[len(words)-1], "REJECTED") }
			isTelling(t, lines, refused)
			sameVerdicts(t, filepath.Join(importedFolder, folder.Name(), "nginx.conf"), lines, refused)
		})
	}
}

// Servers of one name on two ports are told by the port, as a real nginx does.
func TestImportedPortsJudgeAsNginxDoes(t *testing.T) {
	testneeds.Program(t, "nginx")
	dir, first, second := t.TempDir(), freeAddress(t), freeAddress(t)
	conf, text := filepath.Join(dir, "nginx.conf"), strings.NewReplacer("FIRST", first, "SECOND", second, "HARNESS",
		strings.Replace(fmt.Sprintf(harness, dir), "$limit_req_status", "$server_port $limit_req_status", 1)).Replace(`events { }
http {
    HARNESS
    limit_req_zone $binary_remote_addr zone=web:1m rate=1r/m;
    limit_req_zone $binary_remote_addr zone=api:1m rate=1r/m;
    server { listen FIRST; server_name shop.example; limit_req zone=web burst=40 nodelay; }
    server { listen SECOND; server_name shop.example; location /api { limit_req zone=api burst=5 nodelay; } }
    server { listen SECOND; server_name x.example; limit_req zone=web burst=40 nodelay; }
}
`)
	must(t, os.WriteFile(conf, []byte(text), 0o600))
	nginx := exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", conf, "-g",
		"daemon off; master_process off; error_log stderr; pid "+dir+"/pid;")
	lines := logged(t, testneeds.Rand(t, 6, 31), nginx, first+","+second, dir+"/log")
	refused := func(words []string) bool { return words[len(words)-1] == "REJECTED" }
	isTelling(t, lines, refused)
	sameVerdictsBy(t, lines, refused, "--limits-from", conf, "--format", `$seq $remote_addr $msec "$request" $status `+
		`"$http_user_agent" "$host" "$http_x_api_key" "$cookie_session" $server_port $limit_req_status`)
}

// So it is with a real HAProxy.
func TestImportedLimitsJudgeAsHAProxyDoes(t *testing.T) {
	testneeds.Program(t, "haproxy")
	const file = "../servers/imports/testdata/haproxy/live.cfg"
	text, err := os.ReadFile(file)
	must(t, err)
	refused := func(words []string) bool { return words[4] == "429" }
	lines := loggedByHAProxy(t, testneeds.Rand(t, 5, 31), string(text))
	isTelling(t, lines, refused)
	sameVerdicts(t, file, lines, refused)
}

// Random configurations of what is understood are judged as HAProxy does.
func TestRandomLimitsJudgeAsHAProxyDoes(t *testing.T) {
	testneeds.Program(t, "haproxy")
	all, refusals := 0, 0
	for seed := range testneeds.Draws(4, 200) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { // which ends the server
			r, dir := testneeds.Rand(t, uint64(seed), 32), t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "rates.map"), []byte("/api 9\n/api/v1 4\n/static 12\n"), 0o600))
			text := randomHAProxy(r, filepath.Join(dir, "rates.map"))
			must(t, os.WriteFile(filepath.Join(dir, "haproxy.cfg"), []byte(text), 0o600))
			lines := loggedByHAProxy(t, r, text)
			refused := func(words []string) bool { return words[4] == "429" }
			for _, words := range lines {
				if all++; refused(words) {
					refusals++
				}
			}
			if sameVerdicts(t, filepath.Join(dir, "haproxy.cfg"), lines, refused); t.Failed() {
				t.Fatal(text)
			}
		})
	}
	if t.Logf("%d of %d requests were refused", refusals, all); refusals < all/20 || refusals > all*19/20 {
		t.Error("that tests little")
	}
}

// randomHAProxy returns a configuration whose rules have random conditions.
func randomHAProxy(r *rand.Rand, file string) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	test := func() string {
		return pick("", "", "!") + pick("{ path_beg /api }", "{ path_beg -i /LOGIN /static }", "{ path_end .png .jpg }", "{ path /login /old }",
			"{ path_sub log }", "{ path_dir deep v1 }", "{ path_reg ^/s.*c }", "{ path,lower -m beg /deep }", "{ url_beg /api/v1 }",
			"{ hdr(host),field(1,:) -i shop.example }", "{ hdr_end(host) -i .wiki.example }", "{ hdr_sub(user-agent) -i bot crawl }", "{ method POST PUT }",
			"METH_GET", "{ src 127.0.0.4 127.0.1.0/24 }", "{ hdr(X-Api-Key) -m found }", "{ hdr(X-Api-Key) k1 }", "{ req.fhdr(X-Api-Key) -m end 2 }",
			"{ path_dir /deep/ }", "{ path_dir api/v1 }", "{ path_end,lower /login.png }", "{ hdr_dom(host) -i shop de }",
			"{ hdr_beg(user-agent) -i like some }", "{ hdr_end(user-agent) bot/1.0 crawler }", "{ req.fhdr(user-agent) -m beg like some }",
			"{ hdr(X-Api-Key) k1,k2 k3 }", "{ req.fhdr(X-Api-Key) k1,k2 }", "{ var(txn.later) -m bool }", "{ var(txn.a) -m bool }", "{ var(txn.b) -m str x }", "{ var(txn.p) -m beg /api }", "named")
	}
	group := func() string {
		switch r.IntN(3) {
		case 0:
			return test()
		case 1:
			return test() + " " + test()
		}
		return test() + " or " + test()
	}
	maybe := func() string { return pick("", pick(" if ", " unless ")+group()) }
	key := func() string {
		return pick("src", "src", "path", "req.fhdr(X-Api-Key)", "base32+src", "int(1)", "src,ipmask(24)")
	}
	table := map[string]string{"src": "ipv6", "src,ipmask(24)": "ipv6", "int(1)": "integer", "base32+src": "binary len 20"}
	kind := func(key string) string { return cmp.Or(table[key], "string len 64") }
	first, second := key(), key()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s    acl named path_beg /static\n    acl named method PUT", liveHAProxy)
	line("    stick-table type %s size 1k expire %s store http_req_rate(1h),http_err_rate(1h),http_fail_rate(1h)", kind(first), pick("3h", "40m"))
	if strings.Contains(first+second, "base32") { // whose hosts have case and port, which are told
		line("    http-request set-header Host %%[req.hdr(host),field(1,:),lower]")
	}
	line("    http-request set-var(txn.p) path")
	line("    http-request set-var(txn.b) str(%s)", pick("x", "y"))
	line("    http-request set-var(txn.b) str(%s)%s", pick("x", "y"), maybe())
	line("    http-request set-var(txn.a) bool(true)%s", pick(" if ", " unless ")+group())
	line("    http-request set-var(req.most) path,map_beg(%s,15)%s", file, maybe())
	line("    http-request set-var(req.most) int(7) if %s", test())
	if r.IntN(3) == 0 {
		line("    http-request %s if %s", pick("allow", "deny"), test()+" "+test())
	}
	some, others, tracks, in, asked := maybe(), maybe(), "http-request", " table other", "1,other"
	if one := test(); r.IntN(4) == 0 { // two slots move one entry, and rules ask for one
		some, others, second, in, asked = " if "+one, " unless "+one, first, "", "0"
	} else if !strings.Contains(first, "base32") {
		tracks = pick("http-request", "tcp-request content") // which goes before all others
	}
	line("    tcp-request inspect-delay 5s\n    %s track-sc0 %s%s", tracks, first, some)
	line("    http-request track-sc1 %s%s%s", second, in, others)
	line("    http-request set-var(req.now) %s,table_http_req_rate()", first)
	line("    http-request capture str(x) len 4%s", maybe()) // ends no request
	for range 1 + r.IntN(3) {
		n := 5 + r.IntN(90)
		line("    http-request deny deny_status 429 if { sc_http_req_rate(0) gt %d } %s%s", n, pick("", test()), pick("", " "+test(),
			fmt.Sprintf(" or { sc0_http_req_rate ge %d } %s", n+1, test()), fmt.Sprintf(" { sc0_http_req_rate ge %d }", n+5-r.IntN(9))))
	}
	line("    http-request deny deny_status 429 if { sc_http_req_rate(%s) ge %d } %s", asked, 5+r.IntN(90), pick("", test()))
	if r.IntN(2) == 0 {
		line("    http-request deny deny_status 429 if { sc_http_%s_rate(0) gt %d }%s", pick("err", "fail"), r.IntN(60), pick("", " "+test()))
	}
	if first == second && others == "" { // else that is told likewise
		line("    http-request deny deny_status 429 if { sc0_http_req_rate(other) gt %d } %s", 5+r.IntN(90), test())
	}
	line("    acl mixed sc0_http_req_rate gt %d\n    acl mixed path /never", 5+r.IntN(90))
	line("    http-request deny deny_status 429 if mixed %s", test())
	line("    http-request set-var(txn.later) bool(true)")
	if some == "" { // else it refuses also what is not counted, which is told
		line("    http-request deny deny_status 429 if { var(req.most),sub(req.now) lt 0 }%s", pick("", " "+test()))
	}
	line("    use_backend counted if %s\n    default_backend rest", group())
	line("backend pages\n    stick-table type string len 64 size 1k expire 3h store http_req_rate(1h)")
	line("backend other\n    stick-table type %s size 1k expire 3h store http_req_rate(1h)", kind(second))
	line("backend counted\n    stick-table type ipv6 size 1k expire 3h store gpc0,gpc0_rate(1h)\n    acl named path_dir v1 old")
	line("    http-request track-sc2 src%s", maybe())
	asks := fmt.Sprintf("    http-request deny deny_status 429 if { sc2_gpc0_rate(counted) ge %d }\n", 5+r.IntN(40))
	counts := fmt.Sprintf("    http-request sc-inc-gpc0(2)%s\n", maybe())
	b.WriteString(asks + counts) // the other way round is told
	if some == "" {              // else the backend tracks what is left
		line("    http-request track-sc0 path table pages")
	}
	line("    http-request return status 200")
	line("backend rest\n    server origin abns@PORT\nfrontend origin\n    bind abns@PORT\n    no log")
	line("    http-request return status 404 if { path_end .jpg }\n    http-request return status 500 if { path_sub deep }")
	line("    http-request return status 200")
	return b.String()
}

// liveHAProxy begins a configuration that logs as the harness of nginx does.
const liveHAProxy = `
global
    log stdout format raw local0
defaults
    mode http
    log global
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend all
    bind PORT
    capture request header X-Seq len 10
    capture request header User-Agent len 40
    capture request header Host len 40
    capture request header X-Api-Key len 40
    log-format '%[capture.req.hdr(0)] %ci MS "%HM %HP HTTP/1.1" %ST "%[capture.req.hdr(1)]" "%[capture.req.hdr(2)]" "%[capture.req.hdr(3)]" "-" -'
`

// loggedByHAProxy returns the words of the lines that HAProxy logs of random requests.
func loggedByHAProxy(t *testing.T, r *rand.Rand, text string) [][]string {
	address, config := freeAddress(t), filepath.Join(t.TempDir(), "haproxy.cfg")
	// Of two threads that log at one moment HAProxy drops a line.
	one := strings.NewReplacer("PORT", address, "\nglobal\n", "\nglobal\n    nbthread 1\n")
	must(t, os.WriteFile(config, []byte(one.Replace(text)), 0o600))
	if said, err := exec.Command("haproxy", "-c", "-f", config).CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", said, text)
	}
	log := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(log)
	must(t, err)
	defer out.Close()
	haproxy := exec.Command("haproxy", "-db", "-f", config)
	haproxy.Stdout, haproxy.Stderr = out, out
	return logged(t, r, haproxy, address, log)
}

// A mark shuts a client out until it has been away for as long as the table remembers it, and so long a rate is remembered.
// That takes the time it takes, so the test has the pauses of its clients in the log, and none is near the table's four
// seconds.
func TestImportedBansJudgeAsHAProxyDoes(t *testing.T) {
	testneeds.Program(t, "haproxy")
	for _, name := range []string{"live-ban", "live-expire"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bansAsHAProxy(t, "../servers/imports/testdata/haproxy/"+name+".cfg")
		})
	}
}

func bansAsHAProxy(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	must(t, err)
	dir, address := t.TempDir(), freeAddress(t)
	one := strings.NewReplacer("PORT", address, "\nglobal\n", "\nglobal\n    nbthread 1\n")
	must(t, os.WriteFile(filepath.Join(dir, "haproxy.cfg"), []byte(one.Replace(string(text))), 0o600))
	out, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	defer out.Close()
	haproxy := exec.Command("haproxy", "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	haproxy.Stdout, haproxy.Stderr = out, out
	start(t, haproxy, address)

	const short, long = 2300 * time.Millisecond, 5500 * time.Millisecond
	type burst struct {
		requests int
		pause    time.Duration
	}
	bursts := []burst{{3, short}, {12, short}, {2, short}, {1, long}, {4, short}, {12, long}, {3, 0}}
	var sent atomic.Int64
	var clients sync.WaitGroup
	for n := range len(bursts) - 1 {
		clients.Go(func() { // each begins with another burst
			for i := range bursts {
				b := bursts[(n+i)%len(bursts)]
				for range b.requests {
					if err := sendFrom(fmt.Sprintf("127.0.2.%d", 1+n), address, int(sent.Add(1))); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(cmp.Or(b.pause, short))
			}
		})
	}
	clients.Wait()

	var log strings.Builder
	refused, want := 0, map[string]int{} // of client and time: several may have one millisecond
	for _, words := range loggedLines(t, filepath.Join(dir, "log"), int(sent.Load())) {
		if words[4] != "200" {
			want[words[1]+" "+words[2]]++
			refused++
		}
		log.WriteString(strings.Join(words, " ") + "\n")
	}
	if refused < 30 || refused > int(sent.Load())-30 {
		t.Errorf("%d of %d requests were refused, which tests little", refused, sent.Load())
	}
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(log.String()), 0o600))
	conf, err := filepath.Abs(file)
	must(t, err)
	run(t, dir, "replay", "access.log", "--db", "db", "--quiet", "--format", `$seq $remote_addr $msec "$request" $status`, "--limits-from", conf)
	got := map[string]int{}
	for line := range strings.Lines(string(run(t, dir, "query", "--db", "db", "--output", "csv",
		"SELECT client || ' ' || (epoch_ms(time) // 1000)::VARCHAR || '.' || lpad((epoch_ms(time) % 1000)::VARCHAR, 3, '0') AS at, count FROM would_blocks"))) {
		if at, count, _ := strings.Cut(strings.TrimSpace(line), ","); at != "at" {
			n, err := strconv.Atoi(count)
			must(t, err)
			got[at] += n
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("refused are %v, want %v\n%s", got, want, log.String())
	}
}

// What HAProxy captures of headers stands between braces in its log. The configuration says which header it is.
func TestCapturedHeadersOfHAProxy(t *testing.T) {
	folder := filepath.Join(testneeds.Shared(t, "cases"), "haproxy-captured-host")
	out := string(run(t, t.TempDir(), "replay", filepath.Join(folder, "haproxy.log"), "--limits-from", filepath.Join(folder, "haproxy.cfg"), "--no-store"))
	if !strings.Contains(out, "refuses 10 of 30 requests") {
		t.Error(out)
	}
}

// isTelling checks that a server refused some requests and not all.
func isTelling(t *testing.T, lines [][]string, isRefused func(words []string) bool) {
	n := 0
	for _, words := range lines {
		if isRefused(words) {
			n++
		}
	}
	if n < importRequests/10 || n > importRequests*9/10 {
		t.Errorf("%d of %d requests were refused, which tests little", n, len(lines))
	}
}

// sameVerdicts holds the verdicts of a replay against those of a server.
func sameVerdicts(t *testing.T, file string, lines [][]string, isRefused func(words []string) bool) {
	conf, err := filepath.Abs(file)
	must(t, err)
	sameVerdictsBy(t, lines, isRefused, "--limits-from", conf)
}

// sameVerdictsBy runs sameVerdicts by what arguments say.
func sameVerdictsBy(t *testing.T, lines [][]string, isRefused func(words []string) bool, by ...string) {
	dir := t.TempDir()
	want := map[int]bool{}
	for i, words := range lines {
		if isRefused(words) {
			want[i] = true
		}
	}
	var log strings.Builder
	for i, words := range lines { // each a millisecond after the one before, so that the time tells which it is
		words[2] = fmt.Sprintf("1767225600.%03d", i)
		log.WriteString(strings.Join(words, " ") + "\n")
	}
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(log.String()), 0o600))
	run(t, dir, append([]string{"replay", "log", "--db", "db", "--quiet", "--format", `$seq $remote_addr $msec "$request" ` +
		`$status "$http_user_agent" "$host" "$http_x_api_key" "$cookie_session" $limit_req_status`}, by...)...)
	refused := map[int]bool{}
	for _, text := range strings.Fields(string(run(t, dir, "query", "--db", "db", "--output", "csv",
		"SELECT epoch_ms(time) % 1000 AS ms FROM would_blocks"))) {
		if n, err := strconv.Atoi(text); err == nil {
			refused[n] = true
		}
	}
	for i, words := range lines {
		if refused[i] != want[i] {
			t.Errorf("%s: refused %t", strings.Join(words, " "), refused[i])
		}
	}
}

func freeAddress(t *testing.T) string {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	return free.Addr().String()
}

// loggedByNginx returns the words of the lines that nginx logs of random requests, in their order.
func loggedByNginx(t *testing.T, r *rand.Rand, name string) (lines [][]string) {
	dir, address := t.TempDir(), freeAddress(t)
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join(importedFolder, name))))
	must(t, os.WriteFile(filepath.Join(dir, "harness.conf"), fmt.Appendf(nil, harness, dir), 0o600))
	files, err := filepath.Glob(dir + "/*.conf")
	must(t, err)
	more, err := filepath.Glob(dir + "/conf.d/*.conf")
	must(t, err)
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "PORT", address)), 0o600))
	}
	return logged(t, r, exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", dir+"/nginx.conf", "-g",
		"daemon off; master_process off; error_log stderr; pid "+dir+"/pid;"), address, dir+"/log")
}

// logged returns the words of the lines that a server logs, which listens at an address or at two.
func logged(t *testing.T, r *rand.Rand, server *exec.Cmd, address, log string) [][]string {
	start(t, server, address)
	for seq := range importRequests {
		sendRandom(t, r, address, seq)
	}
	return loggedLines(t, log, importRequests)
}

// start starts a server, which is killed at the end of the test, and waits until it listens.
func start(t *testing.T, server *exec.Cmd, address string) {
	patience := 0
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for first, _, _ := strings.Cut(address, ","); ; patience++ {
		if c, err := net.Dial("tcp", first); err == nil {
			c.Close()
			break
		} else if patience == 500 {
			t.Fatalf("%s does not listen", server.Path)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// loggedLines returns the words of so many lines of a log, once they are there.
func loggedLines(t *testing.T, log string, n int) (lines [][]string) {
	quoted, number := regexp.MustCompile(`"[^"]*"|\S+`), regexp.MustCompile(`^\d+ `)
	for patience := 0; len(lines) < n; patience++ { // the log comes a little later
		if patience == 500 {
			t.Fatalf("%d of %d requests were logged", len(lines), n)
		}
		time.Sleep(10 * time.Millisecond)
		text, err := os.ReadFile(log)
		must(t, err)
		lines = nil
		for line := range strings.Lines(string(text)) {
			if number.MatchString(line) {
				lines = append(lines, quoted.FindAllString(line, -1))
			}
		}
	}
	seq := func(words []string) int { n, _ := strconv.Atoi(words[0]); return n }
	slices.SortFunc(lines, func(a, b []string) int { return cmp.Compare(seq(a), seq(b)) })
	return lines
}

// sendRandom sends a request of one of a few clients.
func sendRandom(t *testing.T, r *rand.Rand, address string, seq int) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	if first, second, two := strings.Cut(address, ","); two {
		address = pick(first, second)
	}
	path := pick("/", "/login", "/login/x.jpg", "/login.png", "/api", "/api/", "/api/v1", "/api/v1/login", "/api/v1/deep", "/api/a.png",
		"/static", "/static/", "/static/a.jpg", "/static/old/x", "/old", "/img/a.PNG", "/a.jpg", "/Deep/a", "/other")
	request, err := http.NewRequest(pick("GET", "GET", "POST", "PUT"), "http://"+address+path+pick("", "?a=/login"), nil)
	must(t, err)
	request.Host = pick("shop.example", "www.shop.example", "en.wiki.example", "de.wiki.example", "old.example", "x.example", "SHOP.example:80")
	request.Header.Set("X-Seq", strconv.Itoa(seq))
	request.Header.Set("User-Agent", pick("", "curl/8", "SomeBot/1.0", "a crawler", "Firefox", "Some (KHTML, like a) Bot"))
	if key := pick("", "", "k1", "k2", "k1,k2"); key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	if session := pick("", "", "s1", "s2"); session != "" {
		request.AddCookie(&http.Cookie{Name: "session", Value: session})
	}
	must(t, send(pick("127.0.0.1", "127.0.0.4", "127.0.0.9", "127.0.1.1"), request))
}

// sendFrom sends a plain request from an address.
func sendFrom(client, address string, seq int) error {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Seq", strconv.Itoa(seq))
	return send(client, request)
}

func send(client string, request *http.Request) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	transport := http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := transport.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
