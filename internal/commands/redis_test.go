package commands

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"shadow/internal/redis/redistest"
	"shadow/internal/testneeds"
)

// redisServer ARG… starts a Redis server of the script's own, at unix://$WORK/redis.sock, until the script ends.
func redisServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("redis cannot be expected to fail")
	}
	redistest.StartAt(scriptTest{ts}, ts.MkAbs("redis.sock"), args...)
}

// A scriptTest is a script as a server wants a test.
type scriptTest struct{ *testscript.TestScript }

// Helper implements redistest.TB.
func (scriptTest) Helper() {}

// Cleanup implements redistest.TB.
func (s scriptTest) Cleanup(do func()) { s.Defer(do) }

// TestReplayThroughRedis holds reports of real and of generated logs, with every verdict reached in Redis, against
// those of plain replays.
func TestReplayThroughRedis(t *testing.T) {
	server := redistest.Start(t)
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
		"logs/elastic-apache", "logs/nasa-1995-07-09", "logs/netnea-2015-2016",
	} {
		t.Run(filepath.Base(log), func(t *testing.T) {
			path := filepath.Join("../..", log)
			if strings.HasPrefix(log, "logs/") {
				path = testneeds.Shared(t, log)
			}
			args := append([]string{"replay", path}, args...)
			want := withoutCommand(run(t, ".", args...))
			got := withoutCommand(run(t, ".", append(args, "--redis", server.Address())...))
			if !bytes.Equal(got, want) {
				t.Errorf("the report differs from that of a plain replay:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var commandOfReport = regexp.MustCompile(`(?m)^ *"command": .*$`)

func withoutCommand(report []byte) []byte { return commandOfReport.ReplaceAll(report, nil) }
