//go:build !nostore

package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Crashes and memory can only be tested for real in a process of their own: the test binary starts itself
// again with childEnv set, and TestMain does what it says instead of running tests.

const childEnv = "SHADOW_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		if err := child(strings.Fields(task)); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tasks lists what a child can do with the database at path, and one argument more.
var tasks = map[string]func(path, arg string) error{
	"write": writeForever,
	"fill":  fill,
	"prune": prune,
}

func child(task []string) error {
	return tasks[task[0]](task[1], append(task, "")[2])
}

// prune deletes run after run until the child is killed.
func prune(path, runs string) error {
	n, err := strconv.Atoi(runs)
	if err != nil {
		return err
	}
	for run := range int32(n) {
		s, err := Open(path)
		if err != nil {
			return err
		}
		if _, err := s.Delete(context.Background(), []int32{run + 1}); err != nil {
			return err
		}
		fmt.Println("deleted")
	}
	time.Sleep(time.Hour)
	return nil
}

// writeForever writes events of one run until the child is killed.
func writeForever(path, _ string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		return err
	}
	events := batch(nil, 1<<16)
	for i := 0; ; i++ {
		if err := r.Write(events, &threeSets); err != nil {
			return err
		}
		if i == 40 { // 2.6 M events: files of this run are there by now
			fmt.Println("ready")
		}
	}
}

// fill stores millions of events and prints the peak of the process's memory.
func fill(path, millions string) error {
	n, err := strconv.Atoi(millions)
	if err != nil {
		return err
	}
	s, err := Open(path)
	if err != nil {
		return err
	}
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		return err
	}
	res, events := emptyResult(nil, 3), batch(nil, 100_000)
	for range 10 * n {
		if err := r.Write(events, &threeSets); err != nil {
			return err
		}
		tally(res, events)
	}
	if err := r.Finish(res, finished); err != nil {
		return err
	}
	fmt.Println("peak", peakMemory(), "kB")
	return nil
}

// peakMemory is the largest resident set of this process, in kB; empty where /proc does not tell.
func peakMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	return strings.Fields(rest)[0]
}

// A process is a child of the test, which ends with it.
type process struct {
	*exec.Cmd
	out io.Reader
}

func startChild(t *testing.T, task ...string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(task, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return process{cmd, out}
}

// line waits for the next line of the child's output.
func (p process) line(t *testing.T) string {
	t.Helper()
	line, err := bufio.NewReader(p.out).ReadString('\n')
	if err != nil {
		t.Fatalf("child: %v", err)
	}
	return strings.TrimSpace(line)
}
