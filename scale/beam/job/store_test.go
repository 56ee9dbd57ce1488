package job

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"shadow/internal/store"
	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/scale/beam/rows"
)

// A run in the database is the one that a replay would have left; results that are not whole leave none.
func TestStoredWholeOrNotAtAll(t *testing.T) {
	if !duck.Built {
		t.Skip("built without a database")
	}
	j := newJob(t, newLog(t, 5000))
	j.Limits = []string{"6/30s", "cloudflare~:60/m", "nginx:1r/s,burst=3,delay=1"}
	check(t, prism(t, j))
	db := filepath.Join(t.TempDir(), "shadow.db")
	files, err := os.ReadDir(j.Output)
	check(t, err)
	if len(files) != 2*j.Shards+2 {
		t.Fatalf("%d files", len(files))
	}
	rng := testneeds.Rand(t, 1, 2)
	for _, f := range files {
		name := filepath.Join(j.Output, f.Name())
		whole, err := os.ReadFile(name)
		check(t, err)
		damages := map[string]func() error{
			"gone":    func() error { return os.Remove(name) },
			"cut":     func() error { return os.WriteFile(name, whole[:len(whole)-1], 0o600) },
			"longer":  func() error { return os.WriteFile(name, append(whole[:len(whole):len(whole)], 0), 0o600) },
			"changed": func() error { return os.WriteFile(name, flipped(rng, whole), 0o600) },
		}
		for what, damage := range damages {
			if f.Name() == RunFile && what == "changed" { // its own figures have no checksum
				continue
			}
			check(t, damage())
			if _, err := Store(t.Context(), j.Output, db, time.Now()); err == nil {
				t.Errorf("%s %s: nobody notices", f.Name(), what)
			}
			if _, err := os.Stat(db); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s %s: there is a database: %v", f.Name(), what, err)
			}
			check(t, os.WriteFile(name, whole, 0o600))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Store(ctx, j.Output, db, time.Now()); !errors.Is(err, context.Canceled) {
		t.Error("interrupted:", err)
	}
	number, err := Store(t.Context(), j.Output, db, time.Now())
	check(t, err)
	reader, err := store.OpenReader(t.Context(), db)
	check(t, err)
	defer reader.Close()
	loaded, err := reader.Load([]int32{number})
	check(t, err)
	want := replayed(t, j)
	loaded.Result.Stats.Faults, want.Stats.Faults = nil, nil // they come back as texts
	equal(t, loaded.Result, want)
	if len(loaded.Warnings) != 1 || !strings.Contains(loaded.Warnings[0], "Beam") {
		t.Error(loaded.Warnings)
	}
}

func flipped(rng *rand.Rand, data []byte) []byte {
	other := append([]byte(nil), data...)
	other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
	return other
}

// Parquet of another program is an error, or rows: never a panic.
func TestHostileParquet(t *testing.T) {
	j := newJob(t, newLog(t, 300))
	j.Limits = []string{"6/30s"}
	check(t, prism(t, j))
	rng := testneeds.Rand(t, 3, 4)
	for _, name := range []string{shardFile("clients", 0, j.Shards), shardFile("hits", 0, j.Shards), TalliesFile} {
		whole, err := os.ReadFile(filepath.Join(j.Output, name))
		check(t, err)
		c, err := Collect(t.Context(), j.Output)
		check(t, err)
		for range 300 {
			c.take(name, flipped(rng, whole))          // most are no Parquet any more
			c.take(name, whole[:rng.IntN(len(whole))]) // likewise
		}
	}
}

// What shards came to finds its way back from bytes, and no bytes make it panic.
func TestFoundThereAndBack(t *testing.T) {
	f := &found{
		Shards: []int{3}, Files: []File{{"a", 5, "x"}}, Facts: "{}",
		Tallies: []rows.Tally{
			{Policy: rows.All, What: rows.Action, Name: "/\xff", Count: 7},
			{Policy: 1, Variant: 2, What: rows.Minute, Time: -60, Count: 1},
		},
	}
	text, err := f.encode()
	check(t, err)
	back, err := decode(text)
	check(t, err)
	if !reflect.DeepEqual(back, f) {
		t.Errorf("%+v", back)
	}
	for i := range text {
		if _, err := decode(text[:i]); err == nil {
			t.Errorf("cut at %d: nobody notices", i)
		}
	}
	rng := testneeds.Rand(t, 5, 6)
	for range 10_000 {
		decode(flipped(rng, text)) // it may be another one
	}
}

// What shards came to adds up in whatever order.
func TestAddUpInAnyOrder(t *testing.T) {
	add := func(order ...int) (*found, error) {
		return addUp(func(to *[]byte) bool {
			if len(order) == 0 {
				return false
			}
			shard, n := order[0], []int64{4, 3, 5}[order[0]]
			order = order[1:]
			var err error
			*to, err = (&found{Shards: []int{shard}, Tallies: []rows.Tally{
				{What: rows.Refused, Policy: 1, Count: 1}, {What: rows.Refused, Count: n}, {What: rows.Coarse, Count: n},
			}}).encode()
			check(t, err)
			return true
		})
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		sum, err := add(order...)
		check(t, err)
		if of := sum.Tallies; len(sum.Shards) != 3 || len(of) != 3 || of[0].Count != 5 || of[1].Count != 12 || of[2].Count != 3 {
			t.Errorf("%v: %+v", order, sum)
		}
	}
	if _, err := add(0, 1, 0); err == nil {
		t.Error("a shard counts twice")
	}
}
