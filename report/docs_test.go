package report

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestEveryFigureIsDefined: docs/report.md names each key of the JSON and each column of the tables, in code quotes.
func TestEveryFigureIsDefined(t *testing.T) {
	text, err := os.ReadFile("../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, quoted := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		defined[quoted[1]] = true
	}
	m, n := New(made(), townOptions), New(witnessed(), townOptions)
	names := slices.Concat(jsonNames(t, []byte(write(t, m, "json"))), jsonNames(t, []byte(write(t, n, "json"))), csvHead, Sorts())
	for _, g := range []*grid{policyGrid(m), clientGrid(n, &n.Policies[0]), actionGrid(&m.Policies[0])} {
		for _, c := range g.columns {
			names = append(names, c.head)
		}
	}
	for _, name := range names {
		if !defined[name] {
			t.Errorf("docs/report.md does not define `%s`", name)
		}
	}
}

// jsonNames are all keys of a JSON text, at whatever depth.
func jsonNames(t *testing.T, text []byte) (names []string) {
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
