//go:build linux

package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"shadow/testneeds"
)

const (
	shardCount = 4
	partCount  = 3
)

// killedFirst runs the program to its end, after some attempts that were killed at whatever they were at.
func killedFirst(t *testing.T, dir string, kills []time.Duration, args ...string) {
	t.Helper()
	for _, after := range kills {
		cmd := command(t, dir, args...)
		must(t, cmd.Start())
		time.Sleep(after)
		cmd.Process.Kill() // it may have come to its end
		cmd.Wait()
	}
	run(t, dir, args...)
}

// storedReport is the report on a stored run, without what tells it from another run of the same requests.
func storedReport(t *testing.T, dir, db string) (report map[string]any) {
	t.Helper()
	must(t, json.Unmarshal(run(t, dir, "report", "--db", db, "--output", "json"), &report))
	delete(report, "command")
	delete(report, "stored")
	withoutWhole(report)
	return report
}

// withoutWhole takes out what only one that sees all requests can say, which a judge of a shard does not.
func withoutWhole(value any) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			withoutWhole(one)
		}
	case map[string]any:
		for _, key := range []string{"findings", "identities", "by_identity", "identity", "days"} {
			delete(value, key)
		}
		for _, one := range value {
			withoutWhole(one)
		}
	}
}

// Processes that pack parts and judge shards are killed and repeated, in any order. What is added in the end is one replay,
// events and all. Whatever else is added is refused.
func TestShardsKilledAndRepeated(t *testing.T) {
	rng, dir := testneeds.Rand(t, 20, 2), t.TempDir()
	for i, name := range []string{"b.log", "a.log"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(killLog(i*4000, i*4000+6000)), 0o600))
	}
	limits := []string{"--limit", killLimit, "--limit", "window:30/1m", "--events", "all", "--quiet"}
	read := []string{"a.log", "b.log", "--format", soakFormat}
	pauses := func() (all []time.Duration) {
		for range rng.IntN(3) {
			all = append(all, time.Duration(rng.IntN(150))*time.Millisecond)
		}
		return all
	}
	for _, part := range rng.Perm(partCount) {
		args := slices.Concat([]string{"shard"}, read, []string{"--out", "set", "--shards", fmt.Sprint(shardCount), "--part", fmt.Sprintf("%d/%d", part+1, partCount)})
		killedFirst(t, dir, append(pauses(), time.Duration(rng.IntN(80))*time.Millisecond), args...)
	}
	for _, shard := range append(rng.Perm(shardCount), rng.IntN(shardCount)) {
		name := fmt.Sprintf("%03d-of-%d", shard, shardCount)
		killedFirst(t, dir, pauses(), slices.Concat([]string{"replay", "set/" + name}, limits, []string{"--db", name + ".duckdb"})...)
	}
	databases := []string{"003-of-4.duckdb", "001-of-4.duckdb", "000-of-4.duckdb", "002-of-4.duckdb"}
	run(t, dir, slices.Concat([]string{"merge", "--sum", "--output", "json", "--db", "sum"}, databases)...)
	run(t, dir, slices.Concat([]string{"replay"}, read, limits, []string{"--db", "one"})...)
	run(t, dir, slices.Concat([]string{"replay", "set"}, limits, []string{"--db", "set.duckdb"})...)
	want := storedReport(t, dir, "one")
	for _, db := range []string{"sum", "set.duckdb"} {
		if diff := cmp.Diff(want, storedReport(t, dir, db)); diff != "" {
			t.Errorf("%s: (-one replay +shards)\n%.2000s", db, diff)
		}
	}
	const events = "SELECT policy, client, time, action, status, sum(count) AS n FROM latest_would_blocks GROUP BY ALL ORDER BY ALL"
	if one, sum := run(t, dir, "query", events, "--db", "one"), run(t, dir, "query", events, "--db", "sum"); string(one) != string(sum) || len(one) < 1000 {
		t.Errorf("events differ:\n%.500s\n%.500s", one, sum)
	}
	t.Run("refused", func(t *testing.T) { refusesSums(t, dir, databases, limits) })
	t.Run("contrib", func(t *testing.T) {
		script := filepath.Join(testneeds.Root(t), "contrib/shards/parallel")
		path := os.Getenv("PATH")
		for range 2 { // the second time nothing is left to do but to add
			cmd := exec.Command("sh", append([]string{script, "a.log", "b.log", "--"}, limits...)...)
			program, err := exec.LookPath("shadow")
			must(t, err)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "JOBS=3", "SHARDS=5", "OUT=out", "SHADOW="+program, "PACK=--format '"+soakFormat+"'", "PATH="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			path = otherParallel(t) + ":" + path
		}
		if diff := cmp.Diff(want, storedReport(t, dir, "out/all.duckdb")); diff != "" {
			t.Errorf("(-one replay +shards)\n%.2000s", diff)
		}
	})
	t.Run("kubernetes", func(t *testing.T) {
		runJobs(t, dir, limits)
		runs, err := filepath.Glob(filepath.Join(dir, "runs/*.duckdb"))
		must(t, err)
		run(t, dir, append([]string{"merge", "--sum", "--db", "pods"}, runs...)...)
		if diff := cmp.Diff(want, storedReport(t, dir, "pods")); diff != "" {
			t.Errorf("(-one replay +shards)\n%.2000s", diff)
		}
	})
}

// otherParallel returns a folder with a parallel that is not GNU's: as with that of moreutils, --version is no option.
func otherParallel(t *testing.T) (folder string) {
	folder = t.TempDir()
	text := "#!/bin/sh\necho \"parallel: invalid option -- '-'\" >&2\nexit 1\n"
	must(t, os.WriteFile(filepath.Join(folder, "parallel"), []byte(text), 0o700))
	return folder
}

// runJobs runs what the pods of the indexed Jobs of contrib/shards/kubernetes.yaml run, in any order: those of fewer and
// smaller Jobs, whose volume is dir.
func runJobs(t *testing.T, dir string, limits []string) {
	text, err := os.ReadFile(filepath.Join(testneeds.Root(t), "contrib/shards/kubernetes.yaml"))
	must(t, err)
	smaller := strings.NewReplacer(
		"/data/logs/*.log", "?.log --format '"+soakFormat+"'", "/data", ".", "256", fmt.Sprint(shardCount), "16", fmt.Sprint(partCount),
		"--limit 6/30s", strings.Join(limits, " "))
	for job := range strings.SplitSeq(smaller.Replace(string(text)), "\n---\n") {
		var of struct {
			Spec struct {
				Completions int
				Template    struct {
					Spec struct {
						Containers []struct{ Command, Args []string }
					}
				}
			}
		}
		must(t, yaml.Unmarshal([]byte(job), &of))
		pod := of.Spec.Template.Spec.Containers[0]
		for _, i := range testneeds.Rand(t, 20, 3).Perm(of.Spec.Completions) {
			cmd := exec.Command(pod.Command[0], append(pod.Command[1:], pod.Args...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	}
}

// refusesSums adds what does not add up.
func refusesSums(t *testing.T, dir string, databases, limits []string) {
	other := func(db string, args ...string) string {
		run(t, dir, slices.Concat([]string{"replay"}, args, []string{"--quiet", "--db", db})...)
		return db
	}
	shard := func(set string, args ...string) string {
		run(t, dir, slices.Concat([]string{"shard", "--format", soakFormat, "--out", set}, args)...)
		return set
	}
	both := []string{"a.log", "b.log"}
	twice := other("twice", append([]string{"set/000-of-4"}, limits...)...)
	loose := other("loose", "set/002-of-4", "--limit", "50/10s")
	five := other("five", append([]string{shard("fives", append(both, "--shards", "5")...) + "/002-of-5"}, limits...)...)
	network := other("network", append([]string{shard("networks", append(both, "--shards", "4", "--by", "client/24")...) + "/002-of-4"}, limits...)...)
	fewer := other("fewer", append([]string{shard("few", "a.log", "--shards", "4") + "/002-of-4"}, limits...)...)
	split := other("split", append([]string{shard("splits", append(both, "--shards", "4")...) + "/002-of-4"}, limits...)...)
	for _, c := range []struct {
		name string
		from []string
		want string
	}{
		{"one is missing", databases[:3], "1 of 4 shards are missing: 2"},
		{"one is there twice", append(slices.Clone(databases), twice), "shard 0 is in"},
		{"other limits", append(slices.Clone(databases[:3]), loose), "judged in different ways"},
		{"another number", append(slices.Clone(databases[:3]), five), "one is of 4 shards, the other of 5"},
		{"another key", append(slices.Clone(databases[:3]), network), "divided by client, the other by client/24"},
		{"other logs", append(slices.Clone(databases[:3]), fewer), "different logs"},
		{"other parts", append(slices.Clone(databases[:3]), split), "packed from different parts"},
		{"no shards", []string{"one"}, "has no run of a shard"},
	} {
		out, err := command(t, dir, slices.Concat([]string{"merge", "--sum", "--db", "bad"}, c.from)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v: %s, want %q", c.name, err, out, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "bad")); err == nil {
			t.Errorf("%s: a database is left", c.name)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", "set/001-of-4", "--limit", "6/30s", "--by", "site", "--no-store"}, "pack the logs with --by site"},
		{[]string{"replay", "set/001-of-4", "--limit", "6/30s", "--by", "client/24", "--no-store"}, "pack the logs with --by client/24"},
		{[]string{"replay", "set/001-of-4", "--limit", "6/30s", "--evidence", "--no-store"}, "judge all shards at once"},
		{[]string{"replay", "set", "--limit", "6/30s", "--verdicts", "v.csv", "--no-store"}, "shards have none"},
		{[]string{"explain", "192.0.2.1", "set", "--limit", "6/30s", "--lines"}, "shards have none"},
		{[]string{"calibrate", "set"}, "this command reads logs"},
		{[]string{"replay", "set", "--limit", "6/30s", "--client", "user", "--no-store"}, "--client"},
		{[]string{"shard", "a.log", "--out", "x", "--since", "1h"}, "--since"},
		{[]string{"shard", "a.log"}, "--out"},
		{[]string{"shard", "a.log", "--out", "s3:///x"}, "names no bucket"},
	} {
		out, err := command(t, dir, c.args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v: %s, want %q", c.args, err, out, c.want)
		}
	}
}
