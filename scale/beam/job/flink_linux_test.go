package job

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/testneeds"
)

const (
	flinkLines  = 1_000_000
	flinkLimits = 36
)

// On a real cluster results are those of a replay, also if a part of it is lost half-way. The commands are those of
// README.md.
func TestFlink(t *testing.T) {
	c := newCluster(t)
	program := c.serve(t)
	j := newJob(t, newLog(t, flinkLines))
	j.Limits, j.Sweep, j.Started = manyLimits(), true, time.Now()
	want, advice := replayed(t, j), suggested(t, j.Logs...)
	within(t, 2*time.Minute, "the cluster is ready", c.ready)

	for _, run := range []struct {
		name string
		kill func() int // returns the number of a process; nil: none
	}{
		{"undisturbed", nil},
		{"a worker is killed", func() int { return workers(t, program)[0] }},
		{"a task manager is killed", func() int { return c.managers[0].number }},
	} {
		ok := t.Run(run.name, func(t *testing.T) {
			results := filepath.Join(t.TempDir(), "results")
			judge := readme(t, "--runner flink", "/usr/local/bin/shadow-beam", program, "localhost:8099", c.jobs,
				"/mnt/logs", j.Logs[0], "/mnt/results", results, "--limit 6/30s", "--limit "+strings.Join(j.Limits, " --limit "))
			judging := c.start(t, "judge", shell(judge+" --sweep --trace --part 16MB --shards 12"))
			if run.kill != nil {
				killHalfWay(t, judging, results, run.kill)
			}
			if <-judging.ended; judging.err != nil {
				t.Fatalf("%s: %v", judge, judging.err)
			}
			if failed := c.failures(t) > 0; failed != (run.kill != nil) {
				t.Errorf("a part of the job failed: %v", failed)
			}
			got, err := Collect(t.Context(), results)
			check(t, err)
			if got.Job.Parts < 12 || len(got.Result.Policies) != flinkLimits || got.Result.Stats.Lines != flinkLines {
				t.Errorf("%d ranges, %d limits, %d lines", got.Job.Parts, len(got.Result.Policies), got.Result.Stats.Lines)
			}
			equal(t, got, want)
			traces := filepath.Join(t.TempDir(), "traces")
			check(t, Traces(t.Context(), results, traces))
			if got := suggested(t, traces); !reflect.DeepEqual(got, advice) {
				t.Errorf("traces: %v\nlogs:   %v", got, advice)
			}
			if run.name != "a task manager is killed" { // whose workers end a little later
				within(t, time.Minute, "the workers end", func() bool { return len(workers(t, program)) == 0 })
			}
		})
		if !ok {
			break
		}
	}
}

// A slot may pack more than Flink takes of one bundle, 100 messages of 4 MB. Agents of their own make blocks large.
func TestFlinkTakesLargeBlocks(t *testing.T) {
	if os.Getenv("CI_ALL") == "" {
		t.Skip("takes minutes: CI_ALL=1 runs it")
	}
	c := newCluster(t)
	program := c.serve(t)
	name := filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(name)
	check(t, err)
	lines, rng, agent := bufio.NewWriter(f), testneeds.Rand(t, 1, 2), make([]byte, 600)
	const many = 1_200_000
	for i := range many {
		for k := range agent {
			agent[k] = '0' + byte(rng.UintN(64))
		}
		at := time.Unix(1_700_000_000+int64(i)/100, 0).UTC()
		fmt.Fprintf(lines, "192.0.2.%d - - [%s] \"GET / HTTP/1.1\" 200 1 \"-\" \"%s\"\n", i%200, at.Format("02/Jan/2006:15:04:05 -0700"), agent)
	}
	check(t, errors.Join(lines.Flush(), f.Close()))
	within(t, 2*time.Minute, "the cluster is ready", c.ready)
	results := filepath.Join(t.TempDir(), "results")
	judge := readme(t, "--runner flink", "/usr/local/bin/shadow-beam", program, "localhost:8099", c.jobs,
		"/mnt/logs", name, "/mnt/results", results, "--parallelism 2", "--parallelism 1")
	judging := c.start(t, "judge", shell(judge+" --part 64MB --shards 40"))
	select {
	case <-judging.ended:
		check(t, judging.err)
	case <-time.After(10 * time.Minute):
		t.Fatal("stands still")
	}
	got, err := Collect(t.Context(), results)
	check(t, err)
	if shuffled := c.shuffled(t); got.Result.Stats.Lines != many || shuffled < 400e6 {
		t.Errorf("%d lines, %d bytes shuffled", got.Result.Stats.Lines, shuffled)
	}
}

// serve starts the job server, and returns the program that judges, built as README.md says.
func (c *cluster) serve(t testing.TB) (program string) {
	t.Helper()
	serve := readme(t, "FlinkJobServerDriver", "$(scale/flink/get)", c.fetched, "HOST:8081", c.rest)
	_, port, _ := strings.Cut(c.jobs, ":")
	c.start(t, "job-server", shell(
		serve+" --artifact-port 0 --expansion-port 0 --artifacts-dir "+c.dir+" --job-port "+port))
	program = filepath.Join(c.dir, "shadow-beam")
	said, err := shell(readme(t, "-tags nostore", "../shadow-beam", program)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

// killHalfWay kills a process as soon as a shard is judged.
func killHalfWay(t *testing.T, judging *process, results string, number func() int) {
	t.Helper()
	within(t, 5*time.Minute, "a shard is judged", func() bool {
		select {
		case <-judging.ended:
			t.Fatal("judging has ended early: ", judging.err)
		default:
		}
		first, err := filepath.Glob(filepath.Join(results, "found-*"))
		return err == nil && len(first) > 0
	})
	check(t, syscall.Kill(number(), syscall.SIGKILL))
	if _, err := os.Stat(filepath.Join(results, RunFile)); err == nil {
		t.Error("the results were whole by then")
	}
}

// shell returns a command as it is typed in the project's folder.
func shell(command string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = "../../.."
	return cmd
}

// workers returns the numbers of the processes that a task manager started.
func workers(t *testing.T, program string) (all []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(t, err)
	for _, name := range names {
		line, _ := os.ReadFile(name) // the process may be gone
		if bytes.HasPrefix(line, []byte(program+"\x00--id=")) {
			number, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			check(t, err)
			all = append(all, number)
		}
	}
	return all
}

// readme returns the command of README.md that has a word in it, with texts in it replaced by others: old, new, ….
func readme(t testing.TB, word string, oldNew ...string) (command string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	check(t, err)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", "")) {
		if strings.Contains(line, word) && !strings.HasPrefix(line, "#") {
			command, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
			break
		}
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(command, oldNew[i]) {
			t.Fatalf("README.md: the command with %s has no %s: %q", word, oldNew[i], command)
		}
	}
	return strings.NewReplacer(oldNew...).Replace(command)
}

// manyLimits returns limits of all kinds.
func manyLimits() (limits []string) {
	for n := 10; ; n *= 6 {
		for _, a := range policy.Algorithms {
			if a.Name != "conn" { // for which the log would have to say how long requests take
				limits = append(limits, fmt.Sprintf("%s:%d/1m", a.Name, n))
			}
			if len(limits) == flinkLimits {
				return limits
			}
		}
	}
}
