//go:build !nostore

package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shadow/store/duck"
)

func TestHeldByAnotherProcess(t *testing.T) {
	defaultWait = 100 * time.Millisecond
	defer func() { defaultWait = 2 * time.Second }()
	path := dbPath(t)
	p := startChild(t, "hold", path)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	_, err := Open(path, Options{})
	wantError(t, err, path, fmt.Sprintf("process %d (", p.Process.Pid), "wait until it has ended", "--db")
	_, err = Query(context.Background(), path, "SELECT 1", QueryOptions{})
	wantError(t, err, path, fmt.Sprintf("process %d (", p.Process.Pid))

	p.Process.Kill() // the new file's schema is still in the log of changes beside it
	p.Wait()
	mustAsk(t, path, "FROM latest_run")
	openStore(t, path)
}

// Who has the file open for a moment is waited for.
func TestHeldForAMoment(t *testing.T) {
	path := dbPath(t)
	p := startChild(t, "hold", path)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	time.AfterFunc(300*time.Millisecond, func() { p.Process.Kill() })
	mustAsk(t, path, "SELECT 1")
}

func TestHeldByThisProcess(t *testing.T) {
	path := dbPath(t)
	s := openStore(t, path)
	_, err := Query(context.Background(), path, "SELECT 1", QueryOptions{})
	wantError(t, err, path, "this process has it open already")
	s.Close()
	mustAsk(t, path, "SELECT 1")
}

func TestReadersShareAFile(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	first, err := Query(context.Background(), path, "FROM runs", QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	mustAsk(t, path, "FROM runs")
}

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	log := file("access.log", strings.Repeat("192.0.2.1 - - [01/Feb/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n", 1000))
	short := file("short", "x")
	for _, path := range []string{log, short, file("empty", "")} {
		_, err := Open(path, Options{})
		wantError(t, err, path, "is not a DuckDB database", "--db")
		_, err = Query(context.Background(), path, "SELECT 1", QueryOptions{})
		wantError(t, err, path, "is not a DuckDB database")
	}
	if text, err := os.ReadFile(short); err != nil || string(text) != "x" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	_, err := Open(dir, Options{})
	wantError(t, err, dir)
	_, err = Open(filepath.Join(dir, "nowhere", "a.duckdb"), Options{})
	wantError(t, err, "nowhere", "there is no directory")
	for _, bad := range []string{"", ":memory:", "a?access_mode=read_write", "a#b", "a%zz"} {
		_, err := Open(bad, Options{})
		wantError(t, err, "database ")
		_, err = Query(context.Background(), bad, "SELECT 1", QueryOptions{})
		wantError(t, err, "database ")
	}
}

func TestForeignAndOtherDatabase(t *testing.T) {
	path := dbPath(t)
	change(t, path, "CREATE TABLE accounts (id INTEGER)")
	_, err := Open(path, Options{})
	wantError(t, err, path, "belongs to something else")

	path = dbPath(t)
	openStore(t, path).Close()
	change(t, path, "UPDATE shadow_schema SET version = 99")
	_, err = Open(path, Options{})
	wantError(t, err, path, "another version of shadow", fmt.Sprintf("schema 99, this one has %d", SchemaVersion))
}

func TestQueryNeedsAFile(t *testing.T) {
	path := dbPath(t)
	_, err := Query(context.Background(), path, "SELECT 1", QueryOptions{})
	wantError(t, err, path, "no such file", "shadow replay")
	if _, err := os.Stat(path); err == nil {
		t.Error("the question created the file")
	}
}

// The command line of DuckDB, where there is one, reads the file under whatever name it has.
func TestViewsDoNotDependOnTheFileName(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	moved := filepath.Join(t.TempDir(), "another name.db")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	if len(mustAsk(t, moved, "FROM latest_would_blocks")) == 0 {
		t.Error("no rows")
	}
}

// change alters a database behind the store's back.
// A first run that is killed early leaves a file without tables.
func TestNoTablesYet(t *testing.T) {
	path := dbPath(t)
	change(t, path, "CHECKPOINT")
	_, err := OpenReader(context.Background(), path, Wait{})
	wantError(t, err, path, "holds no runs yet", "shadow replay")
	_, err = Query(context.Background(), path, "FROM latest_run", QueryOptions{})
	wantError(t, err, path, "holds no runs yet")
	_, err = Query(context.Background(), path, "FROM nonsense", QueryOptions{})
	wantError(t, err, path, "holds no runs yet")
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	mustAsk(t, path, "FROM latest_run")
}

func change(t *testing.T, path, statement string) {
	t.Helper()
	d, err := duck.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Exec(statement); err != nil {
		t.Fatal(err)
	}
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
