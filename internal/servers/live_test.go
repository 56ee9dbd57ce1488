package servers

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/testneeds"
	"shadow/internal/traffic/match"
	"shadow/parse"
)

// Real servers with the lines that we write, in a dry run and enforced, against what the rule of the client makes of the
// same requests: which of them a server counts together, and which it leaves alone.

// A liveServer is a server that can be started with lines.
type liveServer struct {
	*Server
	program string
	limit   string // admits admitted requests at once, and no more in a minute
	start   func(t *testing.T, address string, d Directives, enforce bool) (over func() int)
}

const (
	admitted = 3
	requests = 250
)

func liveServers() []liveServer {
	return []liveServer{
		{&nginx, "nginx", "nginx:1r/m,burst=2,nodelay", startNginx},
		{&haproxy, "haproxy", "haproxy:3/1h", startHAProxy},
		{&haproxy, "haproxy", "haproxy:3/1h,charge=admitted", startHAProxy},
		{&apache, "apache2", "fixed:3/1h,align=first,clock=1s", startApache},
	}
}

// A sent request is one of a client at 127.0.0.0/8.
type sent struct {
	peer, forwarded, key, user, agent, path string
}

func TestRealServersLimitWhatWasJudged(t *testing.T) {
	r := testneeds.Rand(t, 16, 18)
	for _, s := range liveServers() {
		for _, enforce := range []bool{false, true} {
			for _, p := range []place{
				{client: "addr"},
				{client: "addr", action: "/login"},
				{client: "addr/31,/64", action: "/login"},
				{
					client: "addr/24,/48", from: "x-forwarded-for", action: "/api/…",
					trusted: []string{"127.0.0.1", "127.0.0.2", "10.0.0.0/8"},
				},
				{client: "addr", from: "x-forwarded-for", trusted: []string{"127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"}},
				{client: "addr", exempt: []string{"127.0.0.2", "127.0.1.0/24"}},
				{client: "addr", exempt: []string{"127.0.0.2", "::1"}, action: "/login"},
				{client: "agent", exempt: []string{"127.0.0.2"}, action: "/api/…"},
				{
					client: "addr/24,/48", from: "x-forwarded-for", exempt: []string{"192.0.2.0/24", "2001:db8:2::/48"},
					trusted: []string{"127.0.0.1", "10.0.0.0/8"},
				},
				{client: "header:X-Api-Key"},
				{client: "user", action: "/"},
				{client: "agent"},
			} {
				d, err := s.Lines(s.limit, p.where(t))
				if err != nil {
					t.Fatal(err)
				}
				if d.Key == "" {
					continue // nginx cannot cut networks of /31, and Apache counts addresses only
				}
				t.Run(fmt.Sprintf("%s %s enforced %t", s.limit, p, enforce), func(t *testing.T) {
					live(t, r, s, p, d, enforce)
				})
			}
		}
	}
}

// live sends requests one by one, and knows which exceed the limit.
func live(t *testing.T, r *rand.Rand, s liveServer, p place, d Directives, enforce bool) {
	testneeds.Program(t, s.program)
	address := freeAddress(t)
	over := s.start(t, address, d, enforce)
	rule, err := match.ParseClientRule(p.client, p.from, p.trusted)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := match.ParseClientRule("addr", p.from, p.trusted)
	if err != nil {
		t.Fatal(err)
	}
	clients, from, counts := rule.NewExtractor(), addresses.NewExtractor(), map[string]int{}
	want, exempted := 0, 0
	for range requests {
		request := randomRequest(r)
		status := request.send(t, address)
		beyond := false
		if exempt := p.exempts(t, string(from.Key(request.record()))); exempt {
			exempted++
		} else if p.covers(request.path) {
			client := string(clients.Key(request.record()))
			beyond = client != "-" && counts[client] >= admitted
			counts[client]++
		}
		if beyond {
			want++
		}
		if refused := status == http.StatusTooManyRequests; refused != (beyond && enforce) {
			t.Fatalf("%+v got %d, want it refused: %t", request, status, beyond && enforce)
		}
	}
	if want == 0 || want == requests || p.exempt != nil && exempted <= 2*admitted {
		t.Errorf("%d of %d requests exceed the limit, which tests nothing", want, requests)
	}
	if enforce {
		return
	}
	for patience := 0; over() != want && patience < 100; patience++ { // the log comes a little later
		time.Sleep(20 * time.Millisecond)
	}
	if n := over(); n != want {
		t.Errorf("the log has %d requests over the limit, want %d", n, want)
	}
}

// exempts reports whether an address is exempt.
func (p place) exempts(t *testing.T, address string) bool {
	t.Helper()
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(p.exempted(t), func(n netip.Prefix) bool { return n.Contains(a) })
}

// covers reports whether a path is of the place's action, as servers see it.
func (p place) covers(path string) bool {
	page, below := strings.CutSuffix(p.action, "/…")
	switch {
	case p.action == "" || path == page && !below:
		return true
	case below:
		return strings.HasPrefix(path, page+"/")
	}
	return page != "/" && path == page+"/"
}

func randomRequest(r *rand.Rand) sent {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	request := sent{
		peer: pick("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.1.1"),
		key:  pick("", "a", "b", "c, d"), user: pick("", "ann", "bob"),
		agent: pick("curl/8", "Mozilla/5.0 (X11; Linux) Gecko, like", "Mozilla/5.0 (X11; Linux) Gecko, as", "x"),
		path:  pick("/", "/login", "/login/", "/login/x", "/api", "/api/", "/api/a", "/apis", "/Login", "/other"),
	}
	hops := []string{
		"192.0.2.1", "192.0.2.200", "198.51.100.1", "10.0.0.1", "10.1.2.3", "2001:db8:1::1", "2001:db8:2::2", "127.0.0.1",
	}
	for range r.IntN(4) {
		request.forwarded += ", " + pick(hops...)
	}
	request.forwarded = strings.TrimPrefix(request.forwarded, ", ")
	return request
}

// record is the request as a log has it.
func (s sent) record() *parse.Record {
	r := &parse.Record{
		Client: []byte(s.peer), Forwarded: []byte(s.forwarded), User: []byte(s.user), Agent: []byte(s.agent),
	}
	for i := range r.Extra {
		r.Extra[i] = []byte(s.key)
	}
	return r
}

// send sends the request from its peer's address, and returns the status of the answer.
func (s sent) send(t *testing.T, address string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+address+s.path+"?q=/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"X-Forwarded-For": s.forwarded, "X-Api-Key": s.key, "User-Agent": s.agent} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if s.user != "" {
		request.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(s.user+":secret")))
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.peer)}}
	client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// freeAddress returns an address on which no program listens.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startNginx starts nginx, which ends with the test. Over counts what its log says exceeds the limit.
func startNginx(t *testing.T, address string, d Directives, enforce bool) (over func() int) {
	dir := t.TempDir()
	config := nginxConfig(dir, address, []Directives{d}, `log_format over "$limit_req_status";
access_log `+dir+`/log over;`)
	if enforce {
		config = strings.ReplaceAll(config, "limit_req_dry_run on;", "limit_req_dry_run off;")
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte("daemon off;\nmaster_process off;\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, address, exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", file))
	return func() int {
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(log), "REJECTED_DRY_RUN\n")
	}
}

// startHAProxy is the same for HAProxy.
func startHAProxy(t *testing.T, address string, d Directives, enforce bool) (over func() int) {
	_, port, _ := net.SplitHostPort(address)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(haproxyConfig("127.0.0.1:"+port, enforce, d)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(t, address, exec.Command("haproxy", "-db", "-f", file))
	return func() int { return strings.Count(out.String(), " {over-limit} ") }
}

// A lockedBuffer takes the output of a program while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// run starts a server, waits until it listens, and ends it with the test.
func run(t *testing.T, address string, cmd *exec.Cmd) *lockedBuffer {
	out := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for patience := 0; ; patience++ {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return out
		} else if patience == 500 {
			t.Fatalf("%s does not listen: %s", cmd.Path, out)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
