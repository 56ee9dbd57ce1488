package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// A real nginx has two limits, and clients that come back at once, that back off, and that give up. How they do is learned
// from the log of the one; the requests and the refusals of the other must come out to within a tenth.
func TestRetriesAreForeseen(t *testing.T) {
	testneeds.Program(t, "nginx")
	dir := t.TempDir()
	zones := []struct{ rate, burst int }{{4, 4}, {2, 2}, {7, 5}}
	var addresses []string
	limits, servers := "", ""
	must(t, os.Mkdir(filepath.Join(dir, "www"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "www", "x"), []byte("x"), 0o644))
	for i, z := range zones {
		addresses = append(addresses, freeAddress(t))
		limits += fmt.Sprintf("limit_req_zone $http_x_client zone=z%d:1m rate=%dr/s;\n", i, z.rate)
		servers += fmt.Sprintf("server { listen %s; access_log %s/log%d own; root %s/www; "+
			"location / { limit_req zone=z%d burst=%d nodelay; try_files /x =404; } }\n", addresses[i], dir, i, dir, i, z.burst)
	}
	conf := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 4096; }
http {
client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
log_format own '$http_x_client [$time_local] "$request" $status "$http_user_agent" $msec $request_time';
limit_req_status 429;
%[2]s%[3]s}
`, dir, limits, servers)
	must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600))
	nginx := exec.Command("nginx", "-e", dir+"/error.log", "-c", dir+"/nginx.conf")
	must(t, nginx.Start())
	t.Cleanup(func() { _ = nginx.Process.Kill(); _ = nginx.Wait() })
	for _, address := range addresses {
		for range 50 {
			if answer, err := http.Get("http://" + address + "/"); err == nil {
				answer.Body.Close()
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	r := testneeds.Rand(t, 18, 5)
	var all sync.WaitGroup
	for client, kind := range []string{"at once", "backs off", "gives up", "at once", "backs off", "gives up", "at once", "backs off", "gives up"} {
		demand := demandOf(r)
		for _, address := range addresses {
			for n, at := range demand {
				all.Go(func() {
					time.Sleep(at)
					wants(address, fmt.Sprintf("c%d", client), kind, fmt.Sprintf("/%d", n))
				})
			}
		}
	}
	all.Wait()
	time.Sleep(100 * time.Millisecond)
	for i, z := range zones[1:] {
		text, err := os.ReadFile(fmt.Sprintf("%s/log%d", dir, i+1))
		must(t, err)
		requests, refused := int64(bytes.Count(text, []byte("\n"))), int64(bytes.Count(text, []byte(`" 429 "`)))
		limit := fmt.Sprintf("nginx:%dr/s,burst=%d,nodelay", z.rate, z.burst)
		var report struct {
			Policies []struct {
				Refused int64
				Retries struct {
					Requests, Refused, Lost [2]int64
					Wanted                  int64
				}
			}
		}
		out := run(t, dir, "replay", "log0", "--format", `$http_x_client [$time_local] "$request" $status "$http_user_agent" $msec $request_time`,
			"--client", "header:X-Client", "--no-store", "--limit", limit, "--retries", "learned", "--output", "json")
		must(t, json.Unmarshal(out, &report))
		got := report.Policies[0].Retries
		t.Logf("%s: %d requests, %d refused; foreseen %+v, without retries %d refused", limit, requests, refused, got, report.Policies[0].Refused)
		within := func(what string, is int64, band [2]int64) {
			if 10*band[0] < 9*is || 10*band[1] > 11*is {
				t.Errorf("%s: %d %s, foreseen are %d to %d", limit, is, what, band[0], band[1])
			}
		}
		within("requests", requests, got.Requests)
		within("refused", refused, got.Refused)
	}
}

// demandOf returns the times at which a client wants something: now and then, sometimes several things at once.
func demandOf(r *rand.Rand) (all []time.Duration) {
	for at := time.Duration(0); at < 9*time.Second; at += time.Duration(r.IntN(500)) * time.Millisecond {
		for range 1 + r.IntN(3) {
			all = append(all, at+time.Duration(r.IntN(20))*time.Millisecond)
		}
	}
	return all
}

// wants asks for something, in the way of a client of a kind.
func wants(address, client, kind, path string) {
	agents := map[string]string{
		"at once": "curl/8.5.0", "backs off": "python-requests/2.31", "gives up": "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
	}
	for try := range 5 {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return
		}
		request.Header.Set("X-Client", client)
		request.Header.Set("User-Agent", agents[kind])
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return
		}
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusOK || kind == "gives up":
			return
		case kind == "at once":
			time.Sleep(20 * time.Millisecond)
		default:
			time.Sleep(150 * time.Millisecond << try)
		}
	}
}
