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

// A real nginx has three limits, and clients of four kinds: they back off by chance, come back thrice, work through a queue,
// and give up. How they do is learned from the log of one limit. The requests of two others, half and twice
// as strict, must come out to within 15 %, and they and the refusals lie between the least and the most.
func TestRetriesAreForeseen(t *testing.T) {
	testneeds.Program(t, "nginx")
	dir := t.TempDir()
	zones := []struct{ rate, burst int }{{6, 6}, {3, 3}, {12, 12}}
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
	const length = 15 * time.Second
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for client := range 24 {
		name, kind := fmt.Sprintf("c%d", client), []string{"backs off", "thrice", "works", "gives up"}[client%4]
		demand := demandOf(r, length)
		var luck [6]float64
		for _, address := range addresses {
			if kind == "works" {
				all.Go(func() {
					for n := 0; time.Now().Before(end); n++ {
						wants(address, name, kind, fmt.Sprintf("/%d", n), luck, end)
					}
				})
				continue
			}
			for n, at := range demand {
				for i := range luck {
					luck[i] = r.Float64()
				}
				all.Go(func() {
					time.Sleep(at)
					wants(address, name, kind, fmt.Sprintf("/%d", n), luck, end)
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
					Requests, Refused struct{ Expected, Low, High int64 }
				}
			}
		}
		out := run(t, dir, "replay", "log0", "--format", `$http_x_client [$time_local] "$request" $status "$http_user_agent" $msec $request_time`,
			"--client", "header:X-Client", "--no-store", "--limit", limit, "--retries", "learned", "--output", "json")
		must(t, json.Unmarshal(out, &report))
		got := report.Policies[0].Retries
		t.Logf("%s: %d requests, %d refused; foreseen %+v, without retries %d refused", limit, requests, refused, got, report.Policies[0].Refused)
		if of := got.Requests; 100*of.Expected < 85*requests || 100*of.Expected > 115*requests || requests < of.Low || requests > of.High {
			t.Errorf("%s: %d requests, foreseen are %+v", limit, requests, of)
		}
		if of := got.Refused; refused < of.Low || refused > of.High {
			t.Errorf("%s: %d refused, foreseen are %+v", limit, refused, of)
		}
	}
}

// demandOf returns the times at which a client wants something: now and then, sometimes several things at once.
func demandOf(r *rand.Rand, length time.Duration) (all []time.Duration) {
	for at := time.Duration(0); at < length; at += time.Duration(r.IntN(500)) * time.Millisecond {
		for range 1 + r.IntN(3) {
			all = append(all, at+time.Duration(r.IntN(20))*time.Millisecond)
		}
	}
	return all
}

// wants asks for something, in the way of a client of a kind, until it is admitted, gives up or is out of time.
func wants(address, client, kind, path string, luck [6]float64, end time.Time) {
	for try := 0; time.Now().Before(end); try++ {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return
		}
		request.Header.Set("X-Client", client)
		request.Header.Set("User-Agent", "Go-http-client/1.1")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return
		}
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusOK || kind == "gives up" || kind == "thrice" && try == 3 || kind == "backs off" && try == 6:
			return
		case kind == "thrice":
			time.Sleep(time.Second)
		case kind == "works":
			time.Sleep(300 * time.Millisecond)
		default:
			time.Sleep(time.Duration(luck[try] * float64(min(4*time.Second, 250*time.Millisecond<<try))))
		}
	}
}
