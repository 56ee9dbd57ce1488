//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// An outcome is what became of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	slow     outcome = "slow" // killed by a timeout
	survived outcome = "survived"
	invalid  outcome = "invalid" // it does not compile
)

// A tester runs tests against one mutant at a time.
type tester struct {
	folder  string
	timeout time.Duration // of one run of tests, in time of the processor, and five times that on the clock
	bound   time.Duration // of all runs of a mutant: no further one starts after it
	short   bool
}

// try returns what became of a mutant, and by which test.
func (t tester) try(ctx context.Context, m mutant) (outcome, string, error) {
	begin := time.Now()
	overlay, err := t.overlay(m)
	if err != nil {
		return "", "", err
	}
	result, by, err := t.test(ctx, overlay, m.pkg.ImportPath)
	for _, importer := range m.pkg.importers {
		if result != survived || err != nil || time.Since(begin) > t.bound {
			break
		}
		if result, by, err = t.test(ctx, overlay, importer); result == invalid {
			return "", "", fmt.Errorf("%s does not compile:\n%s", importer, by)
		}
	}
	if result == invalid {
		by = ""
	}
	return result, by, err
}

// check reports whether the tests of a package end in time without a mutant, and takes those importers from it whose tests do
// not. It says which are too slow. Tests that fail are an error.
func (t tester) check(ctx context.Context, p *pkg) (ends bool, err error) {
	var inTime []string
	for _, path := range append([]string{p.ImportPath}, p.importers...) {
		switch result, by, err := t.test(ctx, "", path); {
		case err != nil:
			return false, err
		case result == slow:
			fmt.Printf("the tests of %s are left out: they take the processor for more than %s (-timeout), without a mutant\n", path, t.timeout)
			if path == p.ImportPath {
				return false, nil
			}
		case result != survived:
			return false, fmt.Errorf("the tests of %s fail without a mutant: %s %s", path, result, by)
		default:
			inTime = append(inTime, path)
		}
	}
	p.importers = inTime[1:]
	return true, nil
}

// overlay writes the changed file and returns the name of the file that tells the compiler of it.
func (t tester) overlay(m mutant) (string, error) {
	source, err := os.ReadFile(m.begin.Filename)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(t.folder, "mutant.go")
	text := string(source[:m.begin.Offset]) + m.text + string(source[m.end:])
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.begin.Filename: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(t.folder, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o600)
}

// memory bounds what a test may allocate, in kB: a mutant may ask forever more.
const memory = "6000000"

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*|fatal error: .*)`)

// test runs the tests of a package against the mutant. It returns the first test that failed, or what the compiler says.
func (t tester) test(ctx context.Context, overlay, path string) (outcome, string, error) {
	clock := 5 * t.timeout // on a busy machine, and for tests that wait
	script := `ulimit -d ` + memory + ` && ulimit -S -t ` + strconv.Itoa(int(t.timeout.Seconds())) +
		` && exec go test -count=1 -failfast -vet=off -pgo=off -timeout=` + clock.String() +
		` -short=` + strconv.FormatBool(t.short) + ` -overlay "$0" "$1"`
	bounded, cancel := context.WithTimeout(ctx, clock+2*time.Minute) // what go test itself does not end
	defer cancel()
	command := exec.CommandContext(bounded, "sh", "-c", script, overlay, path)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) } // the tests' own programs with them
	output, err := command.CombinedOutput()
	if command.Process != nil {
		_ = command.Cancel() // what tests left running
	}
	says := func(text string) bool { return bytes.Contains(output, []byte(text)) }
	switch {
	case err == nil:
		return survived, "", nil
	case ctx.Err() != nil:
		return "", "", errors.New("interrupted")
	case bounded.Err() != nil:
		return slow, path, nil
	case !errors.As(err, new(*exec.ExitError)):
		return "", "", err
	case says("[setup failed]"):
		return "", "", fmt.Errorf("go test %s:\n%s", path, output)
	case says("[build failed]"):
		return invalid, string(output), nil
	case says("panic: test timed out"), says("SIGXCPU"):
		return slow, path, nil
	}
	return killed, path + " " + string(bytes.TrimSpace(failure.Find(output))), nil
}
