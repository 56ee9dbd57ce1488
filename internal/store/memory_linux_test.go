//go:build !nostore

package store

import (
	"fmt"
	"testing"
)

// Memory does not grow with the events of a run: these would take 512 MB. The bound is half of that: what DuckDB may
// buffer (64 MB), the process itself (45 MB with an open database) and the 50,000 clients of the test take 190 to 210 MB.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 16 M events")
	}
	if peak := peakOf(t, 16); peak > 256_000 {
		t.Errorf("peak %d kB with 16 M events", peak)
	} else {
		t.Logf("peak %d kB with 16 M events", peak)
	}
}

func peakOf(t *testing.T, millions int) (kB int) {
	t.Helper()
	path := dbPath(t)
	line := startChild(t, "fill", path, fmt.Sprint(millions)).line(t)
	if _, err := fmt.Sscanf(line, "peak %d kB", &kB); err != nil {
		t.Fatalf("the child says %q", line)
	}
	return kB
}
