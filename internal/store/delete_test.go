//go:build !nostore

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/testneeds"
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

// allRows counts the rows of all tables.
func allRows(t testing.TB, path, where string) (rows int64) {
	t.Helper()
	for i := range tableDefs() {
		rows += askNumber(t, path, "SELECT count(*) FROM "+tableDefs()[i].name+" "+where)
	}
	return rows
}

// Deleting some runs takes away exactly their rows; the others stay as they are, and the folder shrinks.
func TestDelete(t *testing.T) {
	path := dbPath(t)
	made := madeRuns(t, path, 1, 5)
	storeSweep(t, path, sweptRun(t, 3))
	before := allRows(t, path, "")

	removed, err := openStore(t, path).Delete(context.Background(), []int32{4, 2, 6})
	if err != nil {
		t.Fatal(err)
	}
	if removed.After >= removed.Before || folder(path).size() != removed.After {
		t.Errorf("%+v; the folder has %d bytes", removed, folder(path).size())
	}
	if left := allRows(t, path, ""); left != before-removed.Rows {
		t.Errorf("%d rows, before %d, and %d are deleted", left, before, removed.Rows)
	}
	if n := allRows(t, path, "WHERE run IN (2, 4, 6)"); n > 0 {
		t.Errorf("%d rows of runs that were deleted", n)
	}
	for _, run := range []int32{1, 3, 5} {
		if diff := cmp.Diff(bare(&made[run-1].result), bare(mustLoad(t, path, run).Result), zones); diff != "" {
			t.Errorf("run %d:\n%s", run, diff)
		}
	}
	madeRuns(t, path, 9, 1)
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
	if after := fingerprint(t, path); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}

// Killed at any moment of deleting, the database has the runs that were not deleted, whole, and takes more.
func TestKilledWhilePruning(t *testing.T) {
	rng := testneeds.Rand(t, 1, 1)
	for range 6 {
		path := dbPath(t)
		made := madeRuns(t, path, 1, 4)
		p := startChild(t, "prune", path, "3")
		deleted := rng.IntN(3)
		for range deleted {
			p.line(t)
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		p.Process.Kill()
		p.Wait()
		left := askNumber(t, path, "SELECT count(*) FROM runs")
		if left > int64(4-deleted) {
			t.Errorf("%d runs are left after %d were deleted", left, deleted)
		}
		for run := int32(4 - left + 1); run <= 4; run++ {
			if diff := cmp.Diff(bare(&made[run-1].result), bare(mustLoad(t, path, run).Result), zones); diff != "" {
				t.Errorf("run %d:\n%s", run, diff)
			}
		}
		madeRuns(t, path, 7, 1)
		if left, err := filepath.Glob(filepath.Join(path, "runs", hidden+"*")); err != nil || left != nil {
			t.Errorf("left in the folder: %v, %v", left, err)
		}
	}
}

// However runs are dealt out to databases, merging them gives all of them, once.
func TestMerge(t *testing.T) {
	for seed := range uint64(6) {
		rng := testneeds.Rand(t, seed, 1)
		dir := t.TempDir()
		paths := []string{dir + "/a.db", dir + "/b's.db", dir + "/all.db"}
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
		}
		r, err := OpenReader(context.Background(), paths[2])
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
			if n := askNumber(t, paths[2], fmt.Sprint("SELECT count(*) FROM refusals WHERE run = ", run.Run)); n != int64(len(m.events)) {
				t.Fatalf("%s: %d events, want %d", run.Command, n, len(m.events))
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
	check(t, os.MkdirAll(filepath.Join(foreign, "photos"), 0o777))
	makeNewer(t, newer)
	before := fingerprint(t, path)
	s := openStore(t, path)
	for other, want := range map[string]string{
		path: "is the one", foreign: "something else", newer: "another version of shadow", dbPath(t): "no such folder",
	} {
		if _, err := s.Merge(context.Background(), other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}
