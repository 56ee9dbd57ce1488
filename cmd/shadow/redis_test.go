package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// redisServer ARG… starts a Redis server of the script's own, at unix://$WORK/redis.sock, until the script ends.
func redisServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("redis cannot be expected to fail")
	}
	socket := ts.MkAbs("redis.sock")
	stop, err := startRedis(socket, args...)
	ts.Check(err)
	ts.Defer(stop)
}

// startRedis starts a server and waits until it answers.
func startRedis(socket string, args ...string) (stop func(), err error) {
	args = append([]string{"--port", "0", "--unixsocket", socket, "--dir", filepath.Dir(socket), "--save", ""}, args...)
	server := exec.Command("redis-server", args...)
	if err := server.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}, nil
}

// redisSocket is where a test may start a server.
func redisSocket(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is missing: run scripts/install-test-deps")
		}
		t.Skip("redis-server is missing")
	}
	dir, err := os.MkdirTemp("", "shadow") // t.TempDir makes names that are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// TestReplayThroughRedis holds reports of real and of generated logs, with every verdict reached in Redis, against those
// of plain replays.
func TestReplayThroughRedis(t *testing.T) {
	socket := redisSocket(t)
	stop, err := startRedis(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	args := []string{"--no-store", "--output", "json", "--quiet", "--max-bad", "100%"}
	for _, limit := range []string{
		"6/30s", "token:6/30s,cooldown=1m", "token:6/30s,debt=5", "token:60/1m,refill=step", "window:100/1h", "window:9/1m,charge=all",
		"fixed:60/m", "counter:60/m", "nginx:30r/m,burst=5,delay=2", "haproxy:20/10s", "caddy:6/30s", "gcra:60/m,burst=5",
		"envoy:60/m", "envoy-local:6/30s", "traefik:1/s,burst=5",
	} {
		args = append(args, "--limit", limit)
	}
	for _, log := range []string{
		"sample-logs/shop-combined.log", "sample-logs/nginx-timed.log", "sample-logs/api.json", "sample-logs/rotated",
		"../shared/logs/elastic-apache", "../shared/logs/nasa-1995-07-09", "../shared/logs/netnea-2015-2016",
	} {
		t.Run(filepath.Base(log), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("../..", log)); err != nil {
				t.Skip(err)
			}
			args := append([]string{"replay", log}, args...)
			want := withoutCommand(run(t, "../..", args...))
			got := withoutCommand(run(t, "../..", append(args, "--redis", "unix://"+socket)...))
			if !bytes.Equal(got, want) {
				t.Errorf("the report differs from that of a plain replay:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var commandOfReport = regexp.MustCompile(`(?m)^ *"command": .*$`)

func withoutCommand(report []byte) []byte { return commandOfReport.ReplaceAll(report, nil) }
