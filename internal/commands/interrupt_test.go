//go:build unix

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests stop the program from outside while it is at work: it must end at once, and the database must be as it
// was before.

// A child is this program, reading a log from a pipe that the test writes to.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	ended  chan error
}

func startReplay(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	c := &child{cmd: command(t, dir, append([]string{"replay", "-"}, args...)...), ended: make(chan error, 1)}
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.stdin.Close()
	})
	return c
}

// soon is within what time a signal must end the program: far more than it takes, for machines that are busy.
const soon = 10 * time.Second

// wantInterrupted sends a signal and wants the end soon, with 130.
func (c *child) wantInterrupted(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
		}
	case <-time.After(soon):
		t.Fatal("still there long after the signal")
	}
	if got := c.stderr.String(); got != "shadow: interrupted; nothing was kept\n" {
		t.Errorf("standard error: %q", got)
	}
}

// feed writes lines of a log, one request a second of ever new clients, until done says so or the pipe breaks.
func (c *child) feed(done func(lines int) bool) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var lines bytes.Buffer
	for n := 0; !done(n); n += 1000 {
		lines.Reset()
		for i := n; i < n+1000; i++ {
			fmt.Fprintf(&lines, "10.%d.%d.%d - - [%s] \"GET /a HTTP/1.1\" 200 312 \"-\" \"curl/8.5.0\"\n",
				i/2>>16&255, i/2>>8&255, i/2&255, begin.Add(time.Duration(i/10)*time.Second).Format("02/Jan/2006:15:04:05 -0700"))
		}
		if _, err := c.stdin.Write(lines.Bytes()); err != nil {
			return
		}
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 1000 {
		if so() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited ten seconds for %s", what)
}

// runsIn returns the runs that a database holds, with what they came to.
func runsIn(t *testing.T, dir string) string {
	t.Helper()
	return string(run(t, dir, "query", "--output", "csv", `SELECT r.run, r.lines, p.policy, p.refused,
		(SELECT sum(count) FROM would_blocks b WHERE b.run = r.run) AS events,
		(SELECT count(*) FROM clients) AS clients
		FROM runs r JOIN policy_totals p USING (run) ORDER BY ALL`))
}

// withRun returns a folder with a database that holds a run.
func withRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sample, err := filepath.Abs("../../sample-logs/shop-combined.log")
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "replay", sample, "--limit", "token:6/30s")
	return dir
}

func TestInterruptWhileAPipeIsQuiet(t *testing.T) {
	dir := t.TempDir()
	c := startReplay(t, dir, "--limit", "6/30s")
	waitFor(t, "the database", func() bool { return existsFile(filepath.Join(dir, "shadow.db", "version")) })
	c.wantInterrupted(t, os.Interrupt)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A terminal that goes away ends the program as a signal of a person does, and it leaves no half of a file.
func TestHangUpLeavesNothing(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // else the program inherits that it is ignored where nohup runs the tests
	t.Cleanup(func() { signal.Stop(heard) })
	dir := t.TempDir()
	c := startReplay(t, dir, "--limit", "token:1/1000w", "--verdicts", "v.csv")
	c.feed(func(lines int) bool { return lines >= 50_000 })
	c.wantInterrupted(t, syscall.SIGHUP)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInterruptWhileReadingAPipe(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := withRun(t)
			before := runsIn(t, dir)
			c := startReplay(t, dir, "--limit", "token:1/1000w")
			c.feed(func(lines int) bool { return lines >= 50_000 }) // far more than a pipe holds
			c.wantInterrupted(t, signal)
			if after := runsIn(t, dir); after != before {
				t.Errorf("the database holds\n%sbefore:\n%s", after, before)
			}
		})
	}
}

func TestInterruptAQuestion(t *testing.T) {
	dir := withRun(t)
	c := &child{cmd: command(t, dir, "query", "SELECT sum(a.range * b.range) FROM range(10000000) a, range(1000000) b"), ended: make(chan error, 1)}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	time.Sleep(300 * time.Millisecond) // it takes hours, so that it is at work for sure
	c.cmd.Process.Signal(os.Interrupt)
	select {
	case <-c.ended:
		if code := c.cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(soon):
		c.cmd.Process.Kill()
		t.Error("still there long after the signal")
	}
}

// kill -9 while events are being written: the next run finds the database as it was, and works.
func TestKilledWhileStoring(t *testing.T) {
	dir := withRun(t)
	before := runsIn(t, dir)
	database := filepath.Join(dir, "shadow.db")

	c := startReplay(t, dir, "--limit", "token:1/1000w")
	grown := func() bool {
		written, err := filepath.Glob(filepath.Join(database, "runs", ".tmp-*", "*", "refusals-1.parquet"))
		return err == nil && len(written) > 0
	}
	c.feed(func(lines int) bool { return grown() || lines > 5_000_000 })
	if !grown() {
		t.Fatal("nothing was written, so killing it proves nothing")
	}
	c.cmd.Process.Kill()
	<-c.ended

	if after := runsIn(t, dir); after != before {
		t.Errorf("after the crash the database holds\n%sbefore:\n%s", after, before)
	}
	sample, err := filepath.Abs("../../sample-logs/shop-combined.log")
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, "replay", sample, "--limit", "token:6/30s"); !regexp.MustCompile(`stored +shadow\.db, run 2`).Match(out) {
		t.Errorf("the next run says\n%s", out)
	}
}

// The first Ctrl-C ends a drill, which reports on what it has sent.
func TestInterruptADrill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const line = `198.51.100.7 - - [02/Mar/2026:10:00:0N +0000] "GET / HTTP/1.1" 200 1 "-" "-"` + "\n"
	text := strings.ReplaceAll(line, "0N", "00") + strings.ReplaceAll(line, "0N", "01") + strings.ReplaceAll(line, "0N", "59")
	must(t, os.WriteFile(filepath.Join(dir, "log"), []byte(text), 0o600))
	var out, errs safeBuffer
	cmd := command(t, dir, "drill", "log", "--limit", "window:1/1m", "--target", unlimited(t))
	cmd.Stdout, cmd.Stderr = &out, &errs
	must(t, cmd.Start())
	waitFor(t, "the drill", func() bool { return strings.Contains(errs.String(), "sending 3 requests of 1 client") })
	time.Sleep(3 * time.Second / 2)
	must(t, cmd.Process.Signal(syscall.SIGINT))
	began := time.Now()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if said := out.String(); !strings.Contains(said, "; interrupted before the other 2\n") && !strings.Contains(said, "; interrupted before the other 1\n") {
		t.Errorf("%s\n%s", said, errs.String())
	}
	if !strings.Contains(errs.String(), "shadow: interrupted\n") {
		t.Error(errs.String())
	}
}
