package tui

import (
	"testing"
	"time"

	"shadow/internal/tail"
)

// feed takes snapshots at times (in seconds), of requests and refusals so far.
func feed(h *History, snapshots ...[3]float64) {
	for _, g := range snapshots {
		at := noon.Add(time.Duration(g[0] * float64(time.Second)))
		h.Take(&tail.Snapshot{At: at, Requests: int64(g[1]), Policies: []tail.Refused{{Refused: int64(g[2])}}})
	}
}

func TestHistory(t *testing.T) {
	var h History
	feed(&h, [3]float64{0, 1000, 500}) // what was before is not of this history
	if c := h.now(); c.requests != 0 || c.rate() != 0 || c.share(0) != unknown {
		t.Errorf("at the beginning: %+v", c)
	}
	feed(&h, [3]float64{1, 1010, 500}, [3]float64{1.5, 1030, 510}, [3]float64{2.5, 1030, 510}, [3]float64{4, 1060, 525})
	for back, want := range []struct{ rate, share float64 }{{20, 0.5}, {0, unknown}, {20, 1. / 3}} {
		if c := h.column(back); c == nil || c.rate() != want.rate || c.share(0) != want.share {
			t.Errorf("column %d: %+v, want %+v", back, c, want)
		}
	}
	if c := h.now(); c.requests != 60 || c.rate() != 15 || c.share(0) != 25./60 {
		t.Errorf("now: %+v", c)
	}
	if got := spark(h.values(5, (*column).rate), 20); got != "   █_" {
		t.Errorf("rates: %q", got)
	}
	if got := spark(h.values(5, func(c *column) float64 { return c.share(0) }), 0.5); got != "   ▆ " {
		t.Errorf("shares: %q", got)
	}
}

// A pause makes a rate of the whole pause, and leaves the columns inside unknown.
func TestHistoryAfterPause(t *testing.T) {
	var h History
	feed(&h, [3]float64{0, 0, 0}, [3]float64{1, 10, 0}, [3]float64{21, 210, 20})
	if c := h.column(0); c.rate() != 10 || c.share(0) != 0.1 {
		t.Errorf("after the pause: %+v", c)
	}
	feed(&h, [3]float64{22, 215, 20})
	if got := spark(h.values(11, (*column).rate), 10); got != "█         █" {
		t.Errorf("%q", got)
	}
	feed(&h, [3]float64{22 + 10*kept, 300, 20})
	if got := h.values(kept, (*column).rate); peakOf(got) != 0 {
		t.Errorf("what lies back too far is still there: %v", got)
	}
}

func TestSpark(t *testing.T) {
	if got := spark([]float64{unknown, 0, 1e-9, 1, 2, 3, 4, 5, 6, 7, 8}, 8); got != " _▁▁▂▃▄▅▆▇█" {
		t.Errorf("%q", got)
	}
	if peakOf(nil) != 0 || peakOf([]float64{unknown}) != 0 {
		t.Error("a peak of nothing")
	}
}
