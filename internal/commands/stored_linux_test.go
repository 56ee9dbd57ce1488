package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that fails after it has stored a run says so: to repeat it would store the run twice.
func TestFailsAfterTheRunIsStored(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"replay", "access.log", "--limit", killLimit},
		{"replay", "access.log", "--limit", killLimit, "--output", "json"},
		{"replay", "access.log", "--limit", killLimit, "--output", "html"},
		{"sweep", "access.log"},
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(killLog(0, 1000)), 0o600))
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		must(t, err)
		var said bytes.Buffer
		cmd := command(t, dir, append(args, "--db", "kept", "--format", soakFormat)...)
		cmd.Stdout, cmd.Stderr = full, &said
		err = cmd.Run()
		must(t, full.Close())
		s := saying{cmd.ProcessState.ExitCode(), said.String()}
		if err == nil || s.exit != exitIncomplete || !strings.Contains(s.text, "run 1 is stored in kept, do not repeat it: ") {
			t.Errorf("%v: %+v", args, s)
		}
		if n := ask(t, dir, "SELECT count(*) FROM runs"); n != "1" {
			t.Errorf("%v: %s runs are stored", args, n)
		}
	}
}

// Databases are merged all, or none of them.
func TestMergeIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(killLog(0, 1000)), 0o600))
	for _, db := range []string{"one", "kept"} {
		run(t, dir, "replay", "access.log", "--limit", killLimit, "--format", soakFormat, "--db", db, "--quiet")
	}
	must(t, os.WriteFile(filepath.Join(dir, "broken"), bytes.Repeat([]byte("no database "), 2000), 0o600))
	before := holding(t, dir)
	if out, err := command(t, dir, "merge", "one", "broken", "--db", "kept").CombinedOutput(); err == nil || bytes.Contains(out, []byte("took in")) {
		t.Errorf("a broken database was merged: %v, %s", err, out)
	}
	if now := holding(t, dir); now != before {
		t.Errorf("after a merge that failed the database holds\n%s\nbefore\n%s", now, before)
	}
	out := run(t, dir, "merge", "one", "one", "--db", "kept")
	if text := string(out); !strings.Contains(text, "took in 1 run") || !strings.Contains(text, "had 1 run already") {
		t.Errorf("the same database twice: %s", text)
	}
}

// A saying tells how a command ended.
type saying struct {
	exit int
	text string
}

// check holds what a command says after a write failed against what is there: some of the new, all of it.
func (s *saying) check(t *testing.T, place string, some, all bool) {
	t.Helper()
	told := s.exit == exitIncomplete && (strings.Contains(s.text, "is stored in kept, do not") || strings.Contains(s.text, "deleted: "))
	if s.exit == exitDone && !all || s.exit != exitDone && some != told {
		t.Errorf("%s: new %v, all of it %v, exit code %d: %s", place, some, all, s.exit, s.text)
	}
}
