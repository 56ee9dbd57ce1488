package store

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"shadow/traffic/evidence"
)

func schemaPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/schema.md")
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
	storeJudged(t, path, judged(t, 2, 3000, 1000, evidence.Human)) // browsers, most of them
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
	openStore(t, path).Close()
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
