package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shadow/scale/objects/objecttest"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// asProgram has this test be the program.
const asProgram = "SHADOW_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command returns the program, to be run in a folder.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=UTC", "COLUMNS=", asProgram+"=1")
	return cmd
}

// run runs the program, which must succeed, and returns what it prints.
func run(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := command(t, dir, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shadow %q: %v\n%s", args, err, stderr.Bytes())
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compressed returns a text as gzip compresses it.
func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

// Every command says the same of objects as of files, but for their names.
func TestObjectsAreAsGoodAsFiles(t *testing.T) {
	server := objecttest.New(t)
	text, err := os.ReadFile("../../../sample-logs/shop-combined.log")
	must(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	half := len(lines) / 2
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"one/access.log":      text,
		"two/web1/access.log": bytes.Join(lines[:half], nil), "two/web2/access.log": bytes.Join(lines[half-100:], nil),
		"gz/access.log.1.gz": compressed(t, bytes.Join(lines[:half], nil)), "gz/access.log": bytes.Join(lines[half:], nil),
		"copies/access.log": text, "copies/access.log.gz": compressed(t, text), "copies/notes.md": []byte("no log"),
	} {
		server.Put(t, name, content)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	varies := regexp.MustCompile(`"(seconds|lines_per_second|cpu_seconds|started|[a-z_]*memory[a-z_]*|command)": [^\n]*\n`)
	for _, args := range [][]string{
		{"replay", "LOG", "--limit", "6/30s", "--no-store"},
		{"replay", "LOG", "--limit", "6/30s", "--no-store", "--evidence", "--since", "2026-03-02T10:00:00"},
		{"sweep", "LOG"},
		{"suggest", "LOG"},
		{"keys", "LOG"},
		{"doctor", "LOG"},
		{"doctor", "parse", "LOG"},
		{"diff", "LOG", "--limit", "token:6/30s", "--limit", "token:6/30s,burst=20"},
		{"explain", "203.0.113.202", "LOG", "--limit", "token:6/30s", "--lines"},
		{"calibrate", "LOG", "--verdict", "status:404"},
	} {
		for _, log := range []string{"one/access.log", "two/", "two/*/access.log", "gz/", "gz/access.log*", "copies/"} {
			said := map[string]string{}
			for _, root := range []string{dir + "/", "s3://logs/", "file://" + dir + "/"} {
				with := append([]string{}, args...)
				for i := range with {
					with[i] = strings.ReplaceAll(with[i], "LOG", root+log)
				}
				cmd := command(t, t.TempDir(), append(with, "--output", "json")...)
				out, err := cmd.Output()
				var failed *exec.ExitError
				if errors.As(err, &failed) {
					out = append(out, failed.Stderr...)
				}
				said[root] = varies.ReplaceAllString(strings.ReplaceAll(string(out), root, ""), "")
			}
			for root, text := range said {
				if want := said[dir+"/"]; text != want || len(text) < 100 {
					t.Errorf("shadow %q of %s%s is not what it is of files:\n%s", args, root, log, whereObjectsDiffer(text, want))
				}
			}
		}
	}
}

// whereObjectsDiffer shows where two texts differ.
func whereObjectsDiffer(got, want string) string {
	x, y := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "got  " + x[i] + "\nwant " + y[i]
		}
	}
	return got[:min(len(got), 200)]
}

// fails runs the program, which must fail with a code and say something.
func fails(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	out, err := command(t, t.TempDir(), args...).CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != code || !strings.Contains(string(out), want) {
		t.Errorf("shadow %q: %v; want exit code %d and %q\n%s", args, err, code, want, out)
	}
}

// What cannot be done with objects is said, with what to do; and a run that could not read all of them stores nothing.
func TestObjectsThatFail(t *testing.T) {
	server := objecttest.New(t)
	text, err := os.ReadFile("../../../sample-logs/shop-combined.log")
	must(t, err)
	server.Put(t, "access.log", bytes.Repeat(text, 40)) // of several ranges
	fails(t, exitUsage, "leave out --resume and name the new ones", "replay", "s3://logs/access.log", "--limit", "6/30s", "--resume")
	fails(t, exitUsage, "shadow replay reads them", "tail", "s3://logs/access.log", "--limit", "6/30s")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "")
	fails(t, exitFailed, "set AZURE_STORAGE_ACCOUNT", "replay", "azblob://c/x", "--limit", "6/30s")
	fails(t, exitFailed, "there is no such object", "replay", "s3://logs/acces.log", "--limit", "6/30s")
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.Header.Get("Range"), "bytes=262144-") && !strings.HasPrefix(r.Header.Get("Range"), "bytes=4194304-") {
			return false
		}
		objecttest.Refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return true
	})
	for _, args := range [][]string{{"replay", "--limit", "6/30s"}, {"sweep"}, {"doctor"}} {
		fails(t, exitFailed, "s3://logs/access.log: cannot be read on from byte ", append(args, "s3://logs/access.log")...)
		fails(t, exitFailed, "was replaced", append(args, "s3://logs/access.log")...)
	}
	dir := t.TempDir()
	cmd := command(t, dir, "replay", "s3://logs/access.log", "--limit", "6/30s")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("%s", out)
	}
	server.Fail(nil)
	run(t, dir, "replay", "s3://logs/access.log", "--limit", "6/30s")
	if runs := run(t, dir, "query", "SELECT count(*) FROM runs", "--output", "csv"); !strings.HasSuffix(strings.TrimSpace(string(runs)), "\n1") {
		t.Errorf("%s; want one run", runs)
	}
}
