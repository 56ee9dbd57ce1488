//go:build !nostore

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shadow/testneeds"
)

// madeRuns stores some runs that differ, and returns what each is.
func madeRuns(t testing.TB, path string, first uint64, n int) (all []madeRun) {
	t.Helper()
	for i := range n {
		m := makeRun(t, first+uint64(i), 1+i%3, 20+10*i, 500*(i+1))
		told := info
		told.Command = fmt.Sprint("shadow replay ", first+uint64(i))
		storeRun(t, path, m, told)
		all = append(all, m)
	}
	return all
}

// allRows counts the rows of all tables that tell of runs, and are not called mine.
func allRows(t testing.TB, path, where string) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	for _, row := range mustAsk(t, path, "SELECT table_name FROM duckdb_tables() WHERE table_name NOT IN ('mine', 'shadow_schema')") {
		table := row[0].(string)
		rows[table] = askNumber(t, path, "SELECT count(*) FROM "+table+" "+where)
	}
	return rows
}

// Deleting some runs takes away exactly their rows; the others stay as they are, and the file shrinks.
func TestDelete(t *testing.T) {
	path := dbPath(t)
	made := madeRuns(t, path, 1, 5)
	storeSweep(t, path, sweptRun(t, 3))
	change(t, path, "CREATE TABLE mine (x INTEGER, run INTEGER); INSERT INTO mine VALUES (1, 2); CREATE VIEW ours AS SELECT run, x FROM mine JOIN runs USING (run)")
	before := allRows(t, path, "")

	s := openStore(t, path)
	rows, err := s.Delete(context.Background(), []int32{4, 2, 6})
	if err != nil {
		t.Fatal(err)
	}
	old, small, err := s.Shrink(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if small >= old || fileSize(t, path) != small {
		t.Errorf("%d bytes, before %d; the file has %d", small, old, fileSize(t, path))
	}
	for _, r := range rows {
		before[r.Table] -= r.Rows
	}
	if diff := cmp.Diff(before, allRows(t, path, "")); diff != "" {
		t.Errorf("rows that should be left, and are:\n%s", diff)
	}
	for table, n := range allRows(t, path, "WHERE run IN (2, 4, 6)") {
		if n > 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	for _, run := range []int32{1, 3, 5} {
		if diff := cmp.Diff(bare(&made[run-1].result), bare(mustLoad(t, path, run).Result), zones); diff != "" {
			t.Errorf("run %d:\n%s", run, diff)
		}
	}
	if got := mustAsk(t, path, "SELECT (SELECT count(*) FROM mine), (SELECT count(*) FROM ours)"); !reflect.DeepEqual(got, [][]any{{int64(1), int64(0)}}) {
		t.Errorf("what is not ours: %v", got)
	}
	madeRuns(t, path, 9, 1)
}

// A database that is reached by a link is written again where it lies, with the permissions that it had.
func TestShrinkBehindLink(t *testing.T) {
	path := dbPath(t)
	madeRuns(t, path, 1, 2)
	link := filepath.Join(t.TempDir(), "link.duckdb")
	if err := errors.Join(os.Symlink(path, link), os.Chmod(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, link)
	if _, _, err := s.Shrink(context.Background()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database has permissions %v, %v", info.Mode(), err)
	}
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs", n)
	}
}

// A run that is not there, or Ctrl-C, leaves all as it was.
func TestDeleteNothing(t *testing.T) {
	path := dbPath(t)
	madeRuns(t, path, 1, 2)
	before := fingerprint(t, path)
	s := openStore(t, path)
	if _, err := s.Delete(context.Background(), []int32{1, 3}); err == nil || !strings.Contains(err.Error(), "1 of the runs") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := s.Delete(ctx, []int32{1}); !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, _, err := s.Shrink(ctx); !errors.Is(err, stop) {
		t.Error(err)
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := os.Stat(path + ".shrunk"); !errors.Is(err, os.ErrNotExist) {
		t.Error("there is a copy left", err)
	}
}

// Killed at any moment of deleting and shrinking, the database has the runs that were not deleted, whole, and takes more.
func TestKilledWhilePruning(t *testing.T) {
	rng := testneeds.Rand(t, 1, 1)
	for range 6 {
		path := dbPath(t)
		made := madeRuns(t, path, 1, 4)
		p := startChild(t, "prune", path, "3")
		lines := rng.IntN(6)
		deleted := 0
		for range lines {
			if p.line(t) == "deleted" {
				deleted++
			}
		}
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		p.Process.Kill()
		p.Wait()
		left := askNumber(t, path, "SELECT count(*) FROM runs")
		if left > int64(4-deleted) || left < int64(4-deleted-1) {
			t.Errorf("%d runs are left after %d were deleted", left, deleted)
		}
		for run := int32(4 - left + 1); run <= 4; run++ {
			if diff := cmp.Diff(bare(&made[run-1].result), bare(mustLoad(t, path, run).Result), zones); diff != "" {
				t.Errorf("run %d:\n%s", run, diff)
			}
		}
		s := openStore(t, path)
		if _, _, err := s.Shrink(context.Background()); err != nil {
			t.Error(err)
		}
		madeRuns(t, path, 7, 1)
	}
}

// However runs are dealt out to databases, merging them gives all of them, once.
func TestMerge(t *testing.T) {
	for seed := range uint64(6) {
		rng := testneeds.Rand(t, seed, 1)
		dir := t.TempDir()
		paths := []string{dir + "/a.duckdb", dir + "/b's.duckdb", dir + "/all.duckdb"}
		made := map[string]madeRun{}
		for i := range 1 + rng.IntN(4) {
			m := makeRun(t, uint64(i/2), 2, 10, 100)
			told := info
			told.Command = fmt.Sprint("run ", i)
			path := paths[rng.IntN(3)]
			storeRun(t, path, m, told)
			if path != paths[2] && rng.IntN(2) == 0 {
				storeRun(t, paths[2], m, told)
			}
			made[told.Command] = m
		}
		for range 2 { // the second time nothing is new
			s := openStore(t, paths[2])
			for _, from := range paths[:2] {
				if _, err := os.Stat(from); err != nil {
					continue
				}
				if _, err := s.Merge(context.Background(), from); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
		}
		r, err := OpenReader(context.Background(), paths[2], Wait{})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := r.Runs()
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != len(made) {
			t.Fatalf("%d runs, want %d", len(runs), len(made))
		}
		for i, run := range runs {
			if int(run.Run) != i+1 {
				t.Fatalf("run %d has number %d", i+1, run.Run)
			}
			m := made[run.Command]
			l, err := r.Load([]int32{run.Run})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(bare(&m.result), bare(l.Result), zones); diff != "" {
				t.Fatalf("%s:\n%s", run.Command, diff)
			}
			rows, err := rowsOf(r.duck, "", []int32{run.Run})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range rows {
				if n.Table == "events" && n.Rows != int64(len(m.events)) {
					t.Fatalf("%s: %d events, want %d", run.Command, n.Rows, len(m.events))
				}
			}
		}
		r.Close()
	}
}

// What is no database of shadow's, or is this one, is not merged, and nothing changes.
func TestMergeNot(t *testing.T) {
	path, foreign, newer := dbPath(t), dbPath(t), dbPath(t)
	madeRuns(t, path, 1, 1)
	madeRuns(t, newer, 2, 1)
	change(t, foreign, "CREATE TABLE runs (run INTEGER)")
	change(t, newer, "UPDATE shadow_schema SET version = 99")
	before := fingerprint(t, path)
	s := openStore(t, path)
	for other, want := range map[string]string{
		path: "is the one", foreign: "none of shadow's", newer: "another version of shadow", dbPath(t): "no such file",
	} {
		if _, err := s.Merge(context.Background(), other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	s.Close()
	if after := fingerprint(t, path); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}
