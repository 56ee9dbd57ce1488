//go:build !nostore

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/store/duck"
	"shadow/replay"
)

func TestKilledWhileWriting(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 1000), info)
	before := fingerprint(t, path)

	p := startChild(t, "write", path)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	if written, err := filepath.Glob(filepath.Join(path, "runs", unfinished+"*", "*", "refusals-1.parquet")); err != nil || len(written) == 0 {
		t.Fatalf("%v, %v: the child has not written a file yet, so killing it proves nothing", written, err)
	}
	p.Process.Kill()
	p.Wait()

	if after := fingerprint(t, path); after != before {
		t.Errorf("after the crash:\n%s\nbefore:\n%s", after, before)
	}
	storeRun(t, path, makeRun(t, 2, 2, 10, 1000), info)
	if n := askNumber(t, path, "SELECT count(DISTINCT run) FROM events"); n != 2 {
		t.Errorf("%d runs after another one was stored, want 2", n)
	}
	if left, err := filepath.Glob(filepath.Join(path, "runs", unfinished+"*")); err != nil || left != nil {
		t.Errorf("what the child has written is still there: %v, %v", left, err)
	}
}

func TestAbort(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 1000), info)
	before := fingerprint(t, path)

	s := openStore(t, path)
	m := makeRun(t, 2, 3, 1000, 500_000)
	r := begin(t, s, context.Background())
	if err := r.Write(m.events, &m.sets); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Abort(), r.Abort()); err != nil {
		t.Fatal(err)
	}
	if r.Write(m.events, &m.sets) == nil || r.Finish(&m.result, finished) == nil {
		t.Error("an aborted run can go on")
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("after Abort:\n%s\nbefore:\n%s", after, before)
	}
}

func TestInterrupted(t *testing.T) {
	path := dbPath(t)
	s := openStore(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	r := begin(t, s, ctx)
	m := makeRun(t, 1, 3, 1000, 200_000)
	if err := r.Write(m.events, &m.sets); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := r.Finish(&m.result, finished); !errors.Is(err, context.Canceled) {
		t.Errorf("Finish: %v", err)
	}
	wantNoRuns(t, path)
}

// A result that contradicts the events is an error of ours; it must not land.
func TestEventsMustAddUp(t *testing.T) {
	for name, spoil := range map[string]func(*madeRun){
		"lost event":     func(m *madeRun) { m.events = m.events[1:] },
		"unknown client": func(m *madeRun) { m.events[5].Client = 10 },
		"unknown action": func(m *madeRun) { m.events[5].Action = 77 },
		"unknown policy": func(m *madeRun) { m.events[5].Set = m.sets.ID([]replay.Refuser{{Policy: 2}}) },
		"negative id":    func(m *madeRun) { m.events[5].Client = -1 },
		"endless time":   func(m *madeRun) { m.events[5].At = 1<<63 - 1 },
		"ancient time":   func(m *madeRun) { m.events[5].At = -1 << 63 },
		"ancient tally":  func(m *madeRun) { m.result.Policies[0].Hits.At(0).First = -1 << 63 },
	} {
		t.Run(name, func(t *testing.T) {
			path := dbPath(t)
			s := openStore(t, path)
			r := begin(t, s, context.Background())
			m := makeRun(t, 1, 2, 10, 1000)
			spoil(&m)
			r.Write(m.events, &m.sets)
			err := r.Finish(&m.result, finished)
			if err == nil {
				t.Fatal("stored")
			}
			t.Log(err)
			wantNoRuns(t, path)
		})
	}
}

func begin(t *testing.T, s *Store, ctx context.Context) *Run {
	t.Helper()
	r, err := s.Begin(ctx, info)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantNoRuns wants a database in which nothing has landed, and nothing is left lying.
func wantNoRuns(t *testing.T, path string) {
	t.Helper()
	if n := askNumber(t, path, "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM events) + (SELECT count(*) FROM clients)"); n != 0 {
		t.Errorf("%d rows of the run", n)
	}
	if left, err := os.ReadDir(filepath.Join(path, "runs")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// fingerprint returns the number of rows and a hash of the contents of every table.
func fingerprint(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	for i := range tableDefs() {
		table := tableDefs()[i].name
		sum := mustAsk(t, path, "SELECT count(*), sum(hash(t)) FROM "+table+" t")[0]
		b.WriteString(table + " " + duck.KeyText(sum[0]) + " " + duck.KeyText(sum[1]) + "\n")
	}
	return b.String()
}
