package commands

import (
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A real nginx with limit_conn in a dry run and a real HAProxy that counts with conn_cur decide as conn:3 does on their
// logs, but for requests that begin within a few milliseconds of another's end.
func TestConnJudgesAsServersDo(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		took, err := time.ParseDuration(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
		}
		time.Sleep(took)
	}))
	defer slow.Close()
	upstream := strings.TrimPrefix(slow.URL, "http://")
	for _, c := range []connServer{
		{
			"nginx", `daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 4096; }
http {
client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c; uwsgi_temp_path DIR/d; scgi_temp_path DIR/e;
log_format own '$remote_addr [$time_local] "$request" $status $msec $request_time $limit_conn_status';
limit_conn_zone $binary_remote_addr zone=z:1m;
server { listen ADDRESS; access_log DIR/log own; limit_conn z 3; limit_conn_dry_run on; location / { proxy_pass http://UPSTREAM; } }
}`,
			[]string{"-e", "stderr", "-c"},
			func(line string) bool { return strings.HasSuffix(line, " REJECTED_DRY_RUN") },
			[]string{"--limits-from", "config", "--format", `$remote_addr [$time_local] "$request" $status $msec $request_time $limit_conn_status`},
		},
		{
			"haproxy", `global
    nbthread 1
    log stdout format raw local0
defaults
    mode http
    log global
    option httplog
    timeout client 5s
    timeout server 5s
    timeout connect 5s
frontend all
    bind ADDRESS
    stick-table type ip size 1k expire 1m store conn_cur
    http-request track-sc0 src
    http-request deny deny_status 429 if { sc0_conn_cur gt 3 }
    default_backend slow
backend slow
    server slow UPSTREAM
`, []string{"-db", "-f"}, func(line string) bool { return strings.Contains(line, " 429 ") }, []string{"--limits-from", "config", "--format", "haproxy"},
		},
	} {
		t.Run(c.server, func(t *testing.T) {
			testneeds.Program(t, c.server)
			// Where the machine has much else to do, the server sees requests later than its log says: another try then.
			var agree, refused, requests int
			for range 3 {
				agree, refused, requests = c.once(t, upstream)
				t.Logf("%s: %d of %d verdicts agree, %d refused", c.server, agree, requests, refused)
				if requests >= 300 && refused >= requests/20 && refused <= requests*19/20 && agree*100 >= requests*97 {
					return
				}
			}
			t.Errorf("%d of %d verdicts agree, %d refused", agree, requests, refused)
		})
	}
}

// A connServer is a server that limits what is under way, its configuration, and how shadow is told.
type connServer struct {
	server, config string
	args           []string // of the server, behind which the configuration stands
	refused        func(line string) bool
	limit          []string
}

// once has the server judge busy clients, and its log judged.
func (c *connServer) once(t *testing.T, upstream string) (agree, refused, requests int) {
	t.Helper()
	dir, address := t.TempDir(), freeAddress(t)
	text := strings.NewReplacer("DIR", dir, "ADDRESS", address, "UPSTREAM", upstream).Replace(c.config)
	must(t, os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600))
	log := filepath.Join(dir, "log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer out.Close()
	server := exec.Command(c.server, append(c.args, filepath.Join(dir, "config"))...)
	server.Stdout = out
	must(t, server.Start())
	busyClients(t, address)
	time.Sleep(200 * time.Millisecond)
	must(t, server.Process.Kill())
	_ = server.Wait()

	lines := strings.Split(strings.TrimSpace(string(contentOf(t, log))), "\n")
	run(t, dir, append([]string{"replay", "log", "--no-store", "--verdicts", "verdicts.csv"}, c.limit...)...)
	rows, err := csv.NewReader(strings.NewReader(string(contentOf(t, filepath.Join(dir, "verdicts.csv"))))).ReadAll()
	must(t, err)
	for _, row := range rows[1:] {
		n := 0
		_, err := fmt.Sscan(row[1], &n)
		must(t, err)
		is := c.refused(lines[n-1])
		if is {
			refused++
		}
		if is == (row[7] == "refused") {
			agree++
		}
	}
	return agree, refused, len(rows) - 1
}

func contentOf(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return text
}

// busyClients sends, from six addresses for some seconds, requests that take up to 400 ms.
func busyClients(t *testing.T, address string) {
	t.Helper()
	for range 50 {
		if answer, err := http.Get("http://" + address + "/"); err == nil {
			answer.Body.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	r := testneeds.Rand(t, 43, 1)
	var all sync.WaitGroup
	for i := range 6 {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		}}}
		for at := time.Duration(0); at < 6*time.Second; at += time.Duration(r.IntN(80*(i+1))) * time.Millisecond {
			took := time.Duration(10+r.IntN(390)) * time.Millisecond
			all.Go(func() {
				time.Sleep(at)
				if answer, err := client.Get(fmt.Sprintf("http://%s/%v", address, took)); err == nil {
					answer.Body.Close()
				}
			})
		}
	}
	all.Wait()
}
