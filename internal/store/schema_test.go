//go:build !nostore

package store

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"shadow/internal/traffic/who"
)

func schemaPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Every question of docs/schema.md can be asked.
func TestQuestionsOfThePage(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 3, 30, 3000), info)
	storeSweep(t, path, sweptRun(t, 3))
	storeJudged(t, path, judged(t, 2, 3000, 1000, who.Person)) // browsers, most of them
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(schemaPage(t), -1)
	if len(blocks) < 8 {
		t.Fatalf("found %d questions", len(blocks))
	}
	for _, block := range blocks {
		rows := mustAsk(t, path, block[1])
		if len(rows) == 0 && !strings.Contains(block[1], "EXCEPT") {
			t.Errorf("no answer to\n%s", block[1])
		}
	}
}

// Every table, view and column is on the page, and every table of columns there is in the database.
func TestPageIsComplete(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 3, 30, 3000), info)
	page := schemaPage(t)
	for _, row := range mustAsk(t, path, "SELECT DISTINCT table_name, column_name FROM duckdb_columns() WHERE NOT internal") {
		for _, name := range row {
			if !strings.Contains(page, "`"+name.(string)+"`") {
				t.Errorf("the page lacks %s (%s)", name, row[0])
			}
		}
	}
	known := map[string]bool{}
	for _, row := range mustAsk(t, path, "SELECT table_name, string_agg(column_name, ', ' ORDER BY column_index) FROM duckdb_columns() WHERE NOT internal GROUP BY ALL") {
		known[row[0].(string)+": "+row[1].(string)] = true
	}
	_, views, _ := strings.Cut(page, "## Views, for people")
	views, _, _ = strings.Cut(views, "Each has a twin")
	for _, line := range regexp.MustCompile("(?m)^\\| `(.*)` \\| .* \\| (.*) \\|$").FindAllStringSubmatch(views, -1) {
		if columns := strings.ReplaceAll(line[2], "`", ""); !known[line[1]+": "+columns] {
			t.Errorf("the view %s does not have the columns %s", line[1], columns)
		}
	}
}

// The program says of each column of each table and view what it means, in words that need no line above.
func TestColumnsAreExplained(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 3, 30, 3000), info)
	rows := mustAsk(t, path, TablesQuestion)
	if len(rows) < 400 {
		t.Fatalf("%d columns", len(rows))
	}
	for _, row := range rows {
		table, column := row[0].(string), row[1].(string)
		if said := meaning(table, column); said == "" || strings.Contains(said, "likewise") {
			t.Errorf("%s.%s means %q", table, column, said)
		}
	}
	for _, c := range []struct{ table, column, want string }{
		{"latest_run", "lines", "= parsed + unreadable"},
		{"events", "policy", "policies.policy"},
		{"latest_would_blocks", "policy", "canonical text of its limits, token:6/30s, or its name in the configuration"},
		{"latest_would_blocks", "count", "refused requests that the row stands for"},
		{"curve_figures", "action", "whose requests it is about; NULL: all"},
		{"policies", "refused_high", "of an approximation, under all assumptions; NULL: exact, for all four"},
	} {
		if got := meaning(c.table, c.column); got != c.want {
			t.Errorf("%s.%s means %q, want %q", c.table, c.column, got, c.want)
		}
	}
}
