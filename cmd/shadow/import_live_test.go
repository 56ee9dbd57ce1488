package main

import (
	"cmp"
	"fmt"
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
	"testing"
	"time"

	"shadow/testneeds"
)

const (
	importedFolder = "../../servers/imports/testdata/nginx"
	importRequests = 600
)

// harness is what the test has a nginx do besides.
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
			sameVerdicts(t, filepath.Join(importedFolder, folder.Name(), "nginx.conf"), lines, func(words []string) bool {
				return strings.HasPrefix(words[len(words)-1], "REJECTED")
			})
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
	sameVerdictsBy(t, lines, refused, "--limits-from", conf, "--format", `$seq $remote_addr $msec "$request" $status `+
		`"$http_user_agent" "$host" "$http_x_api_key" "$cookie_session" $server_port $limit_req_status`)
}

// So it is with a real HAProxy.
func TestImportedLimitsJudgeAsHAProxyDoes(t *testing.T) {
	testneeds.Program(t, "haproxy")
	const file = "../../servers/imports/testdata/haproxy/live.cfg"
	text, err := os.ReadFile(file)
	must(t, err)
	address, config := freeAddress(t), filepath.Join(t.TempDir(), "haproxy.cfg")
	// Of two threads that log at one moment HAProxy drops a line.
	one := strings.NewReplacer("PORT", address, "\nglobal\n", "\nglobal\n    nbthread 1\n")
	must(t, os.WriteFile(config, []byte(one.Replace(string(text))), 0o600))
	log := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(log)
	must(t, err)
	defer out.Close()
	haproxy := exec.Command("haproxy", "-db", "-f", config)
	haproxy.Stdout, haproxy.Stderr = out, out
	lines := logged(t, testneeds.Rand(t, 5, 31), haproxy, address, log)
	sameVerdicts(t, file, lines, func(words []string) bool { return words[4] == "429" })
}

// sameVerdicts holds the verdicts of a replay against those of a server.
func sameVerdicts(t *testing.T, file string, lines [][]string, isRefused func(words []string) bool) {
	conf, err := filepath.Abs(file)
	must(t, err)
	sameVerdictsBy(t, lines, isRefused, "--limits-from", conf)
}

// sameVerdictsBy is sameVerdicts by what arguments say.
func sameVerdictsBy(t *testing.T, lines [][]string, isRefused func(words []string) bool, by ...string) {
	dir := t.TempDir()
	want := map[int]bool{}
	for i, words := range lines {
		if isRefused(words) {
			want[i] = true
		}
	}
	if len(want) < importRequests/10 || len(want) > importRequests*9/10 {
		t.Errorf("%d of %d requests were refused, which tests little", len(want), len(lines))
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

// loggedByNginx are the words of the lines that nginx logs of random requests, in their order.
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

// logged are the words of the lines that a server logs, which listens at an address or at two.
func logged(t *testing.T, r *rand.Rand, server *exec.Cmd, address, log string) (lines [][]string) {
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
	for seq := range importRequests {
		sendRandom(t, r, address, seq)
	}
	quoted, number := regexp.MustCompile(`"[^"]*"|\S+`), regexp.MustCompile(`^\d+ `)
	for patience := 0; len(lines) < importRequests; patience++ { // the log comes a little later
		if patience == 500 {
			t.Fatalf("%s logged %d requests", server.Path, len(lines))
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
	request.Header.Set("User-Agent", pick("", "curl/8", "SomeBot/1.0", "a crawler", "Firefox"))
	if key := pick("", "", "k1", "k2"); key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	if session := pick("", "", "s1", "s2"); session != "" {
		request.AddCookie(&http.Cookie{Name: "session", Value: session})
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(pick("127.0.0.1", "127.0.0.4", "127.0.0.9", "127.0.1.1"))}}
	client := http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	must(t, err)
	must(t, answer.Body.Close())
}
