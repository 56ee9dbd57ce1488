package drill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/pipeline"
	"shadow/internal/testneeds"
	"shadow/limit"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A line is a request of a log.
type line struct {
	after   time.Duration
	client  string
	request string
}

// write writes a log of lines, and returns its name.
func write(t *testing.T, lines ...line) string {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		at := time.UnixMilli(1772445600000).Add(l.after).UTC()
		fmt.Fprintf(&b, `%s - - [%s] "%s HTTP/1.1" 200 1 "-" "-" %d.%03d`+"\n", l.client, at.Format("02/Jan/2006:15:04:05 -0700"), l.request,
			at.Unix(), at.UnixMilli()%1000)
	}
	name := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

// crowd returns requests of some clients over some seconds, which come in bursts.
func crowd(t *testing.T, length time.Duration) (lines []line) {
	rng := testneeds.Rand(t, 3, 4)
	for c := range 12 {
		gap := float64(30*time.Millisecond) * float64(1+c%5)
		for at := time.Duration(rng.Int64N(int64(time.Second / 2))); at < length; at += time.Duration(rng.ExpFloat64() * gap) {
			lines = append(lines, line{at, fmt.Sprintf("198.51.100.%d", c), fmt.Sprintf("GET /%d", rng.IntN(3))})
		}
	}
	slices.SortFunc(lines, func(x, y line) int { return int(x.after - y.after) })
	return lines
}

// A drilling is a drill, and what it prints.
type drilling struct {
	Drill
	out, errs bytes.Buffer
}

// drillOf returns a drill by a limit.
func drillOf(t *testing.T, limits, target string) *drilling {
	d := &drilling{Drill: Drill{
		Target: target, ClientHeader: "X-Forwarded-For", Refused: DefaultRefused, Methods: "safe", MaxRate: 10_000, Minutes: 1,
	}}
	d.Limits, d.Client, d.NoConfig, d.MaxBad, d.Output, d.Top = []string{limits}, "addr", true, 5, "json", 5
	d.Format = `$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $msec`
	d.Lateness, d.Started = 10*limit.Second, time.Now()
	d.In, d.Out, d.Err = strings.NewReader(""), &d.out, &d.errs
	return d
}

// said holds the parts of a report that tests look at.
type said struct {
	Planned, Sent, Refused, Unanswered int64
	Foreseen                           int64   `json:"foreseen_refused"`
	As                                 int64   `json:"as_predicted"`
	By                                 int64   `json:"by_moments_sent"`
	Percent                            float64 `json:"by_moments_percent"`
	Interrupted                        bool
	Stopped                            string
	Reasons                            []struct {
		Reason   string
		Requests int64
	}
	Stretch struct {
		Minutes  int
		Requests int64
		LeftOut  struct{ Methods, Unfit int64 } `json:"left_out"`
	}
	Differs []struct{ Client, Path, Predicted, Got, Reason, Failure string }
	Left    int64 `json:"differs_left_out"`
	Answers []struct{ Status int }
}

func (d *drilling) said(t *testing.T) (s said) {
	t.Helper()
	if err := json.Unmarshal(d.out.Bytes(), &s); err != nil {
		t.Fatalf("%v: %s\n%s", err, d.out.String(), d.errs.String())
	}
	return s
}

func (s *said) of(reason string) int64 {
	for _, r := range s.Reasons {
		if r.Reason == reason {
			return r.Requests
		}
	}
	return 0
}

// calmly tries what a busy machine may spoil, up to three times, and complains about the last. try returns "" if all is well.
func calmly(t *testing.T, try func() (wrong string)) {
	t.Helper()
	wrong := ""
	for range 3 {
		if wrong = try(); wrong == "" {
			return
		}
		t.Logf("once more: %s", wrong)
	}
	t.Error(wrong)
}

// freePort returns an address on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// start starts a server, and waits until it listens.
func start(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%v: %s", err, errs.String())
		}
	}
}

// startNginx starts a real nginx with lines in its http and its location.
func startNginx(t *testing.T, inHTTP, inLocation string) (target string) {
	t.Helper()
	testneeds.Program(t, "nginx")
	dir, address := t.TempDir(), freePort(t)
	must(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), fmt.Appendf(nil, `daemon off; master_process off; pid %[1]s/pid;
events {}
http {
  access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
  %[2]s
  server { listen %[3]s; root %[1]s/none; location / { %[4]s } }
}
`, dir, inHTTP, address, inLocation), 0o600))
	start(t, address, exec.Command("nginx", "-e", dir+"/logs/error", "-p", dir, "-c", dir+"/nginx.conf"))
	return "http://" + address
}

// A real nginx refuses what its limiter here refuses: as predicted but for ties, and by the moments of sending all but
// for a few.
func TestNginxIsAsForeseen(t *testing.T) {
	t.Parallel()
	for limits, in := range map[string]string{
		"nginx:10r/s,burst=5,nodelay": "limit_req zone=a burst=5 nodelay;", "nginx:10r/s,burst=3": "limit_req zone=a burst=3;",
	} {
		t.Run(limits, func(t *testing.T) {
			t.Parallel()
			target := startNginx(t, "limit_req_zone $binary_remote_addr zone=a:1m rate=10r/s;", in)
			name := write(t, crowd(t, 3*time.Second)...)
			calmly(t, func() string { return foreseen(t, limits, target, name) })
		})
	}
}

// foreseen drills a server that has the limit, and returns what is wrong.
func foreseen(t *testing.T, limits, target, name string) (wrong string) {
	t.Helper()
	d := drillOf(t, limits, target)
	err := d.Run(t.Context(), []string{name})
	s := d.said(t)
	t.Logf("%s: %d of %d as predicted, %d by the moments sent, %d foreseen to be refused, %d were", limits, s.As, s.Sent, s.By, s.Foreseen, s.Refused)
	if err != nil || s.Percent < 99 || s.Sent != s.Planned || s.Sent < 500 || s.Foreseen < 50 || 2*s.As < s.Sent {
		time.Sleep(4 * time.Second) // until the server has forgotten it
		return fmt.Sprintf("%v: %+v", err, s)
	}
	return ""
}

// So does a real HAProxy.
func TestHAProxyIsAsForeseen(t *testing.T) {
	t.Parallel()
	testneeds.Program(t, "haproxy")
	dir, address := t.TempDir(), freePort(t)
	must(t, os.WriteFile(filepath.Join(dir, "cfg"), fmt.Appendf(nil, `defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 5s
frontend f
  bind %s
  http-request set-src hdr(X-Forwarded-For)
  stick-table type ipv6 size 10k expire 1m store http_req_rate(2s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }
  http-request return status 200
`, address), 0o600))
	start(t, address, exec.Command("haproxy", "-f", filepath.Join(dir, "cfg")))
	name := write(t, crowd(t, 3*time.Second)...)
	calmly(t, func() string { return foreseen(t, "haproxy:20/2s", "http://"+address, name) })
}

// Without the limit nothing is refused, with a stricter one in front too much, and with a larger burst too little.
func TestNginxWithAnotherLimit(t *testing.T) {
	t.Parallel()
	name := write(t, crowd(t, 2*time.Second)...)
	d := drillOf(t, "nginx:10r/s,burst=5,nodelay", startNginx(t, "", ""))
	err := d.Run(t.Context(), []string{name})
	if s := d.said(t); !errors.As(err, new(pipeline.HeldError)) || s.Refused != 0 || s.of("not limited") < 50 || s.Left == 0 || len(s.Differs) != 5 {
		t.Errorf("%v: %+v", err, s)
	}
	d = drillOf(t, "nginx:10r/s,burst=5,nodelay", startNginx(t, "limit_req_zone $server_addr zone=a:1m rate=20r/s;", "limit_req zone=a burst=5 nodelay;"))
	err = d.Run(t.Context(), []string{name})
	if s := d.said(t); !errors.As(err, new(pipeline.HeldError)) || s.of("stricter") < 50 {
		t.Errorf("%v: %+v", err, s)
	}
	d = drillOf(t, "nginx:10r/s,burst=5,nodelay", startNginx(t, "limit_req_zone $binary_remote_addr zone=a:1m rate=10r/s;", "limit_req zone=a burst=7 nodelay;"))
	err = d.Run(t.Context(), []string{name})
	if s := d.said(t); !errors.As(err, new(pipeline.HeldError)) || s.of("looser") < 10 || s.of("stricter") > s.of("looser")/2 {
		t.Errorf("%v: %+v", err, s)
	}
}

// A recorder is a server that keeps the heads of requests as they came, and answers as it is told.
type recorder struct {
	mu    sync.Mutex
	heads []string
	from  []string
	at    []time.Time
}

func record(t *testing.T, answer func(n int) string) (target string, r *recorder) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	r = new(recorder)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(conn, answer)
		}
	}()
	return "http://" + l.Addr().String(), r
}

func (r *recorder) serve(conn net.Conn, answer func(n int) string) {
	defer conn.Close()
	in, head := bufio.NewReader(conn), ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		head += text
	}
	r.mu.Lock()
	r.heads, r.at = append(r.heads, head), append(r.at, time.Now())
	host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	r.from = append(r.from, host)
	n := len(r.heads)
	r.mu.Unlock()
	io.WriteString(conn, answer(n))
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heads)
}

const admitted = "HTTP/1.1 302 Found\r\nLocation: http://198.51.100.1/\r\nContent-Length: 0\r\n\r\n"

// Paths go out as they were logged, to the target alone; what may change something or is no path does not.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	target, r := record(t, func(int) string { return "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + admitted })
	d := drillOf(t, "window:2/1m", target)
	name := write(t, line{0, "198.51.100.7", "GET /../%2e%2e//a?b=%ff&<c>"}, line{1e6, "198.51.100.7", "GET //198.51.100.9/a"},
		line{2e6, "198.51.100.7", "POST /pay"}, line{3e6, "198.51.100.7", "GET http://198.51.100.9/"}, line{4e6, "198.51.100.7", `GET /a\x0d\x0aX:b`},
		line{5e6, "198.51.100.7", "CONNECT 198.51.100.9:443"}, line{6e6, "198.51.100.7", "HEAD /end"}, line{7e6, "2001:db8::1", "GET /six"})
	err := d.Run(t.Context(), []string{name})
	s := d.said(t)
	if !errors.As(err, new(pipeline.HeldError)) || s.Sent != 4 || s.Stretch.LeftOut.Methods != 2 || s.Stretch.LeftOut.Unfit != 2 || s.Foreseen != 1 ||
		len(s.Answers) != 1 || s.Answers[0].Status != http.StatusFound {
		t.Errorf("%v: %+v", err, s)
	}
	want := []string{"GET /../%2e%2e//a?b=%ff&<c> ", "GET //198.51.100.9/a ", "GET /six ", "HEAD /end "}
	var got []string
	for _, head := range r.all() {
		request, rest, _ := strings.Cut(head, "HTTP/1.1\r\n")
		got = append(got, request)
		client := "X-Forwarded-For: 198.51.100.7\r\n"
		if request == "GET /six " {
			client = "X-Forwarded-For: 2001:db8::1\r\n"
		}
		if !strings.Contains(rest, client) || !strings.HasPrefix(rest, "Host: 127.0.0.1:") || strings.Contains(rest, "Content-Length") {
			t.Errorf("%q", head)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}

	d.Methods = "all"
	d.Drill.Pipeline, d.Limits = nil, []string{"window:2/1m"}
	d.out.Reset()
	_ = d.Run(t.Context(), []string{name})
	if s := d.said(t); s.Sent != 5 || s.Stretch.LeftOut.Methods != 0 || s.Stretch.LeftOut.Unfit != 3 {
		t.Errorf("%+v", s)
	}
	if !slices.ContainsFunc(r.all(), func(head string) bool {
		return strings.HasPrefix(head, "POST /pay HTTP/1.1\r\n") && strings.Contains(head, "Content-Length: 0\r\n")
	}) {
		t.Errorf("%q", r.all())
	}
}

// Requests keep their timing, and clients their addresses.
func TestSourcesAndTiming(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp4", "127.1.0.1:0"); err != nil {
		t.Skip("this machine has only 127.0.0.1")
	} else {
		l.Close()
	}
	var r *recorder
	calmly(t, func() string {
		var target string
		target, r = record(t, func(int) string { return admitted })
		d := drillOf(t, "window:1/1m", target)
		d.ClientSource = true
		_ = d.Run(t.Context(), []string{write(t, line{0, "198.51.100.7", "GET /"}, line{600e6, "198.51.100.8", "GET /"}, line{1200e6, "198.51.100.7", "GET /"})})
		for i := 1; i < len(r.at); i++ {
			if gap := r.at[i].Sub(r.at[i-1]); gap < 400*time.Millisecond || gap > 2*time.Second {
				return fmt.Sprintf("%v between requests %d and %d, want 600 ms", gap, i, i+1)
			}
		}
		return ""
	})
	if want := []string{"127.1.0.1", "127.1.0.2", "127.1.0.1"}; !slices.Equal(r.from, want) {
		t.Errorf("%q, want %q", r.from, want)
	}
	if strings.Contains(r.heads[0], "X-Forwarded-For") {
		t.Errorf("%q", r.heads[0])
	}
	if a, b, c := from(0), from(254), from(254*256); a != "127.1.0.1" || b != "127.1.1.1" || c != "127.2.0.1" {
		t.Errorf("%s, %s, %s", a, b, c)
	}
}

// A drill that is interrupted reports on what was sent.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	lines := []line{{0, "198.51.100.7", "GET /"}, {300e6, "198.51.100.7", "GET /"}, {600e6, "198.51.100.7", "GET /"}}
	for i := range 37 {
		lines = append(lines, line{time.Duration(i+3) * time.Second, "198.51.100.7", "GET /"})
	}
	name := write(t, lines...)
	calmly(t, func() string {
		ctx, cancel := context.WithCancel(t.Context())
		target, _ := record(t, func(n int) string {
			if n == 3 {
				cancel()
				time.Sleep(8 * time.Second)
			}
			return admitted
		})
		d := drillOf(t, "window:1/1m", target)
		began := time.Now()
		err := d.Run(ctx, []string{name})
		if s := d.said(t); !errors.Is(err, context.Canceled) || !s.Interrupted || s.Sent != 2 || s.Planned != 40 || time.Since(began) > 6*time.Second {
			return fmt.Sprintf("%v: %+v", err, s)
		}
		return ""
	})
}

// A server that has gone ends the drill early, and one that was never there does not let it begin.
func TestDeadServers(t *testing.T) {
	t.Parallel()
	var lines []line
	for i := range 200 {
		lines = append(lines, line{time.Duration(i) * 20 * time.Millisecond, "198.51.100.7", "GET /"})
	}
	name := write(t, lines...)
	d := drillOf(t, "window:1/1m", "http://"+freePort(t))
	if err := d.Run(t.Context(), []string{name}); err == nil || !strings.Contains(err.Error(), "connection refused): start the server") {
		t.Error(err)
	}
	target, r := record(t, func(n int) string {
		if n > 5 {
			return ""
		}
		return admitted
	})
	d = drillOf(t, "window:1/1m", target)
	err := d.Run(t.Context(), []string{name})
	if s := d.said(t); !errors.As(err, new(pipeline.HeldError)) || s.Stopped == "" || s.of("no answer") < deadAfter || s.Sent > 100 || len(r.all()) > 100 {
		t.Errorf("%v: %+v", err, s)
	}
	target, _ = record(t, func(int) string { return "nonsense\r\n\r\n" })
	d = drillOf(t, "window:1/1m", target)
	if err := d.Run(t.Context(), []string{name}); err == nil || !strings.Contains(err.Error(), "has answered no request: ") || d.out.Len() > 0 {
		t.Errorf("%v: %s", err, d.out.String())
	}
}

// Nothing is sent that the flags do not allow, and errors say what would.
func TestRefusedDrills(t *testing.T) {
	t.Parallel()
	target, r := record(t, func(int) string { return admitted })
	name := write(t, line{0, "198.51.100.7", "GET /"}, line{1e6, "198.51.100.7", "GET /"}, line{2e6, "198.51.100.7", "POST /"})
	late := write(t, line{0, "198.51.100.7", "GET /"}, line{59e9, "198.51.100.7", "GET /"}, line{61e9, "198.51.100.7", "GET /"})
	for want, change := range map[string]func(*drilling){
		"--yes-it-is-mine":                        func(d *drilling) { d.Target = "http://192.0.2.1:8080" },
		"which server? Say":                       func(d *drilling) { d.Target = "" },
		"want a server and no path":               func(d *drilling) { d.Target = target + "/a" },
		"want a server and no path,":              func(d *drilling) { d.Target = "ftp://127.0.0.1" },
		"than --max-rate 1/s: fewer --minutes":    func(d *drilling) { d.MaxRate = 1 },
		"refuses no request of the log":           func(d *drilling) { d.Limits = []string{"window:100/1m"} },
		"one policy, and these are 3: token:1/1m": func(d *drilling) { d.Limits = []string{"1/1m"} },
		"counts by agent, which a drill cannot":   func(d *drilling) { d.By = "agent" },
		"without --client-source they have":       func(d *drilling) { d.By, d.ClientSource = "client/24", true },
		"k6 keeps clients apart by --client-hea":  func(d *drilling) { d.To, d.ClientSource = "k6", true },
		"which --anonymize hides":                 func(d *drilling) { d.To, d.Anonymize = "k6", "hash" },
		"can be read only once":                   func(d *drilling) { name, d.Drill.Quiet = "-", true },
		"none of these 1 request when it starts":  func(d *drilling) { name, d.Limits = late, []string{"window:2/1h"} },
		"none of the 1 request of these minutes":  func(d *drilling) { d.Exclude = []string{"/only-post"} },
	} {
		log := name
		d := drillOf(t, "window:1/1m", target)
		change(d)
		log, name = name, log
		if strings.HasPrefix(want, "none of the 1") {
			log = write(t, line{0, "198.51.100.7", "POST /"}, line{1e6, "198.51.100.7", "POST /"})
			want = "none of the 2 requests of these minutes"
		}
		err := d.Run(t.Context(), []string{log})
		if !errors.As(err, new(*pipeline.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if heads := r.all(); len(heads) > 0 {
		t.Errorf("%q", heads)
	}
}

// A policy that goes by what is not sent is refused; conditions on what is sent are not.
func TestConditions(t *testing.T) {
	t.Parallel()
	name := write(t, line{0, "198.51.100.7", "GET /a"}, line{1e6, "198.51.100.7", "GET /a"})
	for config, want := range map[string]string{
		"policies: [{name: p, limits: {limit: 'window:1/1m', match: {prefix: /a, method: GET}}}]":               "",
		"policies: [{name: p, limits: {limit: 'window:1/1m', match: {not: {path: /b}}}}]":                       "",
		"policies: [{name: p, limits: {limit: 'window:1/1m', match: {network: 198.51.100.0/24}}}]":              "",
		"policies: [{name: p, limits: {limit: 'window:1/1m', match: {not: {agent: x}}}}]":                       "asks for the agent",
		"policies: [{name: p, limits: {limit: 'window:1/1m', match: {host: x}}}]":                               "asks for the host",
		"policies: [{name: p, limits: {limit: 'window:2/1m', cost: [{match: {path: /a}, points: 2}]}}]":         "have costs",
		"exempt: {users: bob}\npolicies: [{name: p, limits: {limit: 'window:1/1m'}}]":                           "by more than a drill sends",
		"tiers: {a: {users: bob}}\npolicies: [{name: p, limits: {limit: 'window:1/1m'}}]":                       "",
		"tiers: {a: {users: bob}}\npolicies: [{name: p, limits: {limit: 'window:1/1m', match: {tier: a}}}]":     "by more than a drill sends",
		"exempt: {addresses: 10.0.0.0/8}\npolicies: [{name: p, limits: {limit: 'window:1/1m', by: client/24}}]": "",
	} {
		d := drillOf(t, "", "http://127.0.0.1:1")
		d.Limits, d.NoConfig, d.To, d.ConfigFile = nil, false, "vegeta", filepath.Join(t.TempDir(), "c.yaml")
		must(t, os.WriteFile(d.ConfigFile, []byte(config), 0o600))
		err := d.Run(t.Context(), []string{name})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

// TestMinutes: the worst minute is the last, and the requests before it fill the limit.
func TestMinutes(t *testing.T) {
	t.Parallel()
	name := write(t, line{0, "198.51.100.7", "GET /first"}, line{50e9, "198.51.100.7", "GET /b"}, line{70e9, "198.51.100.7", "GET /c"},
		line{71e9, "198.51.100.7", "GET /d"}, line{130e9, "198.51.100.7", "GET /last"})
	for minutes, want := range map[int]string{1: "/c /d", 2: "/first /b /c /d"} {
		d := drillOf(t, "window:3/2m", "http://127.0.0.1:1")
		d.To, d.Minutes, d.Limits = "vegeta", minutes, []string{"window:1/30s"}
		must(t, d.Run(t.Context(), []string{name}))
		var paths []string
		for text := range strings.Lines(d.out.String()) {
			var target struct {
				Method, URL string
				Header      http.Header
			}
			must(t, json.Unmarshal([]byte(text), &target))
			path, ours := strings.CutPrefix(target.URL, "http://127.0.0.1:1")
			if paths = append(paths, path); !ours || target.Method != http.MethodGet || target.Header.Get("X-Forwarded-For") != "198.51.100.7" {
				t.Errorf("%+v", target)
			}
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%d minutes: %s, want %s", minutes, got, want)
		}
		if !strings.Contains(d.errs.String(), fmt.Sprintf("-rate=%d/", len(paths))) {
			t.Error(d.errs.String())
		}
	}
}

// Requests of several logs stand in the order of time, and tools get what they can parse.
func TestSeveralLogs(t *testing.T) {
	t.Parallel()
	one := write(t, line{0, "198.51.100.7", "GET /a"}, line{2e6, "198.51.100.8", `GET /\xff\xc3\xa9`}, line{4e6, "198.51.100.7", "GET /%zz"})
	two := write(t, line{1e6, "198.51.100.7", "GET /b"}, line{3e6, "198.51.100.7", "GET /c"})
	d := drillOf(t, "window:1/1m", "http://127.0.0.1:1")
	d.To = "vegeta"
	must(t, d.Run(t.Context(), []string{two, one}))
	var got []string
	for text := range strings.Lines(d.out.String()) {
		var target struct{ URL string }
		must(t, json.Unmarshal([]byte(text), &target))
		got = append(got, strings.TrimPrefix(target.URL, "http://127.0.0.1:1"))
	}
	if want := []string{"/a", "/b", "/%FF%C3%A9", "/c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestK6 runs the script in Node with what k6 gives it: every request is sent at its moment, and checked.
func TestK6(t *testing.T) {
	t.Parallel()
	testneeds.Program(t, "node")
	d := drillOf(t, "window:2/1m", "http://127.0.0.1:1")
	d.To = "k6"
	must(t, d.Run(t.Context(), []string{write(t, line{0, "198.51.100.7", "GET /a`${1}'\\x22"}, line{100e6, "198.51.100.8", "HEAD /b"},
		line{200e6, "198.51.100.7", "GET /c"}, line{300e6, "198.51.100.7", "GET /d"})}))
	dir := t.TempDir()
	module := func(name, text string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	module("http.mjs", `export default { request(...all) { console.log(JSON.stringify(all)); return { status: all[1].endsWith('/d') ? 503 : 200 }; } };`)
	module("execution.mjs", `export default { vu: { idInTest: 1 }, scenario: { startTime: Date.now() } };`)
	module("k6.mjs", `export const sleep = (s) => console.log('sleep', s > 0.05); export const check = (a, of) => { for (const n in of) console.log(n, of[n](a)); };`)
	module("drill.mjs", strings.NewReplacer("'k6/http'", "'./http.mjs'", "'k6/execution'", "'./execution.mjs'", "'k6'", "'./k6.mjs'").Replace(d.out.String()))
	module("main.mjs", `import exec from './execution.mjs'; import run, { options } from './drill.mjs';
console.log(options.scenarios.drill.vus, options.maxRedirects); for (exec.vu.idInTest = 1; exec.vu.idInTest <= 2; exec.vu.idInTest++) run();`)
	out, err := exec.Command("node", filepath.Join(dir, "main.mjs")).CombinedOutput()
	want := `2 0
sleep true
["GET","http://127.0.0.1:1/a` + "`" + `${1}'\"",null,{"headers":{"X-Forwarded-For":"198.51.100.7"}}]
as foreseen true
sleep true
["GET","http://127.0.0.1:1/c",null,{"headers":{"X-Forwarded-For":"198.51.100.7"}}]
as foreseen true
sleep true
["GET","http://127.0.0.1:1/d",null,{"headers":{"X-Forwarded-For":"198.51.100.7"}}]
as foreseen true
sleep true
["HEAD","http://127.0.0.1:1/b",null,{"headers":{"X-Forwarded-For":"198.51.100.8"}}]
as foreseen true
`
	if err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNear: what is of this machine or a private network needs no flag, and all else does.
func TestNear(t *testing.T) {
	for host, near := range map[string]bool{
		"127.9.9.9": true, "10.1.2.3": true, "172.31.0.1": true, "192.168.1.1": true, "169.254.1.1": true, "[::1]": true, "[fd00::1]": true,
		"[fe80::1]": true, "[::ffff:10.0.0.1]": true, "0.0.0.0": true, "172.32.0.1": false, "8.8.8.8": false, "[2606:4700::1]": false,
		"[::ffff:8.8.8.8]": false, "100.64.0.1": false,
	} {
		s, err := parseTarget("http://" + host)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond) // so that no connection is made
		defer cancel()
		err = s.find(ctx, false, false)
		if got := !errors.As(err, new(*pipeline.UsageError)); got != near {
			t.Errorf("%s: near %v, want %v: %v", host, got, near, err)
		}
	}
}

// Of two requests at nearly one moment a server may refuse either: then both are explained, and else no more than it
// could have decided.
func TestTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statuses []int
		apart    time.Duration
		by       int64
	}{
		{[]int{200, 429, 200}, time.Millisecond, 3},
		{[]int{429, 200, 200}, time.Millisecond, 3},
		{[]int{200, 200, 200}, time.Millisecond, 2},
		{[]int{200, 429, 429}, time.Millisecond, 2},
		{[]int{429, 200, 200}, 250 * time.Millisecond, 1},
	} {
		calmly(t, func() string {
			d := drillOf(t, "window:1/1m", answering(t, c.statuses))
			_ = d.Run(t.Context(), []string{write(t, line{0, "198.51.100.7", "GET /0"}, line{c.apart, "198.51.100.7", "GET /1"}, line{400e6, "198.51.100.8", "GET /2"})})
			if s := d.said(t); s.By != c.by || s.Sent != 3 {
				return fmt.Sprintf("%v: %+v", c, s)
			}
			return ""
		})
	}
}

// answering returns a server that answers a path of a digit with the status of that place, after a while.
func answering(t *testing.T, statuses []int) string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(15 * time.Millisecond)
		w.WriteHeader(statuses[r.URL.Path[1]-'0'])
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "http://" + l.Addr().String()
}
