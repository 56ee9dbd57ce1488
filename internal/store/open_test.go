//go:build !nostore

package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/store/duck"
)

func TestReadersShareADatabase(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	first, err := Query(context.Background(), path, "FROM runs", QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	mustAsk(t, path, "FROM runs")
}

// Reading keeps no process from writing, and sees what was there when it began.
func TestReadersAndWritersMeet(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	r, err := OpenReader(context.Background(), path)
	check(t, err)
	defer r.Close()
	run := begin(t, openStore(t, path), context.Background())
	storeRun(t, path, makeRun(t, 2, 2, 10, 100), info)
	runs, err := r.Runs()
	check(t, err)
	if len(runs) != 1 || askNumber(t, path, "SELECT count(*) FROM runs") != 2 {
		t.Errorf("the reader sees %d runs", len(runs))
	}
	m := makeRun(t, 3, 2, 10, 100)
	check(t, run.Write(m.events, &m.sets))
	check(t, run.Finish(&m.result, finished))
	if run.ID() != 3 {
		t.Errorf("run %d", run.ID())
	}
}

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "access.log")
	check(t, os.WriteFile(file, []byte("x"), 0o600))
	_, err := Open(file)
	wantError(t, err, file, "is a file", "folder", "--db")
	_, err = Query(context.Background(), file, "SELECT 1", QueryOptions{})
	wantError(t, err, file, "is a file")
	if text, err := os.ReadFile(file); err != nil || string(text) != "x" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	_, err = Open(dir)
	wantError(t, err, dir, "something else")
	_, err = Open(filepath.Join(dir, "nowhere", "a.db"))
	wantError(t, err, "nowhere", "there is no folder")
	for _, bad := range []string{"", filepath.Join(dir, "a?b"), filepath.Join(dir, "run=7", "kept")} {
		_, err = Open(bad)
		wantError(t, err, "database ")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("in the folder are now %v, %v", entries, err)
	}
}

func TestOtherVersion(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	makeNewer(t, path)
	want := fmt.Sprintf("schema 99, this one has %d", SchemaVersion)
	_, err := Open(path)
	wantError(t, err, path, "another version of shadow", want)
	_, err = Query(context.Background(), path, "FROM runs", QueryOptions{})
	wantError(t, err, path, want)
}

// makeNewer makes a database one of a later version.
func makeNewer(t *testing.T, path string) {
	t.Helper()
	check(t, os.WriteFile(folder(path).version(), []byte("99\n"), 0o600))
}

func TestQueryNeedsADatabase(t *testing.T) {
	path := dbPath(t)
	_, err := Query(context.Background(), path, "SELECT 1", QueryOptions{})
	wantError(t, err, path, "no such folder", "shadow replay")
	if _, err := os.Stat(path); err == nil {
		t.Error("the question created the folder")
	}
}

// A first run that is killed early leaves a folder without runs; earlier still, one that is not whole.
func TestNoRunsYet(t *testing.T) {
	path := dbPath(t)
	openStore(t, path)
	if n := askNumber(t, path, "SELECT count(*) FROM latest_run"); n != 0 {
		t.Errorf("%d runs", n)
	}
	check(t, os.Remove(folder(path).version()))
	_, err := OpenReader(context.Background(), path)
	wantError(t, err, path, "holds no runs yet", "shadow replay")
	_, err = Query(context.Background(), path, "FROM latest_run", QueryOptions{})
	wantError(t, err, "holds no runs yet")
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	mustAsk(t, path, "FROM latest_run")
}

// A database may have any name, also one in which DuckDB sees a pattern, and be moved. What others open is made again by the
// next run.
func TestNamesOfDatabases(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a#b%zz", "all [of] *it*", "it's", "x=7", ":memory:"} {
		path := filepath.Join(dir, name)
		storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
		if n := askNumber(t, path, "SELECT max(run) FROM runs"); n != 1 {
			t.Errorf("%s: run %d", name, n)
		}
		moved := filepath.Join(dir, "moved "+name)
		check(t, os.Rename(path, moved))
		if len(mustAsk(t, moved, "FROM latest_would_blocks")) == 0 {
			t.Errorf("%s: no rows", name)
		}
		storeRun(t, moved, makeRun(t, 1, 2, 10, 100), info)
		if n := catalogNumber(t, moved, "SELECT count(DISTINCT run) FROM would_blocks"); n != 2 {
			t.Errorf("%s: %d runs in the catalog", name, n)
		}
	}
}

// catalogNumber asks as others do: by the file that has the views.
func catalogNumber(t *testing.T, path, question string) int64 {
	t.Helper()
	d, err := duck.Open(folder(path).catalog(), duck.Settings{{"access_mode", "READ_ONLY"}})
	check(t, err)
	defer d.Close()
	n, err := duck.One[int64](d, question)
	check(t, err)
	return n
}

// change writes the file of a table of run 1 again, with other columns.
func change(t *testing.T, path, table, columns string) {
	t.Helper()
	file := filepath.Join(folder(path).run(1), nameOfPiece(1, 1), table+".parquet")
	d, err := duck.Open(":memory:", nil)
	check(t, err)
	defer d.Close()
	check(t, d.Exec("CREATE TABLE changed AS SELECT "+columns+" FROM read_parquet("+literal(file)+", hive_partitioning = false)"))
	check(t, writeFile(d, "changed", file))
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}
