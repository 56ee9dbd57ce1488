//go:build !nostore

package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"shadow/testneeds"
)

// Wherever the log of changes was cut off, the last run is there whole or not at all. Its events are so many that DuckDB
// writes them to the file before the commit.
func TestLogCutOff(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 1, 3, 300), info)
	s := openStore(t, path)
	m := makeRun(t, 2, 3, 40, 250_000)
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(m.events); err != nil {
		t.Fatal(err)
	}
	s.journal = &journal{} // so that there is no checkpoint
	if err := r.Finish(&m.result, finished); err != nil {
		t.Fatal(err)
	}
	file, errFile := os.ReadFile(path)
	log, err := os.ReadFile(path + ".wal")
	if err != nil || errFile != nil {
		t.Fatal(err, errFile)
	}
	s.journal = nil
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ends := []int{0, 1, len(logVersion), len(log) - 1, len(log)}
	for at := len(logVersion); at < len(log); {
		end, err := committed(bytes.NewReader(log[:at]), int64(at))
		if err != nil || end != 0 {
			t.Fatalf("a commit ends at %d of %d: %v", end, len(log), err)
		}
		ends = append(ends, at+logEntry, at)
		at += logEntry + int(log[at]) + int(log[at+1])<<8 + int(log[at+2])<<16
	}
	for rng := testneeds.Rand(t, 1, 8); len(ends) < 120; {
		ends = append(ends, rng.IntN(len(log)))
	}
	cut := filepath.Join(t.TempDir(), "cut.duckdb")
	for _, end := range ends {
		for name, text := range map[string][]byte{cut: file, cut + ".wal": log[:end]} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := [][]any{{int64(1), int64(1), int64(1)}}
		if end == len(log) {
			want = [][]any{{int64(2), int64(2), int64(2)}}
		}
		got := mustAsk(t, cut, "SELECT (SELECT count(*) FROM runs), (SELECT count(DISTINCT run) FROM events), (SELECT count(DISTINCT run) FROM clients)")
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("with %d of %d bytes: %v, want %v", end, len(log), got, want)
		}
	}
}

// A log whose layout is not known is left as it is.
func TestLogOfAnotherVersion(t *testing.T) {
	log := []byte("d\x00be\x00\x03\xff\xff and whatever comes")
	if end, err := committed(bytes.NewReader(log), int64(len(log))); err != nil || end != int64(len(log)) {
		t.Errorf("%d, %v", end, err)
	}
}
