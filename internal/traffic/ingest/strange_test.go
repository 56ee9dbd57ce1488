package ingest

import (
	"fmt"
	"testing"
)

// Strange clients are too many from more than a hundredth of the lines on, if there are three; one or two must be most of them.
func TestStrangersTooMany(t *testing.T) {
	for _, c := range []struct {
		strange, lines int64
		want           bool
	}{{3, 300, false}, {3, 299, true}, {2, 199, false}, {2, 4, false}, {2, 3, true}, {1, 1, true}, {1, 2, false}, {0, 0, false}} {
		if got := (&strangers{lines: c.strange}).tooMany(c.lines); got != c.want {
			t.Errorf("%d of %d: %v", c.strange, c.lines, got)
		}
	}
	var shown strangers
	for i := range 5 {
		shown.add(1, fmt.Sprintf("no client %d", i/2))
	}
	if fmt.Sprint(shown.shown) != "[no client 0 no client 1 no client 2]" {
		t.Errorf("%q", shown.shown)
	}
}
