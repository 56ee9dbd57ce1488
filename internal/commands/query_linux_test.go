package commands

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runMeasured runs a command, and returns how much memory it had at most. What wait4 reports is no less than what this
// process had when it started the command, so the command itself is looked at while it runs.
func runMeasured(cmd *exec.Cmd) (most int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for {
		text, _ := os.ReadFile(status) // it may have ended
		if _, after, found := strings.Cut(string(text), "VmHWM:"); found {
			var kilobytes int64
			if _, err := fmt.Sscan(after, &kilobytes); err == nil {
				most = max(most, kilobytes<<10)
			}
		}
		select {
		case err := <-done:
			return most, err
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// A single call of a function neither asks DuckDB for its memory nor heeds its interrupt.
const hugeText = "SELECT length(repeat('x', 3000000000))"

func TestQueryHeedsMemory(t *testing.T) {
	dir := withRun(t)
	for _, query := range []string{hugeText, "SELECT repeat('x', 20000000) FROM range(1000)", "SELECT count(*) FROM (SELECT DISTINCT hash(range) FROM range(100000000))"} {
		cmd := command(t, dir, "query", query, "--memory", "256MiB")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		took, err := runMeasured(cmd)
		if err == nil || cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(out.String(), "more than the 256 MiB of memory") {
			t.Errorf("%s: %v\n%.500s", query, err, out.String())
		}
		// It takes 350 MiB where the watch runs in time, and 3 GiB or more without it.
		if took > 2<<30 {
			t.Errorf("%s: took %d MiB", query, took>>20)
		}
	}
}

// An answer is written while it is computed.
func TestQueryStreams(t *testing.T) {
	cmd := command(t, withRun(t), "query", "SELECT range, 'some text beside it' FROM range(5000000)", "--memory", "64MiB", "--output", "csv")
	out := &lineCounter{}
	cmd.Stdout = out
	took, err := runMeasured(cmd)
	if err != nil || out.lines != 5_000_001 {
		t.Errorf("%d lines, %v", out.lines, err)
	}
	if took == 0 || took > 400<<20 { // kept rows would take more
		t.Errorf("took %d MiB", took>>20)
	}
}

type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

func TestQueryIsInterrupted(t *testing.T) {
	dir := withRun(t)
	c := &child{cmd: command(t, dir, "query", hugeText, "--memory", "64GiB"), ended: make(chan error, 1)}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	t.Cleanup(func() { c.cmd.Process.Kill() })
	waitFor(t, "the function to be at work", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.cmd.Process.Pid))
		var size, resident int64
		fmt.Sscan(string(text), &size, &resident)
		return err == nil && resident*int64(os.Getpagesize()) > 300<<20
	})
	begun := time.Now()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.ended:
	case <-time.After(soon):
		t.Fatal("still there long after the signal")
	}
	if code := c.cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	t.Logf("ended after %v", time.Since(begun))
}

// Who reads does not wait for who writes.
func TestReadersDoNotWait(t *testing.T) {
	dir := withRun(t)
	writer := startReplay(t, dir, "--limit", "6/30s")
	waitFor(t, "the writer", func() bool {
		under, err := filepath.Glob(filepath.Join(dir, "shadow.db", "runs", ".tmp-*"))
		return err == nil && len(under) > 0
	})
	for _, args := range [][]string{{"query", "SELECT 1"}, {"report", "runs"}, {"report", "runs", "show", "1"}, {"report"}} {
		run(t, dir, args...)
	}
	writer.stdin.Close()
	<-writer.ended
}
