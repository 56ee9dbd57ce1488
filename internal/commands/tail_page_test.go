//go:build !nostore

package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A tailed is a tail that serves its page.
type tailed struct {
	address string // of the listener
	page    string
}

// pageOf starts a tail of a log with --listen, and returns where its page is: "" if it has none.
func pageOf(t *testing.T, dir, log string, args ...string) tailed {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	args = append([]string{"tail", log, "--limit", "6/30s", "--listen", address, "--would-blocks", "told"}, args...)
	cmd := command(t, dir, args...)
	var stderr safeBuffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, in.Close())
		must(t, cmd.Process.Signal(syscall.SIGINT))
		must(t, cmd.Wait())
	})
	waitFor(t, "the metrics", func() bool {
		answer, err := http.Get("http://" + address + "/healthz")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
	return tailed{address, regexp.MustCompile(`http://\S+`).FindString(stderr.String())}
}

// asked returns the status and the body that answer a request.
func asked(t *testing.T, method, address, body string, change func(*http.Request)) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	must(t, err)
	change(r)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(all)
}

func asIs(*http.Request) {}

// The page of a tail is that of explore for the last of its log, as it is when it is loaded. No other page reaches it.
func TestTailServesPage(t *testing.T) {
	dir := t.TempDir()
	add := func(clients int, ago time.Duration) {
		file, err := os.OpenFile(filepath.Join(dir, "access.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		defer file.Close()
		for i := range 10 * clients {
			fmt.Fprintf(file, "192.0.2.%d - - [%s] \"GET /%d HTTP/1.1\" 200 1 \"-\" \"curl/8\"\n", i%clients,
				time.Now().Add(-ago).Format("02/Jan/2006:15:04:05 -0700"), i)
		}
	}
	add(9, 3*time.Hour)
	add(20, 10*time.Minute)
	tail := pageOf(t, dir, "access.log", "--page", "2h")
	if !regexp.MustCompile(`^http://` + regexp.QuoteMeta(tail.address) + `/\w{26}/$`).MatchString(tail.page) {
		t.Fatalf("the page is at %q", tail.page)
	}
	requests := func() (n int64) {
		if status, text := asked(t, "GET", tail.page, "", asIs); status != http.StatusOK || !strings.Contains(text, "</html>") {
			t.Fatalf("the page answers %d: %.300s", status, text)
		}
		status, text := asked(t, "POST", tail.page+"ask", `{"ask":"suggest"}`, asIs)
		var answer struct{ Input struct{ Requests int64 } }
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
			t.Fatalf("the question answers %d: %.300s", status, text)
		}
		return answer.Input.Requests
	}
	if status, text := asked(t, "POST", tail.page+"ask", `{"ask":"suggest"}`, asIs); status != http.StatusBadRequest || !strings.Contains(text, "load the page") {
		t.Errorf("before it is loaded a question answers %d: %.300s", status, text)
	}
	if n := requests(); n != 200 {
		t.Errorf("%d requests are in the page, want those of two hours: 200", n)
	}
	add(5, 0)
	if n := requests(); n != 250 {
		t.Errorf("%d requests are in the page, want 250", n)
	}
	must(t, os.Rename(filepath.Join(dir, "access.log"), filepath.Join(dir, "access.log.1")))
	if n := requests(); n != 250 {
		t.Errorf("%d requests are in the page, want 250, also where the log is rotated and no other is there yet", n)
	}
	add(1, 0)
	if n := requests(); n != 260 {
		t.Errorf("%d requests are in the page, want 260, of the log and of the rotated one", n)
	}
	for what, c := range map[string]struct {
		address string
		want    int
		change  func(*http.Request)
	}{
		"another name":     {tail.page, http.StatusForbidden, func(r *http.Request) { r.Host = "rebound.example" }},
		"another address":  {tail.page, http.StatusForbidden, func(r *http.Request) { r.Host = "192.0.2.1:80" }},
		"another page":     {tail.page + "ask", http.StatusForbidden, func(r *http.Request) { r.Header.Set("Origin", "http://rebound.example") }},
		"another secret":   {"http://" + tail.address + "/ABCDEFGHIJKLMNOPQRSTUVWXYZ/", http.StatusNotFound, asIs},
		"metrics by name":  {"http://" + tail.address + "/metrics", http.StatusOK, func(r *http.Request) { r.Host = "tail.example" }},
		"the landing page": {"http://" + tail.address + "/", http.StatusOK, asIs},
	} {
		status, text := asked(t, map[bool]string{true: "POST", false: "GET"}[strings.HasSuffix(c.address, "ask")], c.address, `{"ask":"suggest"}`, c.change)
		if status != c.want || strings.Contains(text, strings.Trim(tail.page[len("http://"+tail.address):], "/")) || status != http.StatusOK && strings.Contains(text, "192.0.2") {
			t.Errorf("%s: %d: %.300s", what, status, text)
		}
	}
	visitPage(t, tail.page, 1200).until(`document.querySelector("#groups .sum td:nth-child(6)") !== null`)
}

// A pipe cannot be read again, so there is no page.
func TestTailOfPipeHasNoPage(t *testing.T) {
	if tail := pageOf(t, t.TempDir(), "-"); tail.page != "" {
		t.Errorf("there is a page at %q", tail.page)
	}
}
