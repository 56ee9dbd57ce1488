package commands

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
)

// raceExit spares a program under the race detector the second for which it would wait at its end.
const raceExit = "GORACE=atexit_sleep_ms=0"

// command returns this program, to be run in a folder.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("shadow", args...) // testscript.Main puts it on the path
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=UTC", "COLUMNS=", raceExit)
	return cmd
}

// run runs this program, which must succeed, and returns what it prints.
func run(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := command(t, dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shadow %q: %v\n%s", args, err, stderr.Bytes())
	}
	if slices.Contains(args, "json") && json.Valid(out) {
		conforms(t, out)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A safeBuffer may be read while it is written.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
