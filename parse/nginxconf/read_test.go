package nginxconf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// read reads the first of some files in a folder, each as a text of its own.
func read(t *testing.T, texts []string) (top []*Directive, problems []error, err error) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.conf", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testneeds.Within(time.Minute, func() { top, problems, err = Read(filepath.Join(dir, "f0.conf"), nil) })
	return top, problems, err
}

// text writes directives on one line, each with the place where it stands.
func text(all []*Directive) string {
	var words []string
	for _, d := range all {
		word := fmt.Sprintf("%s@%s:%d", strings.Join(append([]string{d.Name}, d.Args...), " "), filepath.Base(d.File), d.Line)
		if d.Block != nil {
			word += "{" + text(d.Block) + "}"
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

func TestRead(t *testing.T) {
	top, problems, err := read(t, []string{
		"user a;\ninclude f1.conf;\nhttp {\n include f[12].conf; include lost.conf;\n map $a $b {\n  include f2.conf;\n }\n}",
		"set $x 'a;b';", "listen 80; # {\n",
	})
	const want = "user a@f0.conf:1; set $x a;b@f1.conf:1; http@f0.conf:3{set $x a;b@f1.conf:1; listen 80@f2.conf:1; " +
		"include lost.conf@f0.conf:4; map $a $b@f0.conf:5{include f2.conf@f0.conf:6}}"
	if got := text(top); err != nil || got != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "f0.conf:4: open ") {
		t.Errorf("problems %v", problems)
	}
}

// fan is a chain of files each of which includes the next one twice.
func fan(length int) (texts []string) {
	for i := range length {
		texts = append(texts, fmt.Sprintf("include f%d.conf;\ninclude f%[1]d.conf;\n", i+1))
	}
	return append(texts, "")
}

// nested are blocks in blocks, a line each.
func nested(depth int) string { return strings.Repeat("a {\n", depth) + strings.Repeat("}", depth) }

// What would take all time and memory is refused, with its place.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"includes fan out":    {fan(30), "more than 1000000 directives"},
		"in the parser":       {[]string{"http { include f1.conf; }", strings.Repeat("a {", 200_000) + strings.Repeat("}", 200_000)}, "f1.conf:1: nests deeper than 100 blocks"},
		"blocks nest":         {[]string{nested(200_000)}, "f0.conf:101: nests deeper than 100 blocks"},
		"in an included file": {[]string{"user a;\ninclude f1.conf;", nested(101)}, "f0.conf:2: "},
		"patterns fan out":    {append([]string{strings.Repeat("include *.conf;\n", 1500)}, make([]string, 999)...), "include "},
	} {
		_, problems, err := read(t, c.files)
		for _, p := range problems {
			err = fmt.Errorf("%w\n%w", err, p)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, well := range [][]string{fan(10), {nested(100)}} {
		if _, problems, err := read(t, well); err != nil || problems != nil {
			t.Errorf("%v, %v", problems, err)
		}
	}
}

// Whatever files there are, reading them ends.
func FuzzRead(f *testing.F) {
	const between = "\n---\n"
	for _, texts := range [][]string{
		fan(30),
		{nested(101)},
		{"include f0.conf;"},
		{"include *.conf; include f?.conf;", "a {", "}", "'"},
		{"http { map $a $b { include f1.conf; } }", "~x 'y';"},
		{"content_by_lua_block { a { } }"},
	} {
		f.Add(strings.Join(texts, between))
	}
	f.Fuzz(func(t *testing.T, files string) {
		if strings.Contains(files, "/") { // of another folder
			return
		}
		testneeds.Within(10*time.Second, func() {
			if top, _, err := read(t, strings.Split(files, between)); err != nil && top != nil {
				t.Error("an error, and directives")
			}
		})
	})
}
