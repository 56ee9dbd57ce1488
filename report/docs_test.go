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
	names := slices.Concat(jsonNames(t, m), jsonNames(t, n), csvHead, Sorts())
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

// jsonNames are all keys of the report below its top level's "input" and "policies".
func jsonNames(t *testing.T, m *Model) (names []string) {
	var tree map[string]any
	if err := json.Unmarshal([]byte(write(t, m, "json")), &tree); err != nil {
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
