package commands

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Thousands of connections that ask nothing keep neither the tail from opening its log nor other clients from asking.
func TestTailListenIdle(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	write := func(lines int) {
		file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for i := range lines {
			fmt.Fprintf(file, "192.0.2.1 - - [%s] \"GET /%d HTTP/1.1\" 200 1 \"-\" \"curl/8\"\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"), i)
		}
	}
	write(10)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()

	const files = 128
	cmd := command(t, dir, "tail", log, "--limit", "6/30s", "--listen", address, "--from", "start", "--quiet", "--would-blocks", "told")
	path := cmd.Path
	cmd.Path = "/bin/sh"
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf("ulimit -n %d; exec \"$0\" \"$@\"", files), path}, cmd.Args[1:]...)
	var stderr safeBuffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := regexp.MustCompile(`(?m)^shadow_lines_total (\d+)`)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	has := func(want string) bool {
		answer, err := client.Get("http://" + address + "/metrics")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		m := lines.FindStringSubmatch(string(text))
		return m != nil && m[1] == want
	}
	waitFor(t, "the first lines", func() bool { return has("10") })

	for range 3000 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	waitFor(t, "an answer in spite of them", func() bool { return has("10") })
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	write(5)
	waitFor(t, "the lines of the next file", func() bool { return has("15") })
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))
	if err != nil || len(open) > files/2 {
		t.Errorf("%d files are open, %v", len(open), err)
	}
	if text := stderr.String(); strings.Contains(text, "too many open files") {
		t.Errorf("standard error: %s", text)
	}
}
