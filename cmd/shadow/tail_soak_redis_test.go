//go:build unix

package main

import (
	"bufio"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The soak once more, with what the limits remember in Redis, which is killed now and then and comes back empty. With a
// single host nothing is lost by that, so each would-block must be one of a tail without Redis, and none must be missing;
// those of the time without Redis must be marked, and in the end none. The log grows at a pace that Redis can hold.

// redisSoakSize is how much is done: SOAK_REDIS=LINES,PACE,KILLS, with lines a second, and how often Redis is killed.
func redisSoakSize(t *testing.T) (lines, pace, kills int) {
	lines, pace, kills = 500_000, 20_000, 2
	if testing.Short() {
		lines = 200_000
	}
	if text := os.Getenv("SOAK_REDIS"); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d,%d", &lines, &pace, &kills); err != nil {
			t.Fatalf("SOAK_REDIS=%s: %v", text, err)
		}
	}
	return lines, pace, kills
}

// A redisSoak is a soak with a Redis that comes and goes.
type redisSoak struct {
	*soak
	socket  string
	stop    func()
	outages [][2]time.Time // from when until when
}

const (
	redisSoakLimit = "60/2s" // its horizon is short, so that spans of degradation end
	soakOutage     = time.Second
)

func TestTailSoakRedis(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is missing: run scripts/install-test-deps")
		}
		t.Skip("redis-server is missing")
	}
	dir, err := os.MkdirTemp("", "shadow") // t.TempDir makes names that are too long for a socket
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	lines, pace, kills := redisSoakSize(t)
	s := &redisSoak{soak: &soak{t: t, dir: t.TempDir(), limit: redisSoakLimit, pace: pace}, socket: filepath.Join(dir, "s")}
	s.args = []string{"--redis", "unix://" + s.socket}
	s.trouble = func(n int) { s.disturb(n, lines, kills) }
	s.startRedis()
	t.Cleanup(func() { s.stop() })
	s.begin()
	begin := time.Now()
	_, rotations, tailKills := soakSize(t)
	s.write(lines, rotations, tailKills)
	tally := s.settle(int64(lines))
	took := time.Since(begin)
	s.compare(tally)
	all, marked := s.compareEach()
	t.Logf("%d lines in %.1f s, %d rotations, %d kills, Redis killed %d times: %d would-blocks, %d of them degraded (%.1f %%), at most %d MiB of memory",
		lines, took.Seconds(), rotations, tailKills, len(s.outages), all, marked, 100*float64(marked)/float64(all), s.peak>>10)
}

func (s *redisSoak) startRedis() {
	s.t.Helper()
	var err error
	s.stop, err = startRedis(s.socket)
	must(s.t, err)
}

// disturb kills Redis at regular intervals, and starts it again after a while.
func (s *redisSoak) disturb(n, lines, kills int) {
	every := lines / (kills + 1)
	switch {
	case n > 0 && n%every == 0 && len(s.outages) < kills:
		s.stop()
		s.outages = append(s.outages, [2]time.Time{time.Now()})
	case n%1000 == 0 && len(s.outages) > 0:
		if last := &s.outages[len(s.outages)-1]; last[1].IsZero() && time.Since(last[0]) > soakOutage {
			last[1] = time.Now()
			s.startRedis()
		}
	}
}

var untold = regexp.MustCompile(`,"retry_after":[^,}]*|,"degraded":true`)

// compareEach holds each would-block against those that a tail tells that has all of the log at once.
func (s *redisSoak) compareEach() (all, marked int) {
	s.t.Helper()
	whole, err := os.Open(s.path("whole"))
	must(s.t, err)
	defer whole.Close()
	alone := command(s.t, s.dir, "tail", "-", "--would-blocks", "alone", "--lateness", "2s", "--limit", s.limit, "--format", soakFormat, "--quiet")
	alone.Stdin = whole
	must(s.t, alone.Run())
	seed := maphash.MakeSeed()
	balance := map[uint64]int{}
	s.each("alone", func(line string) { balance[maphash.String(seed, untold.ReplaceAllString(line, ""))]++ })
	s.each("would-blocks", func(line string) {
		all++
		if strings.Contains(line, `"degraded":true`) {
			marked++
		}
		balance[maphash.String(seed, untold.ReplaceAllString(line, ""))]--
	})
	wrong := 0
	for _, n := range balance {
		if n != 0 {
			wrong++
		}
	}
	if wrong > 0 {
		s.t.Errorf("%d of %d would-blocks differ", wrong, all)
	}
	return all, marked
}

// each reads the lines of a file.
func (s *soak) each(name string, do func(line string)) {
	s.t.Helper()
	f, err := os.Open(s.path(name))
	must(s.t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		do(lines.Text())
	}
	must(s.t, lines.Err())
}
