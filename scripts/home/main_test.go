package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"shadow/internal/testneeds"
)

const (
	to      = "example.com/you/shadow"
	contact = "you@example.com"
)

// copied makes a copy of the tracked files, which becomes the current folder, and returns their names.
func copied(t *testing.T) []string {
	root := testneeds.Root(t)
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skip("no checkout of git: ", err)
	}
	t.Chdir(t.TempDir())
	names := strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00")
	for _, name := range names {
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if leads, err := os.Readlink(filepath.Join(root, name)); err == nil {
			must(t, os.Symlink(leads, name))
			continue
		}
		must(t, os.WriteFile(name, read(t, filepath.Join(root, name)), 0o644))
	}
	return names
}

// The whole project moves, and is built and vetted at its new place.
func TestMove(t *testing.T) {
	names := copied(t)
	from := modfile.ModulePath(read(t, "go.mod"))
	before, err := profile(read(t, "cmd/shadow/default.pgo"), from, "x.y/z")
	must(t, err)
	said, err := move(to, contact)
	if err != nil || !strings.Contains(said, "moved from "+from+" to "+to) {
		t.Fatal(said, err)
	}
	old := regexp.MustCompile(`(?m)"` + from + `/|^(import |\t)"` + from + `"$|` +
		`example\.org/` + `shadow|shadow@` + `example\.org`)
	for _, name := range names {
		if at := old.Find(read(t, name)); at != nil {
			t.Errorf("%s still has %q", name, at)
		}
		if filepath.Base(name) == "go.mod" && !strings.HasPrefix(modfile.ModulePath(read(t, name)), to) {
			t.Errorf("%s is of %s", name, modfile.ModulePath(read(t, name)))
		}
	}
	for name, want := range map[string]string{
		".golangci.yml":   "module-path: " + to + "\n",
		"scripts/release": "homepage=${HOMEPAGE:-https://" + to + "}\nmaintainer=${MAINTAINER:-The shadow authors <" + contact + ">}\n",
		"SECURITY.md":     "or write to " + contact,
		"CONTRIBUTING.md": "Questions go to " + contact,
		"docs/library.md": "go get " + to,
	} {
		if !bytes.Contains(read(t, name), []byte(want)) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	after, err := profile(read(t, "cmd/shadow/default.pgo"), to, "x.y/z")
	if err != nil || !bytes.Equal(before, after) {
		t.Error("the profile has not moved", err)
	}
	if said, err := move(to, contact); err != nil || !strings.Contains(said, "nothing to change") {
		t.Error("a second move changes something:", said, err)
	}
	built(t)
}

// built builds and vets what is in the current folder.
func built(t *testing.T) {
	if testing.Short() {
		return // it takes minutes
	}
	t.Setenv("GOFLAGS", "-trimpath -pgo=off") // so that the cache has it for any folder
	for _, command := range []string{
		"build -tags nostore ./...", "vet -tags nostore ./...", "vet ./...", "-C scale build ./...",
	} {
		if out, err := exec.Command("go", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%.2000s", command, err, out)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ to, contact, says string }{
		{"", contact, "MODULE"},
		{"shadow", contact, "missing dot"},
		{to + "/v2", contact, "leave out /v2"},
		{"https://example.com/you", contact, "MODULE"},
		{"example.com/you/sha dow", contact, "invalid char"},
		{to, "", "CONTACT"},
		{to, "you", "CONTACT"},
		{to, "You <you@example.com>", "CONTACT"},
		{to, "$(id)@example.com", "CONTACT"},
	} {
		t.Chdir(t.TempDir()) // nothing may be written
		_, err := move(c.to, c.contact)
		if text := fmt.Sprint(err); err == nil || !strings.Contains(text, c.says) || !strings.Contains(text, usage) {
			t.Errorf("%q %q: %v", c.to, c.contact, err)
		}
	}
}

func TestImports(t *testing.T) {
	const text = `package a

import (
	"fmt"

	"golang.org/x/mod/modfile"
	o "old"
	_ "old/limit" // why
	"older/other"
)

const kept = "old/limit"
`
	const want = `package a

import (
	"fmt"

	o "git.sr.ht/~you/shadow"
	_ "git.sr.ht/~you/shadow/limit" // why
	"golang.org/x/mod/modfile"
	"older/other"
)

const kept = "old/limit"
`
	if got, err := imports([]byte(text), "old", "git.sr.ht/~you/shadow"); err != nil || string(got) != want {
		t.Errorf("%s%v", got, err)
	}
}

func TestRequirements(t *testing.T) {
	const text = "module old/s\n\nrequire (\n\tgolang.org/x/sys v0.49.0\n\told v0.0.0\n)\n\nreplace old => ../\n"
	const want = "module a.b/c/s\n\nrequire (\n\ta.b/c v0.0.0\n\tgolang.org/x/sys v0.49.0\n)\n\nreplace a.b/c => ../\n"
	if got, err := requirements([]byte(text), "old", "a.b/c"); err != nil || string(got) != want {
		t.Errorf("%s%v", got, err)
	}
}

func TestBadges(t *testing.T) {
	got := badges("github.com/you/x")
	const want = `
[![Go reference](https://pkg.go.dev/badge/github.com/you/x.svg)](https://pkg.go.dev/github.com/you/x)
[![CI](https://github.com/you/x/actions/workflows/ci.yml/badge.svg)](https://github.com/you/x/actions/workflows/ci.yml)
`
	if got != want {
		t.Errorf("got %s", got)
	}
	if got := badges(to); got != "" {
		t.Errorf("a site that is no forge has badges: %s", got)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
