//go:build !nostore

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A question can neither change the database nor reach anything outside of it: nothing of what is in testdata.
func TestQueryIsHarmless(t *testing.T) {
	t.Run("as rows", func(t *testing.T) {
		path := dbPath(t)
		storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
		tryAttempts(t, path)
	})
	t.Run("as Parquet", func(t *testing.T) {
		path := dbPath(t)
		storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
		eachAttempt(t, path, func(query, want string) {
			var answer bytes.Buffer
			err := QueryParquet(t.Context(), &answer, path, query, QueryOptions{})
			if err == nil || !strings.Contains(err.Error(), want) || answer.Len() > 0 {
				t.Errorf("%s: %d bytes and error %v, want %q", query, answer.Len(), err, want)
			}
		})
	})
}

// The connection alone keeps all files as they are but those of the database, whatever is executed.
func TestQueryWithoutFiles(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	eachAttempt(t, path, func(query, _ string) {
		if strings.Contains(query, path) || strings.Contains(query, "logging(") { // which ends the process when it cannot write
			return
		}
		all, err := folder(path).list()
		check(t, err)
		d, err := openViews(folder(path), all, querySettings(DefaultQueryMemory))
		check(t, err)
		defer d.Close()
		_ = d.Exec(query) // much of it does no harm here
	})
}

// tryAttempts wants the errors of the attempts.
func tryAttempts(t *testing.T, path string) {
	eachAttempt(t, path, func(query, want string) {
		rows, err := ask(path, query)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v and error %v, want %q", query, rows, err, want)
		}
	})
}

// eachAttempt makes the attempts of testdata, and looks at what has changed after each.
func eachAttempt(t *testing.T, path string, try func(query, want string)) {
	t.Helper()
	text, err := os.ReadFile("testdata/query-attempts.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", home)
	if err := os.WriteFile(filepath.Join(dir, "secret.csv"), []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look := func() string { return contents(t, filepath.Dir(path)) + contents(t, dir) + contents(t, home) }
	before, n := look(), 0
	for line := range strings.Lines(string(text)) {
		query, want, found := strings.Cut(strings.TrimSpace(line), " => ")
		if strings.HasPrefix(query, "#") || query == "" {
			continue
		}
		if n++; !found {
			t.Fatalf("%s: what is the error?", query)
		}
		query = strings.NewReplacer("{db}", folder(path).catalog(), "{run}", filepath.Join(folder(path).run(1), nameOfPiece(1, 1), "runs.parquet"), "{dir}", dir).Replace(query)
		try(query, want)
		if now := look(); now != before {
			t.Fatalf("%s: files are now\n%s\nbefore\n%s", query, now, before)
		}
	}
	if n < 100 {
		t.Errorf("only %d attempts", n)
	}
}

// contents tells what is in the files of a folder, and in the folders in it.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			fmt.Fprintln(&s, path)
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&s, "%s %x\n", path, sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}

func TestQueryValues(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
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
		"INTERVAL '-1 day 1 month'":                    `"1 month -1 day"`,
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
		"union_value(t := DATE '2026-02-01')":          `"2026-02-01"`,
		"MAP(['a'::BLOB, 'b\\xFF'::BLOB], [1, 2])":     `{"a":1,"b\\xFF":2}`,
		"MAP([[1]], ['x'])":                            `{"[1]":"x"}`,
		"{'d': DATE '2026-02-01', 'n': NULL}":          `{"d":"2026-02-01","n":null}`,
		"list_filter(range(5), lambda x: x % 2 = 1)":   `[1,3]`,
		"[x.a for x in [{'a': 'p'}, {'a': NULL}]]":     `["p",null]`,
		"(-12345678901234567890123456789)::BIGNUM":     `-12345678901234567890123456789`,
		"170141183460469231731687303715884105727":      `170141183460469231731687303715884105727`,
		"-99999999999999999999999999999999999.123":     `-99999999999999999999999999999999999.123`,
		"NULL::STRUCT(a INTEGER)":                      `null`,
		"[[{'a': [1, 2]}], NULL, [NULL]]":              `[[{"a":[1,2]}],null,[null]]`,
		"'':: VARCHAR":                                 `""`,
		"timestamp_ms '2026-02-01 03:04:05.678'":       `"2026-02-01T03:04:05.678000Z"`,
		"DATE '0044-03-15 (BC)'":                       `"-0043-03-15"`,
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

func TestQueryErrors(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	for query, want := range map[string]string{
		"SELEC 1":                        "syntax error",
		"SELECT * FROM nope":             "nope",
		"":                               "empty query",
		"SELECT * FROM nope; SELECT 1":   "one at a time",
		"PIVOT nope ON a USING count(*)": "Table with name nope",
		"PIVOT parts ON algorithm, nope USING count(*)":                             "\"nope\" not found",
		"SELECT error('told')":                                                      "told",
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
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	for _, query := range []string{
		"SELECT 1; SELECT 2", "SELECT ';'; SELECT 2;", "SHOW TABLES; SELECT 2", "DESCRIBE runs; SELECT 2", "VALUES (1); SELECT 2",
		"EXPLAIN SELECT 1; SELECT 2", "SELECT 1;;SELECT 2", "FROM runs; FROM runs", "PRAGMA table_info('runs'); SELECT 2",
		"CREATE TEMP TABLE t AS SELECT 1; FROM t; SELECT 2", "CREATE TEMP TABLE t AS SELECT 1; FROM t", "PIVOT parts ON algorithm USING count(*); SELECT 2",
	} {
		if _, err := ask(path, query); err == nil || !strings.Contains(err.Error(), "ask one at a time") {
			t.Errorf("%s: got error %v", query, err)
		}
	}
	for _, query := range []string{
		"SELECT 1;", "SELECT ';' -- ; SELECT 2", "SELECT 1; /* ; */ ;", "SHOW TABLES", "DESCRIBE runs", "SUMMARIZE runs", "PRAGMA table_info('runs')",
		"WITH a AS (SELECT 1) FROM a", "PIVOT parts ON algorithm USING count(*)",
		"FROM (PIVOT parts ON algorithm, options USING count(*) GROUP BY run)", "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
	} {
		if rows, err := ask(path, query); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", query, len(rows), err)
		}
	}
}

func TestQueryStops(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := Query(ctx, path, "SELECT count(*) FROM range(100000) a, range(10000000) b WHERE hash(a.range, b.range) = 1", QueryOptions{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v to stop", took)
	}
	<-ctx.Done()
	if _, err := Query(ctx, path, "SELECT 1", QueryOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped before it is opened: %v", err)
	}
}
