package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"shadow/testneeds"
)

// A command that is killed while it keeps requests leaves nothing that is taken for them: all or none is there, and the
// next command gives the same answer.
func TestCacheOfKilledCommands(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(killLog(0, 60_000)), 0o600))
	args := []string{"diff", "access.log", "--format", soakFormat, "--limit", "token:20/10s", "--limit", "token:5/10s", "--output", "csv", "--quiet"}
	want := run(t, dir, args...)
	args = append(args, "--cache", "kept")
	begun := time.Now()
	run(t, dir, args...)
	took := time.Since(begun)
	must(t, os.RemoveAll(filepath.Join(dir, "kept")))
	rng := testneeds.Rand(t, 15, 30)
	for i := range 30 {
		cmd := command(t, dir, args...)
		must(t, cmd.Start())
		time.Sleep(time.Duration(rng.Int64N(int64(took) * 5 / 4)))
		must(t, cmd.Process.Kill())
		ended := cmd.Wait() == nil
		files, err := filepath.Glob(filepath.Join(dir, "kept", "*"))
		if must(t, err); len(files) > 1 || ended && len(files) == 0 {
			t.Errorf("kill %d: %q are left", i, files)
		}
		if got := run(t, dir, args...); !bytes.Equal(got, want) {
			t.Errorf("kill %d: %s, want %s", i, got, want)
		}
		must(t, os.RemoveAll(filepath.Join(dir, "kept")))
	}
}
