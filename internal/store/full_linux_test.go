//go:build !nostore

package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shadow/internal/store/duck"
	"shadow/internal/testneeds"
	"shadow/replay"
)

// A disk can become full at any byte of a run: among the events, among the tallies, in the catalog.
// So the tests try many sizes, and hold what the child says against what is then in the file.

func init() { tasks["store"] = storeUnderLimit }

// storeUnderLimit stores one run while no file may grow beyond so many kB (0: no limit).
func storeUnderLimit(path, kB string) error {
	var limit uint64
	if _, err := fmt.Sscan(kB, &limit); err != nil {
		return err
	}
	if limit *= 1024; limit > 0 {
		signal.Ignore(syscall.SIGXFSZ) // so that a write beyond the limit is an error, as on a full disk
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	s, err := Open(path)
	if err != nil {
		return err
	}
	r, err := s.Begin(context.Background(), info)
	if err != nil {
		return err
	}
	defer r.Abort() // does nothing when all went well
	events, res := batch(nil, fullEvents), emptyResult(nil, 3)
	tally(res, events)
	if err := r.Write(events, &threeSets); err != nil {
		return err
	}
	if err := r.Finish(res, finished); err != nil {
		return err
	}
	fmt.Println("stored")
	return nil
}

// fullEvents are so many that some sizes of disk fail among them, long before the commit.
const fullEvents = 1 << 20

func TestFileMayNotGrow(t *testing.T) {
	var stored, refused int
	for _, kB := range []int{400, 1200, 2000, 2800, 3600, 4400, 5200, 400_000} { // of the last DuckDB may also sort in a file
		dir := t.TempDir()
		if storesWhole(t, dir, fmt.Sprint(kB)) == "stored" {
			stored++
			continue
		}
		refused++
		path := filepath.Join(dir, "shadow.db")
		storeRun(t, path, makeRun(t, 2, 2, 10, 1000), info)
		if n := askNumber(t, path, "SELECT max(run) FROM runs"); n != 2 {
			t.Errorf("after the failure there is room again, but the next run is number %d", n)
		}
	}
	t.Logf("%d sizes were too small, %d were enough", refused, stored)
	if stored == 0 || refused < 3 {
		t.Error("the sizes tried prove nothing")
	}
}

func TestDiskFull(t *testing.T) {
	var stored, refused int
	for kB := 2500; kB <= 15_000; kB += 2500 {
		said := storesWhole(t, testneeds.SmallDisk(t, kB), "0")
		if said == "stored" {
			stored++
			continue
		}
		refused++
		if !strings.HasSuffix(said, duck.ErrDiskFull.Error()) {
			t.Errorf("%d kB: the child says %q", kB, said)
		}
	}
	t.Logf("%d sizes were too small, %d were enough", refused, stored)
	if stored == 0 || refused < 3 {
		t.Error("the sizes tried prove nothing")
	}
}

// storesWhole has a child store a second run in a database in dir, and returns what the child says: "stored", or an
// error. What the child says must be what the file holds.
func storesWhole(t *testing.T, dir, kB string) (said string) {
	t.Helper()
	path := filepath.Join(dir, "shadow.db")
	storeRun(t, path, makeRun(t, 1, 2, 10, 1000), info)
	before := fingerprint(t, path)

	p := startChild(t, "store", path, kB)
	said = p.line(t)
	p.Wait()
	if said == "stored" {
		if n := askNumber(t, path, "SELECT sum(count) FROM events WHERE run = 2"); n != fullEvents {
			t.Errorf("%s kB: stored, but the counts sum up to %d", kB, n)
		}
		if n := askNumber(t, path, "SELECT count(*) FROM runs"); n != 2 {
			t.Errorf("%s kB: stored, but there are %d runs", kB, n)
		}
		return said
	}
	if after := fingerprint(t, path); after != before {
		t.Errorf("%s kB: the child says %q, the file holds\n%s\nand held\n%s", kB, said, after, before)
	}
	if dir, err := os.ReadDir(dir); err == nil {
		t.Logf("%s kB: %s; %v", kB, said, dir)
	}
	return said
}

// A tail stores on when there is room again, whatever the full disk has cut: a file of the batch, pieces that are put
// together, the catalog.
func TestAppendAfterFullDisk(t *testing.T) {
	dir := testneeds.SmallDisk(t, 24<<10)
	s := openStore(t, filepath.Join(dir, "shadow.db"))
	rng := testneeds.Rand(t, 7, 7)
	g := newGrown(2)
	var failed int
	for number := uint64(1); number <= 70; number++ {
		batches := []*replay.Addition{madeBatch(rng, number, 2, g)}
		filler := filepath.Join(dir, "filler")
		fillDisk(t, filler, int64(number-1)*2*4096)
		if _, err := s.Append(context.Background(), info, batches); err != nil {
			failed++
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(context.Background(), info, batches); err != nil {
			t.Fatalf("batch %d, when there is room again: %v", number, err)
		}
	}
	if failed < 5 || failed > 65 {
		t.Errorf("%d of 70 batches met a full disk: the sizes tried prove nothing", failed)
	}
	if n := askNumber(t, string(s.folder), "SELECT sum(requests) FROM runs"); n != g.requests {
		t.Errorf("%d requests are stored of %d", n, g.requests)
	}
}

// fillDisk fills a disk but for some bytes.
func fillDisk(t *testing.T, path string, but int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if size, err := f.Seek(0, io.SeekEnd); err != nil || f.Truncate(max(0, size-but)) != nil {
		t.Fatal("cannot fill the disk", err)
	}
}
