package store

import (
	"fmt"
	"os"
	"testing"
)

// Memory does not grow with the events of a run. The bound leaves room for a run of any length: what DuckDB may
// buffer, the process itself (45 MB with an open database), and the 50,000 clients of the test.
func TestMemoryIsFlat(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc to read the peak from")
	}
	if testing.Short() {
		t.Skip("stores 14 M events")
	}
	small, large := peakOf(t, 2), peakOf(t, 12)
	t.Logf("peak %d kB with 2 M events, %d kB with 12 M", small, large)
	if large > 200_000 || large > small+40_000 {
		t.Errorf("peak %d kB with 2 M events, %d kB with 12 M", small, large)
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
