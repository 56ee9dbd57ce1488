//go:build !js

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"shadow/internal/commands"
	"shadow/internal/testneeds"
)

// asCommand is the variable with which the test is the command.
const asCommand = "SHADOW_PAGE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		commands.Run(commands.Release{})
	}
	code := m.Run()
	if building {
		if folder, _ := built(); folder != "" {
			os.RemoveAll(folder)
		}
	}
	os.Exit(code)
}

// built builds the site as people do, once for all tests.
var built = sync.OnceValues(func() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "shadow-site-"); err != nil {
		return "", err
	}
	if out, err := exec.Command("../../scripts/site", folder).CombinedOutput(); err != nil {
		return folder, fmt.Errorf("%w\n%s", err, out)
	}
	return folder, nil
})

// buildSite returns the folder of the site.
func buildSite(tb testing.TB) string {
	tb.Helper()
	building = true
	folder, err := built()
	must(tb, err)
	return folder
}

// building reports whether there may be a site to remove.
var building bool

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// A question is one of the worker.
type question struct {
	ID      int                 `json:"id"`
	Ask     string              `json:"ask"`
	Files   []string            `json:"files"`
	Options map[string][]string `json:"options"`
}

// A said is a line that the worker posts.
type said struct {
	ID       int
	Progress *struct{ Done, All int64 }
	Error    string
	Answer   json.RawMessage
}

// askWorker asks the worker in Node, and returns what it posts for each question.
func askWorker(t *testing.T, site, dir string, questions []question) (all [][]said) {
	t.Helper()
	var in, out, complaints bytes.Buffer
	for i := range questions {
		must(t, json.NewEncoder(&in).Encode(questions[i]))
	}
	script, err := filepath.Abs("testdata/worker.mjs")
	must(t, err)
	node := exec.Command(testneeds.Program(t, "node"), script, site)
	node.Dir, node.Stdin, node.Stdout, node.Stderr = dir, &in, &out, &complaints
	if err := node.Run(); err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	all = make([][]said, len(questions))
	lines := json.NewDecoder(&out)
	for lines.More() {
		var text string
		var s said
		must(t, lines.Decode(&text))
		must(t, json.Unmarshal([]byte(text), &s))
		all[s.ID] = append(all[s.ID], s)
	}
	return all
}

// flagsOf returns the options as flags, by name.
func flagsOf(options map[string][]string) (flags []string) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		for _, value := range options[name] {
			flags = append(flags, fmt.Sprintf("--%s=%s", name, value))
		}
	}
	return flags
}

// byCommand returns what the command prints, and what it complains about.
func byCommand(t *testing.T, dir string, q *question) (answer, complaint []byte) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Args = slices.Concat([]string{"shadow", "suggest"}, q.Files, []string{"--output", "json"}, flagsOf(q.Options))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asCommand+"=1", "XDG_CONFIG_HOME="+t.TempDir())
	answer, err = cmd.Output()
	if exit, failed := err.(*exec.ExitError); failed {
		complaint = exit.Stderr
	} else if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(answer), complaint
}

// The worker answers with the bytes of the command, whatever the log, and fails as it does.
func TestWorkerAnswersAsTheCommand(t *testing.T) {
	testneeds.Program(t, "node")
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../../sample-logs")))
	compress(t, dir, "xz", "shop-combined.log")
	questions := []question{
		{Files: []string{"shop-combined.log"}},
		{Files: []string{"nginx-timed.log", "vhosts.log"}},
		{Files: []string{"api.json"}},
		{Files: []string{"broken.log"}},
		{Files: []string{"empty.log"}},
		{Files: []string{"rotated"}},
		{Files: []string{"shop-combined.log.xz"}},
		{Files: []string{"shop-combined.log"}, Options: map[string][]string{
			"exclude": {"203.0.113.204", "/health"}, "for": {"haproxy"}, "protect": {"browsers=99%"}, "recover": {"1m"}, "scale": {"2"},
			"since": {"2026-03-02T06:00:00Z"}, "target": {"attackers"},
		}},
		{Files: []string{"shop-combined.log"}, Options: map[string][]string{"action": {"login"}}},
		{Files: []string{"shop-combined.log"}, Options: map[string][]string{"action": {"nothing"}}},
		{Files: []string{"shop-combined.log"}, Options: map[string][]string{"scale": {"x"}}},
		{Files: []string{"shop-combined.log"}, Options: map[string][]string{"for": {"x"}}},
	}
	for i := range questions {
		questions[i].ID, questions[i].Ask = i, "suggest"
	}
	for i, got := range askWorker(t, buildSite(t), dir, questions) {
		q := &questions[i]
		if len(got) == 0 {
			t.Errorf("%+v: nothing is said", q)
			continue
		}
		last := got[len(got)-1]
		want, complaint := byCommand(t, dir, q)
		if !bytes.Equal(last.Answer, want) {
			t.Errorf("%+v: the worker answers\n%s\nthe command\n%s", q, last.Answer, want)
		}
		if len(want) == 0 && (last.Error == "" || !bytes.Contains(complaint, []byte(last.Error))) {
			t.Errorf("%+v: the worker fails with %q, the command with %q", q, last.Error, complaint)
		}
		if p := got[0].Progress; len(want) > 0 && q.Files[0] == "shop-combined.log" && (p == nil || p.All == 0) {
			t.Errorf("%+v: no progress is told: %+v", q, got[0])
		}
	}
}

// compress writes a log beside itself, compressed by a program.
func compress(t *testing.T, dir, program, name string) {
	t.Helper()
	cmd := exec.Command(testneeds.Program(t, program), "--keep", name)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
