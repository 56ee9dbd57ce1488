//go:build !nostore

package store

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/replay"
)

// The file that others open has what the folder has, after each batch of a tail and each run, also where pieces are put
// together.
func TestCatalogIsCurrent(t *testing.T) {
	path, rng, g := dbPath(t), testneeds.Rand(t, 1, 8), newGrown(2)
	s := openStore(t, path)
	for n := range uint64(35) {
		_, err := s.Append(t.Context(), info, []*replay.Addition{madeBatch(rng, n+1, 2, g)})
		check(t, err)
		for _, question := range []string{
			"SELECT sum(requests)::BIGINT FROM runs", "SELECT coalesce(sum(count), 0)::BIGINT FROM would_blocks", "SELECT count(*) FROM clients",
		} {
			if got, want := catalogNumber(t, path, question), askNumber(t, path, question); got != want {
				t.Fatalf("after batch %d: %s: %d, want %d", n+1, question, got, want)
			}
		}
	}
	g.check(t, path, 1)
	all, err := folder(path).list()
	check(t, err)
	if len(all[0].pieces) != 2+3 || len(all[0].stale) != 32 {
		t.Errorf("%d pieces and %d that were put together", len(all[0].pieces), len(all[0].stale))
	}
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	if n := catalogNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs", n)
	}
}

// Pieces that were put together go when no question can be reading them any more.
func TestStalePiecesGo(t *testing.T) {
	path, rng := dbPath(t), testneeds.Rand(t, 1, 8)
	for n := range uint64(17) {
		appendTo(t, path, madeBatch(rng, n+1, 2, newGrown(2)))
	}
	long := time.Now().Add(-2 * grace)
	check(t, os.Chtimes(filepath.Join(folder(path).run(1), nameOfPiece(1, 16)), long, long))
	appendTo(t, path, madeBatch(rng, 18, 2, newGrown(2)))
	all, err := folder(path).list()
	check(t, err)
	if len(all[0].pieces) != 3 || all[0].stale != nil {
		t.Errorf("%d pieces, and %v", len(all[0].pieces), all[0].stale)
	}
}

// A program that has the catalog open, and may write it, keeps no command from reading or writing; nor does one that has
// changed it, or damaged it.
func TestCatalogInOtherHands(t *testing.T) {
	path := dbPath(t)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	p := startChild(t, "hold", path)
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 1 {
		t.Errorf("%d runs", n)
	}
	storeRun(t, path, makeRun(t, 2, 2, 10, 100), info)
	if n := catalogNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs in the catalog", n)
	}
	for _, spoil := range []func(){
		func() { check(t, os.WriteFile(folder(path).catalog(), []byte("x"), 0o600)) },
		func() { check(t, os.Remove(folder(path).catalog())) },
		func() {
			d, err := duck.Open(folder(path).catalog(), nil)
			check(t, err)
			defer d.Close()
			check(t, d.Exec("CREATE OR REPLACE VIEW runs AS SELECT 7 AS run"))
		},
	} {
		spoil()
		before := askNumber(t, path, "SELECT count(*) FROM runs WHERE lines > 0")
		storeRun(t, path, makeRun(t, 3, 2, 10, 100), info)
		if n := catalogNumber(t, path, "SELECT count(*) FROM runs WHERE lines > 0"); n != before+1 {
			t.Errorf("%d runs in the catalog, before %d", n, before)
		}
	}
}

func init() {
	tasks["hold"] = func(path, _ string) error { // as the command line of DuckDB does
		d, err := duck.Open(folder(path).catalog(), nil)
		if err != nil {
			return err
		}
		defer d.Close()
		_, _ = os.Stdout.WriteString("ready\n")
		time.Sleep(time.Hour)
		return nil
	}
}

// What a killed process has hidden, before it moved all of it to its place or after, does not count, and goes.
func TestHiddenPieces(t *testing.T) {
	path := dbPath(t)
	madeRuns(t, path, 1, 3)
	f := folder(path)
	_, err := f.hide([]string{"run=2/" + nameOfPiece(1, 1), "run=7/" + nameOfPiece(1, 1)})
	check(t, err)
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
		t.Errorf("%d runs", n)
	}
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	if n := catalogNumber(t, path, "SELECT list_sum(list(run))::BIGINT FROM runs"); n != 1+3+4 {
		t.Errorf("the sum of the runs is %d", n)
	}
	left, err := filepath.Glob(filepath.Join(f.runs(), "*"))
	check(t, err)
	hiding, err := filepath.Glob(filepath.Join(f.runs(), ".*"))
	if check(t, err); len(left) != 3 || hiding != nil {
		t.Errorf("left are %v, %v", left, hiding)
	}
}

// A day of a tail that stores a batch every ten seconds is reported at once. SHADOW_BATCHES=8640 tries a whole day, which takes
// a quarter of an hour to store.
func TestDayOfBatches(t *testing.T) {
	batches, _ := strconv.Atoi(os.Getenv("SHADOW_BATCHES"))
	if batches == 0 {
		batches = 100
	}
	path, rng, g := dbPath(t), testneeds.Rand(t, 1, 8), newGrown(2)
	s := openStore(t, path)
	begun := time.Now()
	for n := range uint64(batches) {
		a := madeBatch(rng, n+1, 2, g)
		a.Made = batchDay.Truncate(24 * time.Hour).Add(time.Duration(n) * 10 * time.Second)
		_, err := s.Append(t.Context(), info, []*replay.Addition{a})
		check(t, err)
	}
	check(t, s.Close())
	stored := time.Since(begun)
	g.check(t, path, 1)
	begun = time.Now()
	r, err := OpenReader(t.Context(), path)
	check(t, err)
	defer r.Close()
	runs, err := r.Runs()
	check(t, err)
	_, err = r.Load([]int32{1})
	check(t, err)
	all, err := folder(path).list()
	check(t, err)
	t.Logf("%d batches stored in %v, in %d pieces; %d run read in %v", batches, stored, len(all[0].pieces), len(runs), time.Since(begun))
}

// A run that cannot be moved to its place has no number, and so is not taken for stored.
func TestRunDoesNotLand(t *testing.T) {
	path := dbPath(t)
	r := begin(t, openStore(t, path), t.Context())
	run, err := r.place.landRun(t.Context(), r.duck, func() error { return os.RemoveAll(r.place.path) })
	if err == nil || run != 0 {
		t.Errorf("run %d, %v", run, err)
	}
	check(t, r.Abort())
	wantNoRuns(t, path)
}

// A batch, or pieces that are put together, do not come back into a run that was deleted meanwhile.
func TestPieceOfADeletedRun(t *testing.T) {
	path, rng := dbPath(t), testneeds.Rand(t, 1, 8)
	for n := range uint64(2) {
		appendTo(t, path, madeBatch(rng, n+1, 2, newGrown(2)))
	}
	f := folder(path)
	all, err := f.list()
	check(t, err)
	w, err := f.work(t.Context())
	check(t, err)
	defer w.leave()
	_, err = w.dir(nameOfPiece(3, 3))
	check(t, err)
	_, err = openStore(t, path).Delete(t.Context(), []int32{1})
	check(t, err)
	d, err := duck.Open(":memory:", nil)
	check(t, err)
	defer d.Close()
	wantError(t, w.landPiece(t.Context(), d, 1, nameOfPiece(3, 3), all[0].pieces), "run 1 was deleted meanwhile")
	if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 0 {
		t.Errorf("%d runs", n)
	}
}

// A tail goes on storing where the catalog cannot be made, as another run is damaged.
func TestAppendBesideADamagedRun(t *testing.T) {
	path, rng, g := dbPath(t), testneeds.Rand(t, 1, 8), newGrown(2)
	storeRun(t, path, makeRun(t, 1, 2, 10, 100), info)
	s := openStore(t, path)
	defer s.Close()
	file := filepath.Join(folder(path).run(1), nameOfPiece(1, 1), "policies.parquet")
	whole, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte("x"), 0o600))
	for n := range uint64(3) {
		_, err := s.Append(t.Context(), info, []*replay.Addition{madeBatch(rng, n+1, 2, g)})
		check(t, err)
	}
	check(t, os.WriteFile(file, whole, 0o600))
	g.check(t, path, 2)
}
