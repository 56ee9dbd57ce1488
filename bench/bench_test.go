//go:build linux || darwin

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fake answers as shadow does, in no time.
const fake = `#!/bin/sh
case "$*" in
*'tail -'*) touch "${0%/*}/would-blocks.json" ;;
*query*) printf 'n\n4000\n' ;;
*--timing*) echo 'parse  60.0 ns/line  70.0 %' >&2 ;;
*json*) echo '{"input":{"clients":900},"policies":[{"clients_hit":20},{"clients_hit":30}]}' ;;
esac
`

func newBench(t *testing.T) (*bench, *strings.Builder) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "shadow")
	if err := os.WriteFile(program, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	out := &strings.Builder{}
	return &bench{ctx: context.Background(), out: out, dir: dir, shadow: program, lines: 1000, rounds: 2}, out
}

// TestGroups runs each group against the fake. gzip starts this very program as its own rival, so it is not among them.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		group string
		says  []string
	}{
		{"replay", []string{"wc -l", "3 policies, 1 core", "16 policies", "at most 11", "parse  60.0 ns/line"}},
		{"policies", []string{"each alone", "by class", "client inside site", "at most 1.2", "at least 5"}},
		{"sweep", []string{"replay, 3 limits", "all kinds", "one client", "at most 4", "at its highest"}},
		{"tail", []string{"wc -l", "checkpoints", "at least 0.5", "at its highest"}},
		{"store", []string{"--no-store", "4000 event rows"}},
		{"report", []string{"table, compared", "html", "at most 3"}},
		{"memory", []string{"900", "50", "of budget"}},
	} {
		t.Run(c.group, func(t *testing.T) {
			b, out := newBench(t)
			chosen, err := choose(c.group)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.measure(chosen); err != nil {
				t.Fatal(err)
			}
			for _, text := range c.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("no %q in\n%s", text, out)
				}
			}
		})
	}
}

func TestUnknownGroup(t *testing.T) {
	if _, err := choose("replay,speed"); err == nil || !strings.Contains(err.Error(), "speed") {
		t.Errorf("choose says %v", err)
	}
}

// TestRatio: a round that something disturbed moves neither ratio nor median.
func TestRatio(t *testing.T) {
	laps := func(millis ...int) (laps []lap) {
		for _, ms := range millis {
			laps = append(laps, lap{wall: time.Duration(ms) * time.Millisecond})
		}
		return laps
	}
	base := &contender{laps: laps(10, 100, 16)}
	c := &contender{laps: laps(20, 250, 900)}
	if got := c.times(base); got != 2.5 {
		t.Errorf("ratio %v, want 2.5", got)
	}
	if got := base.seconds(); got != 0.016 {
		t.Errorf("median %v s, want 0.016", got)
	}
}

func TestVerdicts(t *testing.T) {
	b := &bench{}
	if got := b.atMost("", 2.5, 2); got != "2.50, at most 2: MISSED" || b.missed != 1 {
		t.Errorf("%s, %d missed", got, b.missed)
	}
	if got := b.atLeast("", 4, 4); got != "4.00, at least 4: met" || b.missed != 1 {
		t.Errorf("%s, %d missed", got, b.missed)
	}
}

func TestGunzip(t *testing.T) {
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "a"), filepath.Join(dir, "a.gz")
	if err := os.WriteFile(plain, []byte(strings.Repeat("line\n", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := pack(plain, packed); err != nil {
		t.Fatal(err)
	}
	if err := gunzip(packed); err != nil {
		t.Error(err)
	}
	if err := gunzip(plain); err == nil {
		t.Error("a plain file was read as gzip")
	}
}

// TestNoRoom: a log that does not fit is refused before it is begun.
func TestNoRoom(t *testing.T) {
	b, _ := newBench(t)
	if _, err := b.log(1<<50, 50_000); err == nil || !strings.Contains(err.Error(), "MB free") {
		t.Errorf("log says %v", err)
	}
}
