package trace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"shadow/internal/testneeds"
	"shadow/internal/traffic"
)

// Where a disk is full or a folder is not there, requests stay in memory, and come back; it is told why.
func TestNoPlace(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for dir, want := range map[string]error{missing: fs.ErrNotExist, testneeds.SmallDisk(t, 20_000): syscall.ENOSPC} {
		t.Setenv("TMPDIR", dir)
		r := new(Requests)
		defer r.Close()
		var batches []*traffic.Batch
		for i := range uint64(40) {
			batches = append(batches, drawn(testneeds.Rand(t, 5, i), frameRows))
			r.Add(batches[i])
		}
		if place := new(PlaceError); !errors.As(r.Lost(), &place) || !errors.Is(r.Lost(), want) || place.Size <= memoryBytes || place.Dir != dir {
			t.Errorf("%s: %v, want %v", dir, r.Lost(), want)
		}
		check(t, r, batches)
	}
}
