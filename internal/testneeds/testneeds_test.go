package testneeds

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fake is a test that notes how it would have ended.
type fake struct {
	skipped, failed string
}

func (f *fake) Helper()           {}
func (f *fake) Skip(args ...any)  { f.skipped = fmt.Sprint(args...) }
func (f *fake) Fatal(args ...any) { f.failed = fmt.Sprint(args...) }

func TestProgram(t *testing.T) {
	for _, ci := range []string{"true", ""} {
		t.Setenv("CI", ci)
		f := &fake{}
		Program(f, "no such program", "nor this one")
		if strings.Contains(f.failed, "no such program is missing") != (ci == "true") || strings.Contains(f.skipped, "no such program is missing") != (ci == "") {
			t.Errorf("CI=%s: %+v", ci, f)
		}
		if path := Program(f, "no such program", "go"); filepath.Base(path) != "go" {
			t.Errorf("go is at %s", path)
		}
	}
}

// A program is told by what it says of itself: another one of its name is none, and neither is one that says nothing.
func TestProgramOfTheSameName(t *testing.T) {
	t.Setenv("CI", "true")
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	for text, right := range map[string]bool{
		"echo 'xz (XZ Utils) 5.4.1'":                                       true,
		"echo \"xz: invalid option -- '-'\" >&2; echo BusyBox >&2; exit 1": false,
		"": false,
	} {
		name := filepath.Join(folder, "xz")
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		f := &fake{}
		if path := Program(f, "xz"); (path == name && f.failed == "") != right || !right && !strings.Contains(f.failed, name+" is another program") {
			t.Errorf("%q: %s, %+v", text, path, f)
		}
	}
}

// Beside the project, from wherever a test runs.
func TestShared(t *testing.T) {
	beside := t.TempDir()
	folder := filepath.Join(beside, "project", "a", "b")
	for _, dir := range []string{folder, filepath.Join(beside, "shared", "logs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(beside, "project", "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	t.Setenv("CI", "true")
	f := &fake{}
	if path := Shared(f, "logs"); f.skipped != "" || path != filepath.Join(beside, "shared", "logs") {
		t.Errorf("%s, %+v", path, f)
	}
	f = &fake{}
	if Shared(f, "none"); !strings.Contains(f.skipped, noShared) || f.failed != "" {
		t.Errorf("%+v", f)
	}
}

// What scripts/testview counts against a run where CI=true: tests that are skipped for other reasons than these.
func TestSkipped(t *testing.T) {
	var events strings.Builder
	for _, reason := range []string{"logs " + noShared, noMount, "too slow"} {
		fmt.Fprintf(&events, `{"Action":"output","Package":"x","Test":"Test %[1]s","Output":"=== RUN\n    a_test.go:1: %[1]s\n"}
{"Action":"skip","Package":"x","Test":"Test %[1]s"}
`, reason)
	}
	events.WriteString(`{"Action":"output","Package":"x","Test":"TestPassed","Output":"chatter"}
{"Action":"pass","Package":"x","Test":"TestPassed"}
{"Action":"skip","Package":"y"}`)
	command := exec.Command(Program(t, "jq"), "-nrf", filepath.Join(Root(t), "scripts", "skipped.jq"))
	command.Stdin = strings.NewReader(events.String())
	said, err := command.CombinedOutput()
	if want := "skip  x Test too slow\n    a_test.go:1: too slow\n\n"; err != nil || string(said) != want {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
}
