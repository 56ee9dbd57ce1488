//go:build !nostore

package tail

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// recordOrder takes down what makes files last, and holds what is renamed against what was brought to the disk.
func recordOrder(t *testing.T) *[]string {
	t.Helper()
	var done []string
	synced := map[string]string{}
	oldSync, oldRename := syncFile, rename
	t.Cleanup(func() { syncFile, rename = oldSync, oldRename })
	syncFile = func(f *os.File) error {
		text, _ := os.ReadFile(f.Name()) // a folder has none
		synced[f.Name()] = string(text)
		done = append(done, "sync "+filepath.Base(f.Name()))
		return oldSync(f)
	}
	rename = func(from, to string) error {
		text, err := os.ReadFile(from)
		check(t, err)
		if was, ok := synced[from]; !ok || was != string(text) {
			t.Errorf("%s is renamed, and was not brought to the disk", from)
		}
		done = append(done, "rename "+filepath.Base(from))
		return oldRename(from, to)
	}
	return &done
}

// A power failure leaves a checkpoint that is whole, the would-blocks that it counts on, and the batch that it names: each is on the
// disk before what refers to it has its name.
func TestOrderOfACheckpoint(t *testing.T) {
	s := newStored(t, "token:1/24h")
	s.start()
	s.append("access.log", line(1, s.now)+line(1, s.now))
	s.step(time.Second)
	s.step(10 * time.Second)
	s.append("access.log", line(2, s.now)+line(2, s.now))
	s.step(time.Second)
	done := recordOrder(t)
	s.step(10 * time.Second)
	folder := filepath.Base(s.folder)
	want := []string{
		"sync would-blocks", "sync state.new", "sync new", "rename new", "sync state.spool", "rename state.new", "sync " + folder,
	}
	if !slices.Equal(*done, want) {
		t.Errorf("%q, want %q", *done, want)
	}
	s.settle()
	s.check()
}

// A checkpoint that names a batch takes its place after the batch, so that nothing is lost when the batch cannot be written.
func TestBatchThatCannotBeSealed(t *testing.T) {
	s := newStored(t, "token:1/24h")
	s.start()
	s.append("access.log", line(1, s.now)+line(1, s.now))
	s.step(time.Second)
	s.step(10 * time.Second)
	s.flush()
	before, err := os.ReadFile(s.path("state"))
	check(t, err)
	check(t, os.RemoveAll(s.path("state.spool")))
	check(t, os.WriteFile(s.path("state.spool"), nil, 0o600)) // in the way
	s.append("access.log", line(2, s.now)+line(2, s.now)+line(2, s.now))
	s.step(time.Second)
	s.step(10 * time.Second)
	if text, _ := os.ReadFile(s.path("state")); string(text) != string(before) {
		t.Error("the checkpoint names a batch that is not there")
	}
	s.kill()
	check(t, os.Remove(s.path("state.spool")))
	s.start()
	s.step(time.Second)
	s.step(10 * time.Second)
	s.settle()
	s.check()
}

// A batch that lies in the spool goes to the database only when a checkpoint has named it: a tail that is killed in between judges
// its requests again.
func TestBatchThatNoCheckpointNames(t *testing.T) {
	s := newStored(t, "token:1/24h")
	s.start()
	s.append("access.log", line(1, s.now)+line(1, s.now))
	s.step(time.Second)
	s.step(10 * time.Second)
	s.flush()
	stored := s.shelf.lines
	s.append("access.log", line(2, s.now)+line(2, s.now))
	s.step(time.Second)
	spool := s.tail.spool
	spool.complete(s.now, s.tail.Tally())
	check(t, spool.seal())
	s.flush()
	if s.shelf.lines != stored || stored != 2 || len(s.files()) != 1 {
		t.Errorf("%d lines are stored, %d before; waiting: %v", s.shelf.lines, stored, s.files())
	}
	s.kill()
	s.start()
	s.step(10 * time.Second)
	s.settle()
	s.check()
}
