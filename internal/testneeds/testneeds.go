// Package testneeds locates external programs and data for tests, and mounts small disks. A test without them is skipped.
// Where CI=true it fails, unless what is missing cannot be installed.
package testneeds

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// These are parts of the reasons for which a test may be skipped where CI=true as well: scripts/skipped.jq looks for them.
const (
	noShared = "is not here: ../shared is no part of the project"
	noMount  = "may not mount a small disk here"
)

// A TB has the methods of a test that are needed here.
type TB interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
}

// needs has a line for each program, and says how to tell it from others of its name.
//
//go:embed needs.txt
var needs string

// Program returns the path of a program, which may have several names. It is told by what it says of itself.
func Program(t TB, names ...string) string {
	t.Helper()
	ask, says := question(names[0])
	missing := names[0] + " is missing"
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if says == nil {
			return path
		}
		answer, _ := exec.Command(path, ask).CombinedOutput() // what it says tells
		if says.Match(answer) {
			return path
		}
		missing = fmt.Sprintf("%s is another program of that name", path)
	}
	return lacks(t, missing)
}

// question returns what needs asks a program, and what its answer must match; nil: nothing.
func question(program string) (ask string, says *regexp.Regexp) {
	for line := range strings.Lines(needs) {
		if f := strings.Fields(line); f[0] == program {
			return f[2], regexp.MustCompile("(?m)" + f[3])
		}
	}
	return "", nil
}

// File returns the path of a file that a package installs.
func File(t TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return lacks(t, path+" is missing")
	}
	return path
}

func lacks(t TB, missing string) string {
	t.Helper()
	missing += ": scripts/install-test-deps installs what is needed"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	} else {
		t.Skip(missing)
	}
	return ""
}

// Within does what may never end, and panics after most. go test itself waits for an input of a fuzz target forever; this
// way the input is a finding. most is far more than it takes, as machines are busy.
func Within(most time.Duration, do func()) {
	defer time.AfterFunc(most, func() { panic(fmt.Sprintf("not at an end after %v", most)) }).Stop()
	do()
}

// Shared returns the path of something below ../shared, which lies beside the project on the machines of its
// developers: real logs, which hold visitors' addresses, and large recordings.
func Shared(t TB, name string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(Root(t)), "shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip(name, " ", noShared, " (", err, ")")
	}
	return path
}

// Content returns the content of a file, decompressed if its name ends in .gz.
func Content(t TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var unzipped *gzip.Reader
		if unzipped, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			content, err = io.ReadAll(unzipped)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Root returns the folder of the project. Tests run in that of their package.
func Root(t TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for folder != filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

// HasShared reports whether the material beside the project is there, for tests that can do with less.
func HasShared(t TB) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(Root(t)), "shared"))
	return err == nil
}
