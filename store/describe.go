package store

import (
	"strings"
	"sync"

	"shadow/lazy"
)

// TablesQuestion asks for the tables and views of a database and their columns, apart from what they mean: see Explained.
const TablesQuestion = `SELECT table_name AS "table", column_name AS "column", data_type AS "type", '' AS "meaning" FROM duckdb_columns()
	WHERE NOT internal ORDER BY table_name LIKE 'latest_%', table_name, column_index`

// Explained are the rows of TablesQuestion, with what the columns of tables mean.
type Explained struct{ *Rows }

// Next returns the next row, or io.EOF.
func (e Explained) Next() ([]any, error) {
	row, err := e.Rows.Next()
	if err != nil {
		return nil, err
	}
	table, _ := row[0].(string)
	column, _ := row[1].(string)
	row[3] = meanings()[[2]string{table, column}]
	return row, nil
}

var (
	schemaTable  = lazy.Regexp(`^CREATE TABLE (\w+) \(`)
	schemaColumn = lazy.Regexp(`^ {4}(\w+) +.*?-- (.+)$`)
)

// meanings are the notes in schema.sql, by table and column.
var meanings = sync.OnceValue(func() map[[2]string]string {
	all, table := map[[2]string]string{}, ""
	for line := range strings.Lines(schemaSQL) {
		line = strings.TrimRight(line, "\n")
		if m := schemaTable().FindStringSubmatch(line); m != nil {
			table = m[1]
		} else if m := schemaColumn().FindStringSubmatch(line); m != nil {
			all[[2]string{table, m[1]}] = m[2]
		}
	}
	return all
})
