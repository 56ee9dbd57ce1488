package cache

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shadow/testneeds"
)

// A disk that is full is told with what is to be done, and so is a folder that is not there.
func TestNoPlace(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for dir, want := range map[string]error{missing: fs.ErrNotExist, testneeds.SmallDisk(t, 1000): syscall.ENOSPC} {
		r := &Requests{Dir: dir}
		defer r.Close()
		batch := drawn(testneeds.Rand(t, 5, 3), frameRows)
		var err error
		for i := 0; i < 100 && err == nil; i++ {
			err = r.Add(batch)
		}
		if place := new(PlaceError); !errors.As(err, &place) || !errors.Is(err, want) || place.Size <= memoryBytes || place.Dir != dir ||
			!strings.Contains(err.Error(), "TMPDIR names another folder") {
			t.Errorf("%s: %v, want %v", dir, err, want)
		}
	}
}
