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
*--timing*) echo 'parse  60.0 ns/line  70.0 %' >&2 ;;
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
	return &bench{ctx: context.Background(), out: out, dir: dir, shadow: program, lines: [2]int64{1000, 2000}, rounds: 2}, out
}

// TestGroups runs each group against the fake. gzip starts this very program as its own rival, so it is not among them.
func TestGroups(t *testing.T) {
	for group, says := range map[string][]string{
		"replay":   {"wc -l", "3 limits, 1 core", "48 limits", "at most 6.5", "parse  60.0 ns/line"},
		"policies": {"each alone", "by class", "client inside site", "at most 1.2", "beyond one limit"},
		"answers":  {"sweep of one client", "keys: × CPU a line of replay: ", "suggest: MB:", "at most 4.5"},
		"tail":     {"wc -l", "checkpoints", "at least 0.5"},
		"store":    {"not stored", "stored: × not stored"},
		"report":   {"compared", "page", "at most 3"},
		"memory":   {"at most 312.3"},
		"files":    {"1,000 files: CPU ms a file"},
		"start":    {"version", "at most 25"},
		"gates":    {"suggest: × CPU of replay: "},
	} {
		t.Run(group, func(t *testing.T) {
			b, out := newBench(t)
			chosen, err := choose(group)
			if err != nil {
				t.Fatal(err)
			}
			missed := b.measure(chosen) // of gates, which the fake may miss
			if missed != nil && !strings.HasSuffix(missed.Error(), "gates missed") {
				t.Fatal(missed)
			}
			for _, text := range says {
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
	c := &contender{lines: 4_000_000, laps: []lap{{wall: time.Second, cpu: 25 * time.Millisecond}}}
	for _, v := range []struct {
		target target
		want   string
		missed int
	}{
		{millis(20), "CPU ms: 25.00, at most 20: MISSED", 1},
		{millionLines(4), "million lines/s: 4.00, at least 4: met", 1},
		{times("itself", 0.5), "× itself: 1.00, at most 0.5: MISSED", 2},
	} {
		if got := b.judge(v.target, c, map[string]*contender{"itself": c}); got != v.want || b.missed != v.missed {
			t.Errorf("%s, %d missed", got, b.missed)
		}
	}
}

func TestGunzip(t *testing.T) {
	b, _ := newBench(t)
	packed, _, err := b.packed(1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := gunzip(packed); err != nil {
		t.Error(err)
	}
	if err := gunzip(strings.TrimSuffix(packed, ".gz")); err == nil {
		t.Error("a plain file was read as gzip")
	}
}

// TestNoRoom: a log that does not fit is refused before it is begun.
func TestNoRoom(t *testing.T) {
	b, _ := newBench(t)
	if _, _, err := b.log(1<<50, 50_000); err == nil || !strings.Contains(err.Error(), "MB free") {
		t.Errorf("log says %v", err)
	}
}

// A gate that is missed is an error, another target is not.
func TestGates(t *testing.T) {
	for _, gate := range []bool{false, true} {
		b, _ := newBench(t)
		g := group{name: "x", title: "x", on: []size{smaller}, gate: gate, rows: []row{
			{name: "shadow", command: "{shadow} {log}", targets: []target{millis(0)}},
		}}
		if err := b.measure([]group{g}); (err != nil) != gate {
			t.Errorf("a gate: %t; the error is %v", gate, err)
		}
	}
}
