//go:build unix

package commands

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal ends a tail whose standard output and standard error are not read.
func TestTailThatNobodyReads(t *testing.T) {
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprint(both), func(t *testing.T) { nobodyReads(t, both) })
	}
}

func nobodyReads(t *testing.T, both bool) {
	dir := t.TempDir()
	var log strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&log, "192.0.2.7 [%d.%03d] \"GET / HTTP/1.1\" 200\n", 1_700_000_000+i/1000, i%1000)
	}
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(log.String()), 0o600))
	cmd := command(t, dir, "tail", "access.log", "--from", "start", "--limit", "token:1/24h", "--format", soakFormat, "--quiet")
	out, err := cmd.StdoutPipe()
	must(t, err)
	if both {
		cmd.Stderr = cmd.Stdout
	}
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	_, err = io.ReadFull(out, make([]byte, 100)) // there is more, and it is not read
	must(t, err)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() {
		_, err := cmd.Process.Wait()
		ended <- err
	}()
	select {
	case <-ended:
	case <-time.After(soon):
		t.Fatal("still there long after the signal")
	}
}

// A would-block comes out of a pipe within a second of being known, however little comes.
func TestTailOfAPipeTellsAtOnce(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, dir, "tail", "-", "--limit", "token:1/24h", "--format", soakFormat, "--lateness", "1s", "--quiet")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	told := bufio.NewScanner(out)
	for client := range 3 {
		now := time.Now()
		line := fmt.Sprintf("192.0.2.%d [%d.%03d] \"GET / HTTP/1.1\" 200\n", client, now.Unix(), now.UnixMilli()%1000)
		_, err := io.WriteString(in, line+line)
		must(t, err)
		if !told.Scan() {
			t.Fatal("it tells nothing")
		}
		if took := time.Since(now); took > 5*time.Second { // two, on a machine that is not busy
			t.Errorf("a would-block was told %v after its line", took)
		}
	}
	must(t, in.Close())
	must(t, cmd.Wait())
}
