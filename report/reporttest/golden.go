package reporttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"shadow/internal/escape"
	"shadow/internal/testneeds"
	"shadow/limit/limittest"
)

// GoldenPart compares a text with what stands in a page between comments that name it, as limittest.Golden does.
func GoldenPart(t *testing.T, file, name, got string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": a test writes them -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %s", file, name)
	}
	limittest.Golden(t, file, before+begin+got+end+after)
}

// JSONNames are all keys of a JSON text, at whatever depth.
func JSONNames(t *testing.T, text []byte) (names []string) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(node any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, child := range node {
				names = append(names, key)
				walk(child)
			}
		case []any:
			for _, child := range node {
				walk(child)
			}
		}
	}
	walk(tree)
	return names
}

// Evil drives a terminal, a table and a spreadsheet.
const Evil = "=1+1\x1b[2J|\u202e<b>\n"

// Harmless checks that a text in one of the formats cannot drive a terminal, a spreadsheet or a page.
func Harmless(t *testing.T, format, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\u202e\x00") {
		t.Errorf("%s lets a stranger drive the terminal:\n%q", format, text)
	}
	if format == "csv" && strings.Contains(text, ",=1+1") || format == "markdown" && strings.Contains(text, "<b>") {
		t.Errorf("%s lets a stranger write into it:\n%s", format, text)
	}
	if format == "json" && !json.Valid([]byte(text)) {
		t.Errorf("not JSON:\n%s", text)
	}
}

// DefinedIn checks that pages of the documentation name each of some keys and columns, in code quotes.
func DefinedIn(t *testing.T, names []string, pages ...string) {
	t.Helper()
	defined := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(testneeds.Root(t), "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
			defined[quoted[1]] = true
		}
	}
	if len(names) < 15 {
		t.Fatalf("only %d names", len(names))
	}
	for _, name := range names {
		if !defined[name] {
			t.Errorf("docs do not define `%s`", name)
		}
	}
}

// FirstHarm returns the text around the first character that a terminal should not see.
func FirstHarm(text string) string {
	for i, r := range text {
		if r != '\n' && escape.Visible(string(r)) != string(r) ||
			r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return text[max(0, i-10):min(len(text), i+10)]
		}
	}
	return ""
}
