//go:build !nostore

package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"shadow/internal/testneeds"
)

// someBytes are n bytes that nothing can make shorter.
func someBytes(t *testing.T, n int) []byte {
	b := make([]byte, n)
	rng := testneeds.Rand(t, 0, 0)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// leave stores a run that leaves a state, and reads the state of before on its way.
func leave(t *testing.T, path string, s *State, finish bool) (before *State) {
	t.Helper()
	db := openStore(t, path)
	run, err := db.Begin(context.Background(), info)
	check(t, err)
	before, err = run.LastState(s.Name)
	check(t, err)
	run.State = s
	m := makeRun(t, 1, 2, 10, 0)
	if !finish {
		check(t, run.Abort())
		return before
	}
	check(t, run.Finish(&m.result, time.Now()))
	return before
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A state comes back as it was, long or without a byte; the one before it is gone; that of another name stays.
func TestStateComesBack(t *testing.T) {
	path := dbPath(t)
	other := &State{Name: "other", Written: 7, Options: "{}", Logs: "[]", Body: []byte("x")}
	if before := leave(t, path, other, true); before != nil {
		t.Errorf("%+v before anything", before)
	}
	last := (*State)(nil)
	for i, n := range []int{0, 1, 17, 1 << 20, 3} {
		s := &State{Name: "night", Written: 1_700_000_000_000_000, Options: `{"a":"` + strconv.Itoa(i) + "\\u0007ü" + `"}`, Logs: `["/l/access.log"]`, Body: someBytes(t, n)}
		before := leave(t, path, s, true)
		if last != nil && (before.Run != int32(i+1) || before.Written != last.Written || before.Options != last.Options || before.Logs != last.Logs || !bytes.Equal(before.Body, last.Body)) {
			t.Errorf("state %d came back as of run %d, %q, %d bytes", i-1, before.Run, before.Options, len(before.Body))
		}
		last = s
	}
	if left, err := filepath.Glob(filepath.Join(path, "runs", "*", "state.*")); err != nil || len(left) != 2 {
		t.Errorf("states: %v, %v", left, err)
	}
	if before := leave(t, path, other, true); !bytes.Equal(before.Body, other.Body) || before.Run != 1 {
		t.Errorf("the other state: %+v", before)
	}
}

// A run that does not land leaves the state as it was, and deleting runs does too.
func TestStateOutlives(t *testing.T) {
	path := dbPath(t)
	leave(t, path, &State{Name: "night", Body: []byte("first")}, true)
	leave(t, path, &State{Name: "night", Body: []byte("second")}, false)
	db := openStore(t, path)
	_, err := db.Delete(context.Background(), []int32{1})
	check(t, err)
	if before := leave(t, path, &State{Name: "night", Body: []byte("third")}, true); string(before.Body) != "first" || before.Run != 1 {
		t.Errorf("the state of run %d is %q", before.Run, before.Body)
	}
	if _, err := os.Stat(folder(path).run(1)); err == nil {
		t.Error("the run that was deleted is still there")
	}
}

// A name that could be something else in a question is refused.
func TestNamesOfStates(t *testing.T) {
	for name, ok := range map[string]bool{"replay": true, "a.b-c_1": true, "": false, "x'; DROP TABLE runs; --": false, "-x": false, strings.Repeat("x", 65): false} {
		if err := CheckStateName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Of several nights together, only what the last one holds back is held, and only what the first one carried is carried.
func TestNightsTogether(t *testing.T) {
	path := dbPath(t)
	for _, night := range []struct{ carried, held int64 }{{7, 9}, {9, 0}, {0, 3}, {3, 5}} {
		m := makeRun(t, 1, 2, 10, 0)
		m.result.Stats.Carried, m.result.Stats.Held, m.result.Stats.HeldFrom = night.carried, night.held, dayOne
		storeRun(t, path, m, info)
	}
	db, err := OpenReader(context.Background(), path)
	check(t, err)
	defer db.Close()
	loaded, err := db.Load([]int32{1, 2, 3, 4})
	check(t, err)
	if s := loaded.Result.Stats; s.Carried != 7 || s.Held != 5 || s.HeldFrom != dayOne {
		t.Errorf("carried %d, held %d from %d", s.Carried, s.Held, s.HeldFrom)
	}
}

// Of two nights of a series at a time, the first that ends lands; the other has read the same lines, and does not.
func TestNightsDoNotOverlap(t *testing.T) {
	path := dbPath(t)
	leave(t, path, &State{Name: "night", Body: []byte("first")}, true)
	db := openStore(t, path)
	m := makeRun(t, 1, 2, 10, 0)
	var runs []*Run
	for range 2 {
		run := begin(t, db, context.Background())
		_, err := run.LastState("night")
		check(t, err)
		run.State = &State{Name: "night", Body: []byte("second")}
		runs = append(runs, run)
	}
	check(t, runs[1].Finish(&m.result, time.Now()))
	wantError(t, runs[0].Finish(&m.result, time.Now()), "run 2 of the same series has landed meanwhile")
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs", n)
	}
	leave(t, path, &State{Name: "other"}, true)
	leave(t, path, &State{Name: "night"}, true)
}
