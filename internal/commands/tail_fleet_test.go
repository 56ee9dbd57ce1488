//go:build unix && !nostore

package commands

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shadow/internal/redis/redistest"
	"shadow/internal/tail"
	"shadow/internal/testneeds"
)

const fleetSize = 32

// A fleet is many tails, each a process with a log of its own, which count together.
type fleet struct {
	t     *testing.T
	dir   string
	whole bytes.Buffer
	sent  [fleetSize]int64 // lines, by tail
	tails [fleetSize]*exec.Cmd
	said  [fleetSize]bytes.Buffer // on standard error
}

var fleetLimits = []string{"--limit", "token:3/10s", "--limit", "leaky:2/5s", "--limit", "window:4/20s", "--format", soakFormat}

// TestTailFleet has processes judge by one Redis Cluster, one after another, while a replica takes the place of its
// master, and while that is killed. Together they refuse what one replay of all logs refuses, request by request.
func TestTailFleet(t *testing.T) {
	t.Parallel()
	turns := testneeds.Draws(96, 600)
	cluster := redistest.StartCluster(t, 3)
	f := &fleet{t: t, dir: t.TempDir()}
	for i := range fleetSize {
		f.start(i, cluster.Address())
	}
	r := testneeds.Rand(t, 44, 6)
	var order []int
	for turn := range turns {
		switch turn {
		case turns / 3:
			cluster.TakeOver(cluster.Replica, "")
		case 2 * turns / 3:
			cluster.WaitReplicated(cluster.Replica, cluster.Masters[0])
			cluster.Replica.Kill()
			cluster.TakeOver(cluster.Masters[0], "FORCE")
		}
		if turn%fleetSize == 0 {
			order = r.Perm(fleetSize)
		}
		lines := make([]string, 1+r.IntN(12))
		for n := range lines {
			lines[n] = fmt.Sprintf("10.0.0.%d", 1+r.IntN(1+r.IntN(60)))
		}
		for n := range 24 { // who has not met a master does not know its replica, and marks
			if turn < 2*turns/3 {
				lines = append(lines, fmt.Sprintf("10.0.1.%d", n))
			}
		}
		f.turn(order[turn%fleetSize], lines)
	}
	got, want := f.stop(), f.replayed()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d would-blocks of %d processes differ from %d of the replay", len(got), fleetSize, len(want))
	}
	t.Logf("%d requests, %d would-blocks of %d processes", bytes.Count(f.whole.Bytes(), []byte("\n")), len(want), fleetSize)
	if len(want) < turns {
		t.Error("that proves little")
	}
}

func (f *fleet) path(i int, name string) string { return filepath.Join(f.dir, fmt.Sprint(i), name) }

// start starts a tail.
func (f *fleet) start(i int, redis string) {
	f.t.Helper()
	must(f.t, os.Mkdir(filepath.Join(f.dir, fmt.Sprint(i)), 0o755))
	must(f.t, os.WriteFile(f.path(i, "access.log"), nil, 0o644))
	cmd := command(f.t, f.path(i, ""), append([]string{
		"tail", "access.log", "--redis", redis, "--redis-timeout", "20s", "--lateness", "20ms", "--state", "state", "--save-every", "50ms",
		"--would-blocks", "would-blocks", "--quiet",
	}, fleetLimits...)...)
	cmd.Stderr = &f.said[i]
	must(f.t, cmd.Start())
	f.tails[i] = cmd
	f.t.Cleanup(func() { _ = cmd.Process.Kill() })
	for !existsFile(f.path(i, "state")) {
		time.Sleep(10 * time.Millisecond)
	}
}

// turn has a tail judge requests of some clients, each with a moment of its own, and no other at the same time.
func (f *fleet) turn(i int, clients []string) {
	f.t.Helper()
	var text strings.Builder
	for _, client := range clients {
		time.Sleep(2 * time.Millisecond)
		fmt.Fprintf(&text, "%s [%.3f] \"GET / HTTP/1.1\" 200\n", client, float64(time.Now().UnixMilli())/1000)
	}
	f.whole.WriteString(text.String())
	log, err := os.OpenFile(f.path(i, "access.log"), os.O_WRONLY|os.O_APPEND, 0)
	must(f.t, err)
	_, err = log.WriteString(text.String())
	must(f.t, err)
	must(f.t, log.Close())
	f.sent[i] += int64(len(clients))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := tail.ReadCheckpoint(f.path(i, "state"))
		must(f.t, err)
		if c.Tally.Requests == f.sent[i] {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("of %d requests %d are judged; the tail says: %s", f.sent[i], c.Tally.Requests, f.said[i].Bytes())
		}
	}
}

// stop ends all tails, and returns what they would have refused.
func (f *fleet) stop() (all []string) {
	f.t.Helper()
	for i, cmd := range f.tails {
		must(f.t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			f.t.Fatalf("a tail ended with %v: %s", err, f.said[i].Bytes())
		}
		for line := range bytes.Lines(contentOf(f.t, f.path(i, "would-blocks"))) {
			var e struct {
				Time           time.Time
				Client, Policy string
				Degraded       bool
			}
			must(f.t, json.Unmarshal(line, &e))
			if e.Degraded {
				f.t.Errorf("marked: %s", line)
			}
			all = append(all, asRefused(e.Time.UnixMilli(), e.Client, e.Policy))
		}
	}
	return all
}

func asRefused(millis int64, client, policy string) string {
	return fmt.Sprint(millis, " ", client, " ", policy)
}

// replayed returns what one replay of all logs refuses.
func (f *fleet) replayed() (all []string) {
	f.t.Helper()
	must(f.t, os.WriteFile(filepath.Join(f.dir, "whole.log"), f.whole.Bytes(), 0o644))
	run(f.t, f.dir, append([]string{"replay", "whole.log", "--no-store", "--verdicts", "verdicts.csv"}, fleetLimits...)...)
	rows, err := csv.NewReader(bytes.NewReader(contentOf(f.t, filepath.Join(f.dir, "verdicts.csv")))).ReadAll()
	must(f.t, err)
	column := func(name string) int { return slices.Index(rows[0], name) }
	for _, row := range rows[1:] {
		if row[column("verdict")] == "refused" {
			at, err := time.Parse(time.RFC3339Nano, row[column("time")])
			must(f.t, err)
			all = append(all, asRefused(at.UnixMilli(), row[column("client")], row[column("policy")]))
		}
	}
	return all
}
