package report

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"shadow/report/reporttest"
	"shadow/report/table"
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
	m, n := New(reporttest.Made(), townOptions), New(reporttest.Witnessed(), townOptions)
	names := slices.Concat(reporttest.JSONNames(t, []byte(write(t, m, "json"))), reporttest.JSONNames(t, []byte(write(t, n, "json"))), csvHead(), Sorts())
	for _, g := range []*table.Table{PolicyTable(m), ClientTable(n, &n.Policies[0]), ActionTable(&m.Policies[0])} {
		for _, c := range g.Columns {
			names = append(names, c.Head)
		}
	}
	for _, name := range names {
		if !defined[name] {
			t.Errorf("docs/report.md does not define `%s`", name)
		}
	}
}
