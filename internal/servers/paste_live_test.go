package servers

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// Real servers that limit already get lines pasted. What limited before gives the same verdicts afterwards, and what
// was pasted counts where nothing limited.

// limiting is a configuration of nginx that limits /login in one place, and /free nowhere unless in http.
const limiting = `daemon off;
master_process off;
pid DIR/pid;
error_log stderr;
events {}
http {
	TEMP
	access_log off;
	add_header Verdict $limit_req_status always;
	limit_req_zone $binary_remote_addr zone=old:1m rate=1r/m;
	HTTP
	server {
		listen ADDRESS;
		server_name limited;
		SERVER
		location /login { 
			LOCATION
			location /login/inner { empty_gif; }
			empty_gif;
		}
	}
	server {
		listen ADDRESS;
		server_name free;
		location /free {
			empty_gif;
		}
	}
	server {
		listen ADDRESS;
		server_name half;
		location /free {
			empty_gif;
		}
		location /login {
			HALF
			empty_gif;
		}
	}
}
`

// A visit is a page of a server.
type visit struct{ host, path string }

var visits = []visit{
	{"limited", "/login"}, {"limited", "/login/inner"}, {"free", "/free"}, {"half", "/login"}, {"half", "/free"},
}

// verdict asks for a page, and returns the status and what the server says of its limits.
func (v visit) verdict(t *testing.T, peer, address string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+address+v.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = v.host
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(peer)}}
	client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return strings.TrimSpace(fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Verdict")))
}

// TestPastedLinesKeepLimitsOfNginx pastes what export and suggest write into each place.
func TestPastedLinesKeepLimitsOfNginx(t *testing.T) {
	testneeds.Program(t, "nginx")
	for _, at := range []string{"HTTP", "SERVER", "LOCATION", "HALF"} {
		for _, how := range []string{"", "limit_req_status 418;", "limit_req_dry_run on;"} {
			t.Run(strings.ToLower(at)+" "+how, func(t *testing.T) {
				t.Parallel()
				text := strings.Replace(limiting, at, "limit_req zone=old; "+how, 1)
				text = strings.NewReplacer("HTTP", "", "SERVER", "", "LOCATION", "", "HALF", "").Replace(text)
				before := visited(t, text)
				for _, target := range []string{"http", "server", "location"} {
					pasteIntoNginx(t, text, target, before)
				}
			})
		}
	}
}

// pasteIntoNginx pastes lines in a dry run and enforced, and holds the verdicts against those before.
func pasteIntoNginx(t *testing.T, text, target string, before map[visit][]string) {
	file := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	within, err := ReadWithin("nginx", file)
	if err != nil {
		t.Fatal(err)
	}
	blocks, problem := nginxBlocks(t, target, within)
	everywhere := within.places[0].states["limit_req"] != nil
	if (blocks == nil) != everywhere || everywhere != strings.Contains(problem, "limits already") {
		t.Fatalf("%s: %d blocks, and %q", target, len(blocks), problem)
	} else if everywhere {
		return
	}
	for _, enforce := range []bool{false, true} {
		after := visited(t, pastedNginx(text, target, blocks, enforce))
		for v, was := range before {
			limited := slices.ContainsFunc(was, func(s string) bool { return strings.Contains(s, "REJECTED") })
			want := was
			if !limited && (target == "http" || v.host == "half" && (target == "server" || v.path == "/free")) {
				over := map[bool]string{false: "200 REJECTED_DRY_RUN", true: "429 REJECTED"}[enforce]
				want = []string{"200 PASSED", "200 PASSED", over, over}
			}
			if got := after[v]; !slices.Equal(got, want) {
				t.Errorf("pasted into %s, enforced %t: %v gets %q, want %q", target, enforce, v, got, want)
			}
		}
	}
	if old, _ := nginxBlocks(t, target, nil); target == "http" {
		limits := slices.ContainsFunc(within.places, func(p *nginxPlace) bool {
			return p.states["limit_req"] != nil && (p.states["limit_req_dry_run"] == nil || p.states["limit_req_status"] == nil)
		})
		if err := within.Judge(old); limits != (err != nil) {
			t.Errorf("lines that know nothing of this are judged: %v", err)
		}
	}
	if err := within.Judge(blocks); target == "http" && err != nil {
		t.Errorf("the lines are refused: %v", err)
	}
}

// nginxBlocks are lines for a place, and the reason if there are none.
func nginxBlocks(t *testing.T, target string, within *Within) (blocks []Block, problem string) {
	const text = "nginx:1r/m,burst=1,nodelay"
	if target != "http" {
		action := map[string]string{"location": "checkout"}[target]
		d, err := nginx.Lines(text, Where{Client: "addr", Within: within, Action: action})
		if err != nil {
			t.Fatal(err)
		}
		return d.Blocks, d.Note
	}
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	part := policies[0].Parts[0]
	want := Wanted{Spec: part.Spec, Shape: part.Limiter.(limit.Describer).Shape(), By: request.ByClient, Text: text}
	e := nginxTarget.Export([]Wanted{want}, Where{Client: "addr", Within: within})
	return e.Blocks, strings.Join(e.Lost, "\n")
}

var titled = regexp.MustCompile(`nginx\.conf:(\d+)\)`)

// pastedNginx pastes blocks, each behind the line that its place names.
func pastedNginx(text, target string, blocks []Block, enforce bool) string {
	lines := strings.Split(text, "\n")
	for _, b := range blocks {
		at := slices.IndexFunc(lines, func(line string) bool { return line == "http {" })
		if parts := titled.FindStringSubmatch(b.Place); parts != nil {
			_, _ = fmt.Sscan(parts[1], &at)
			at--
		} else if target == "server" && b.Place != "http" {
			at = slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "server_name half") })
		} else if target == "location" && b.Place != "http" {
			at = 1 + slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "server_name half") })
		}
		for _, line := range b.Lines {
			code, _, _ := strings.Cut(line, "#")
			if !enforce || !strings.HasPrefix(code, "limit_req_dry_run on") || titled.MatchString(b.Place) {
				lines[at] += " " + code
			}
		}
	}
	return strings.Join(lines, "\n")
}

// visited starts nginx, asks four times for each page, and returns what the log says of each.
func visited(t *testing.T, text string) map[visit][]string {
	t.Helper()
	dir, address := t.TempDir(), freeAddress(t)
	temp := ""
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += what + "_temp_path DIR/" + what + "; "
	}
	text = strings.Replace(text, "TEMP", temp, 1)
	file := filepath.Join(dir, "nginx.conf")
	text = strings.NewReplacer("DIR", dir, "ADDRESS", address).Replace(text)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, address, exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", file))
	said := map[visit][]string{}
	for n, v := range visits { // each is a client
		for range 4 {
			said[v] = append(said[v], v.verdict(t, fmt.Sprintf("127.0.0.%d", n+1), address))
		}
	}
	return said
}
