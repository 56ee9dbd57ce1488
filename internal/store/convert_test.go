//go:build !nostore

package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/store/duck"
)

// Parquet has what the rows have, texts of strangers as they are and empty numbers as NULL.
func TestWriteParquet(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "it's.csv"), filepath.Join(dir, "rows.parquet")
	text := "name,wait\nplain,0.5\n\"=1,\"\"x\"\"\",\n-,2\n"
	if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteParquet(t.Context(), from, to, "{'name': 'VARCHAR', 'wait': 'DOUBLE'}"); err != nil {
		t.Fatal(err)
	}
	d, err := duck.Open(":memory:", duck.NoExtensions)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	type row struct {
		Name string
		Wait float64
	}
	rows, err := duck.List[row](d, "SELECT name, coalesce(wait, -1) AS wait FROM read_parquet("+literal(to)+")")
	want := []row{{"plain", 0.5}, {`=1,"x"`, -1}, {"-", 2}}
	if err != nil || len(rows) != 3 || rows[0] != want[0] || rows[1] != want[1] || rows[2] != want[2] {
		t.Errorf("%+v, %v; want %+v", rows, err, want)
	}
	if err := WriteParquet(t.Context(), filepath.Join(dir, "none.csv"), to, "{'name': 'VARCHAR'}"); err == nil {
		t.Error("rows that are not there are written")
	}
}

// An answer in Parquet has the columns and the values of the answer; whole numbers that Parquet does not have are an error
// rather than rounded, and the folder in between is gone.
func TestQueryParquet(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 5000), info)
	dir := t.TempDir()
	for i, question := range []string{
		"FROM would_blocks ORDER BY ALL -- all of them",
		"FROM client_totals ORDER BY ALL;",
		"SELECT sum(count) AS n, max(time) AS latest, NULL AS nothing, 1.50 AS price, TRUE AS yes FROM would_blocks",
		"SELECT 1 AS n, 2 AS N, 3 AS \"a\"\"b\", 4 AS \"x'); DROP TABLE answer; --\"",
		`SELECT {'a") x': TIMESTAMP '2026-03-02', b: [1, NULL]} AS s, 'b'::ENUM ('a''"', 'b') AS e, '\x00\xff'::BLOB AS b, '{"a":1}'::JSON AS j`,
		"FROM would_blocks WHERE false",
		"SHOW TABLES", "DESCRIBE runs", "PIVOT client_totals ON class IN ('tool', 'browser') USING sum(refused) GROUP BY policy ORDER BY ALL",
	} {
		var answer bytes.Buffer
		if err := QueryParquet(t.Context(), &answer, path, question, QueryOptions{}); err != nil {
			t.Errorf("%s: %v", question, err)
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.parquet", i))
		if err := os.WriteFile(name, answer.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := ask(path, question)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOfParquet(t, name); got != fmt.Sprint(want) {
			t.Errorf("%s:\n%.2000s\nwant\n%.2000v", question, got, want)
		}
	}
	for question, want := range map[string]string{
		"SELECT 9223372036854775808::HUGEINT AS n":      "out of range",
		"EXPLAIN SELECT 1":                              "no Parquet of EXPLAIN",
		"SELECT error('late') FROM range(10)":           "late",
		"SELECT 1) TO 'x.parquet'; SELECT (2":           "syntax error",
		"COPY would_blocks TO 'x.parquet'":              "query only reads",
		"SELECT range, hash(range) FROM range(3000000)": "",
	} {
		var answer bytes.Buffer
		err := QueryParquet(t.Context(), &answer, path, question, QueryOptions{Memory: 256 << 20})
		if err == nil != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || answer.Len() > 0) {
			t.Errorf("%s: %d bytes, %v, want %q", question, answer.Len(), err, want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// rowsOfParquet returns what a file holds, as ask does.
func rowsOfParquet(t *testing.T, name string) string {
	t.Helper()
	d, err := duck.Open(":memory:", duck.NoExtensions)
	check(t, err)
	ctx, stop := context.WithCancelCause(t.Context())
	r := &Rows{conn: d, ctx: ctx, stop: stop}
	r.question, err = duck.Ask(ctx, d, "FROM read_parquet("+literal(name)+")")
	check(t, err)
	r.Columns, r.vectors = r.question.Columns()
	rows, err := r.all()
	check(t, err)
	return fmt.Sprint(rows)
}
