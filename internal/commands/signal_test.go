//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What waits for something that never comes does not look whether it is told to end: each command here reads settings
// or a log from a pipe that stays silent.
func TestSignalsEndWhatWaits(t *testing.T) {
	sample, err := filepath.Abs("../../sample-logs/shop-combined.log")
	must(t, err)
	for i, line := range []string{
		"import pipe", "import nginx.conf", "config check pipe", "replay LOG --limit 6/30s --nginx-conf nginx.conf",
		"replay LOG --config pipe", "replay pipe --limit 6/30s --no-store", "tail LOG --config pipe", "doctor pipe",
		"suggest LOG --nginx-conf pipe", "sweep LOG --config pipe", "migrate LOG --from pipe --to nginx",
		"export --config pipe --to nginx --check", "calibrate LOG --config pipe",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			must(t, syscall.Mkfifo(pipe, 0o600))
			must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte("http {\n include pipe;\n}\n"), 0o600))
			var out safeBuffer
			cmd := command(t, dir, strings.Fields(strings.ReplaceAll(line, "LOG", sample))...)
			cmd.Stdout, cmd.Stderr = &out, &out
			c := &child{cmd: cmd, ended: make(chan error, 1)}
			must(t, cmd.Start())
			go func() { c.ended <- cmd.Wait() }()
			t.Cleanup(func() { cmd.Process.Kill() })
			waitFor(t, "a reader", func() bool {
				writer, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
				if err == nil {
					t.Cleanup(func() { writer.Close() })
				}
				return err == nil
			})
			must(t, cmd.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[i%2]))
			select {
			case err := <-c.ended:
				if said := out.String(); cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said, "shadow: interrupted") {
					t.Errorf("ended with %v: %s", err, said)
				}
			case <-time.After(soon):
				t.Error("still there long after the signal")
			}
		})
	}
}

// A tail whose checkpoint is there has begun, so that a signal ends it as it should end.
func TestSignalAtTheFirstCheckpoint(t *testing.T) {
	sample, err := filepath.Abs("../../sample-logs/shop-combined.log")
	must(t, err)
	for range 10 {
		dir := t.TempDir()
		var out safeBuffer
		cmd := command(t, dir, "tail", sample, "--state", "state", "--limit", "6/30s", "--quiet")
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		for state, late := filepath.Join(dir, "state"), time.Now().Add(soon); !existsFile(state) && time.Now().Before(late); {
			runtime.Gosched() // a pause would be too long
		}
		must(t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil {
			t.Errorf("ended with %v: %s", err, out.String())
		}
	}
}

// A database is no pipe, whose other end a command would wait for.
func TestNoPipeForADatabase(t *testing.T) {
	dir := withRun(t)
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, line := range []string{"merge pipe", "report runs --db pipe", "merge shadow.db --db pipe"} {
		out, err := command(t, dir, strings.Fields(line)...).CombinedOutput()
		if err == nil || string(out) != "shadow: database pipe: is a file, but runs are kept in a folder: choose another name with --db\n" {
			t.Errorf("shadow %s: %v, %s", line, err, out)
		}
	}
}
