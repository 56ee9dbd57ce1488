package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A question can neither change the database nor reach anything outside of it.
func TestQueryIsHarmless(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(1, 2, 10, 100), info)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.csv")
	if err := os.WriteFile(secret, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, files := fingerprint(t, path), listing(t, dir)
	for _, query := range []string{
		"DELETE FROM runs", "INSERT INTO shadow_schema VALUES (2)", "DROP TABLE events", "CREATE TABLE t (i INTEGER)",
		"CREATE VIEW v AS SELECT 1", "UPDATE runs SET lines = 0", "ALTER TABLE runs ADD COLUMN x INTEGER", "TRUNCATE runs",
		"SELECT * FROM read_csv('%/secret.csv')", "SELECT * FROM '%/secret.csv'", "FROM read_text('%/secret.csv')",
		"FROM read_blob('%/secret.csv')", "FROM glob('%/*')", "FROM read_json('%/secret.csv')", "FROM parquet_metadata('%/x')",
		"COPY runs TO '%/out.csv'", "COPY (SELECT 1) TO '%/out.parquet' (FORMAT parquet)", "EXPORT DATABASE '%/export'",
		"IMPORT DATABASE '%/export'", "COPY runs FROM '%/secret.csv'",
		"ATTACH '%/other.duckdb' AS other", "ATTACH '%/other.duckdb' AS other (READ_ONLY)", "INSTALL httpfs", "LOAD '%/evil.duckdb_extension'",
		"SET enable_external_access = true", "SET lock_configuration = false", "RESET enable_external_access", "PRAGMA enable_external_access=true",
		"SET memory_limit = '100GB'", "SET temp_directory = '%'", "PRAGMA profiling_output='%/profile'", "SET log_query_path='%/log'",
		"CALL enable_logging(storage = 'file', storage_path = '%/logs')", "SELECT 1; DROP TABLE events", "BEGIN; DELETE FROM runs; COMMIT",
		"FROM Enable_Logging(storage = 'file', storage_path = '%/logs')", "SELECT getenv('HOME')",
	} {
		query = strings.ReplaceAll(query, "%", dir)
		if rows, err := ask(path, query); err == nil {
			t.Errorf("%s: no error, %v", query, rows)
		}
		if now := listing(t, dir); now != files {
			t.Fatalf("%s: files are now %s", query, now)
		}
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("now:\n%s\nbefore:\n%s", after, before)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(entries)
}

func TestQueryValues(t *testing.T) {
	path := dbPath(t)
	openStore(t, path).Close()
	for query, want := range map[string]string{ // as JSON
		"NULL":                                   `null`,
		"true":                                   `true`,
		"1::TINYINT":                             `1`,
		"65535::USMALLINT":                       `65535`,
		"-9223372036854775808":                   `-9223372036854775808`,
		"18446744073709551615":                   `18446744073709551615`,
		"sum(9223372036854775807) FROM range(2)": `18446744073709551614`,
		"sum(2) FROM range(2)":                   `4`,
		"0.1::FLOAT":                             `0.1`,
		"1e300":                                  `1e+300`,
		"'nan'::DOUBLE":                          `"nan"`,
		"'-inf'::FLOAT":                          `"-inf"`,
		"123.4500::DECIMAL(10,4)":                `123.45`,
		"0.001::DECIMAL(30,3)":                   `0.001`,
		"'a\"<b'":                                `"a\"<b"`,
		"TIMESTAMP '2026-02-01 03:04:05.000006'": `"2026-02-01T03:04:05.000006Z"`,
		"TIMESTAMPTZ '2026-02-01 03:04:05+02'":   `"2026-02-01T01:04:05.000000Z"`,
		"TIMESTAMP_NS '2026-02-01 03:04:05.123456789'": `"2026-02-01T03:04:05.123456789Z"`,
		"TIMESTAMP_S '2026-02-01 03:04:05'":            `"2026-02-01T03:04:05.000000Z"`,
		"DATE '2026-02-01'":                            `"2026-02-01"`,
		"TIME '03:04:05.5'":                            `"03:04:05.500000"`,
		"TIMETZ '03:04:05+02'":                         `"03:04:05.000000+02:00"`,
		"INTERVAL '14 months 3 days 26:00:00.5'":       `"1 year 2 months 3 days 26:00:00.500000"`,
		"INTERVAL '0 days'":                            `"00:00:00"`,
		"INTERVAL '-1 microsecond'":                    `"-00:00:00.000001"`,
		"'ab\\x00\\xFF'::BLOB":                         `"ab\\x00\\xFF"`,
		"UUID '01234567-89ab-cdef-0123-456789abcdef'":  `"01234567-89ab-cdef-0123-456789abcdef"`,
		"'0101'::BIT":                                  `"0101"`,
		"'x'::ENUM('x', 'y')":                          `"x"`,
		"[1, NULL, 3]":                                 `[1,null,3]`,
		"[[1], []]":                                    `[[1],[]]`,
		"[DATE '2026-02-01']":                          `["2026-02-01"]`,
		"array_value(1.5, 2)":                          `[1.5,2]`,
		"{'b': 1, 'a': [TIMESTAMP '2026-02-01']}":      `{"a":["2026-02-01T00:00:00.000000Z"],"b":1}`,
		"MAP {1: 'x', 2: NULL}":                        `{"1":"x","2":null}`,
		"union_value(n := 5)":                          `5`,
		"'{\"a\": [1, null]}'::JSON":                   `{"a":[1,null]}`,
	} {
		rows, err := ask(path, "SELECT "+query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var got strings.Builder
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		if err := e.Encode(rows[0][0]); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if s := strings.TrimSpace(got.String()); s != want {
			t.Errorf("%s: got %s, want %s", query, s, want)
		}
	}
}

func TestText(t *testing.T) {
	for want, v := range map[string]any{
		"": nil, "true": true, "-5": int64(-5), "0.000001": 1e-6, "123456789": 123456789.0, `[1,"a"]`: []any{int64(1), "a"},
		`{"a":null}`: map[string]any{"a": nil}, "12.5": json.Number("12.5"), "x": "x",
	} {
		if got := keyText(v); got != want {
			t.Errorf("keyText(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestQueryErrors(t *testing.T) {
	path := dbPath(t)
	openStore(t, path).Close()
	for query, want := range map[string]string{
		"SELEC 1":                        "syntax error",
		"SELECT * FROM nope":             "nope",
		"":                               "empty query",
		"SELECT * FROM nope; SELECT 1":   "Table with name nope",
		"PIVOT nope ON a USING count(*)": "Table with name nope",
		"PIVOT parts ON algorithm, nope USING count(*)":                             "\"nope\" not found",
		"SELECT MAP([[1]], ['x'])":                                                  "MAP key type not supported",
		"SELECT MAP(['a'::BLOB, 'b'::BLOB], [1, 2])":                                "cannot read the answer",
		"CREATE TEMP TABLE t AS SELECT 1; SELECT error('told')":                     "told",
		"SELECT CASE WHEN i = 99999 THEN error('late') END FROM range(100000) r(i)": "late",
	} {
		if _, err := ask(path, query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", query, err, want)
		}
	}
}

// Of several answers only one would be shown, so a question has one. What DuckDB takes apart by itself is one.
func TestQueryIsOneStatement(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(1, 2, 10, 100), info)
	for _, query := range []string{
		"SELECT 1; SELECT 2", "SELECT ';'; SELECT 2;", "SHOW TABLES; SELECT 2", "DESCRIBE runs; SELECT 2", "VALUES (1); SELECT 2",
		"EXPLAIN SELECT 1; SELECT 2", "SELECT 1;;SELECT 2", "FROM runs; FROM runs", "PRAGMA table_info('runs'); SELECT 2",
		"CREATE TEMP TABLE t AS SELECT 1; FROM t; SELECT 2", "PIVOT parts ON algorithm USING count(*); SELECT 2",
	} {
		if _, err := ask(path, query); err == nil || !strings.Contains(err.Error(), "ask one at a time") {
			t.Errorf("%s: got error %v", query, err)
		}
	}
	for _, query := range []string{
		"SELECT 1;", "SELECT ';' -- ; SELECT 2", "SELECT 1; /* ; */ ;", "SHOW TABLES", "DESCRIBE runs", "SUMMARIZE runs", "PRAGMA table_info('runs')",
		"WITH a AS (SELECT 1) FROM a", "CREATE TEMP TABLE t AS SELECT 1; FROM t", "PIVOT parts ON algorithm USING count(*)",
		"FROM (PIVOT parts ON algorithm, options USING count(*) GROUP BY run)", "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
	} {
		if rows, err := ask(path, query); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", query, len(rows), err)
		}
	}
}

func TestQueryStops(t *testing.T) {
	path := dbPath(t)
	openStore(t, path).Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := Query(ctx, path, "SELECT count(*) FROM range(100000) a, range(10000000) b WHERE hash(a.range, b.range) = 1")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v to stop", took)
	}
	<-ctx.Done()
	if _, err := Query(ctx, path, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped before it is opened: %v", err)
	}
}
