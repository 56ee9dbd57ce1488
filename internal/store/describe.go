package store

import (
	"strings"
	"sync"

	"shadow/internal/lazy"
)

// TablesQuestion asks for the tables and views of a database and their columns, apart from what they mean: see Explained.
const TablesQuestion = `SELECT table_name AS "table", column_name AS "column", data_type AS "type", '' AS "meaning" FROM duckdb_columns()
	WHERE NOT internal ORDER BY table_name LIKE 'latest_%', table_name, column_index`

// Explained are the rows of TablesQuestion, with what the columns mean.
type Explained struct{ *Rows }

// Next returns the next row, or io.EOF.
func (e Explained) Next() ([]any, error) {
	row, err := e.Rows.Next()
	if err != nil {
		return nil, err
	}
	table, _ := row[0].(string)
	column, _ := row[1].(string)
	row[3] = meaning(table, column)
	return row, nil
}

// viewsOf are the tables whose notes hold for views as well, where views.sql has none.
var viewsOf = map[string]string{
	"policy_totals": "policies", "policy_limits": "parts", "events": "refusals", "would_blocks": "refusals", "curve_figures": "curve_points",
}

// meaning returns what the notes say of a column of a table or a view.
func meaning(table, column string) string {
	table = strings.TrimPrefix(table, "latest_")
	switch {
	case table == "run":
		table = "runs"
	case column == "run" && table != "runs":
		table = "" // it is the same everywhere
	}
	for _, place := range []string{table, "", viewsOf[table]} {
		if said := meanings()[[2]string{place, column}]; said != "" {
			return said
		}
	}
	return ""
}

var (
	schemaTable  = lazy.Regexp(`^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(`)
	schemaColumn = lazy.Regexp(`^ {4}(\w+) +.*?-- (.+)$`)
	viewColumn   = lazy.Regexp(`^-- {3}(?:(\w+)\.)?(\w+): (.+)$`)
)

// meanings are the notes in schema.sql, by table and column, and in views.sql, by view, or "" for all, and column.
var meanings = sync.OnceValue(func() map[[2]string]string {
	all, table, above := map[[2]string]string{}, "", ""
	for line := range strings.Lines(schemaSQL) {
		line = strings.TrimRight(line, "\n")
		if m := schemaTable().FindStringSubmatch(line); m != nil {
			table = m[1]
		} else if m := schemaColumn().FindStringSubmatch(line); m != nil {
			if rest, ok := strings.CutPrefix(m[2], "likewise"); ok {
				m[2] = above + rest
			}
			all[[2]string{table, m[1]}], above = m[2], m[2]
		}
	}
	for line := range strings.Lines(viewsSQL) {
		if m := viewColumn().FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			all[[2]string{m[1], m[2]}] = m[3]
		}
	}
	return all
})
