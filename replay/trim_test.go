package replay_test

import (
	"fmt"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
)

// When more keys are remembered than may be, those that were idle for longest are forgotten, until an eighth less is left:
// they begin again when they come back, and the others do not.
func TestTrim(t *testing.T) {
	for _, c := range []struct{ clients, most, forgotten int }{{16, 16, 0}, {17, 16, 3}, {20, 16, 6}, {20, 7, 13}} {
		b := newBench(t, 0, request.ByClient, "window:1/1h")
		round := func() (lines []line) {
			for i := range c.clients {
				lines = append(lines, line{client: fmt.Sprint(i), action: "/x", agent: "-"})
			}
			return lines
		}
		for i, l := range round() {
			l.at = second * limit.Time(i)
			b.judge([]line{l})
		}
		known := b.engine.Known()
		if got := b.engine.Trim(c.most); got != c.forgotten || known != c.clients {
			t.Errorf("%+v: %d forgotten of %d", c, got, known)
		}
		again := round()
		for i := range again {
			again[i].at = limit.Minute
		}
		b.judge(again)
		b.result()
		if got := len(b.events); got != c.clients-c.forgotten {
			t.Errorf("%+v: %d were remembered", c, got)
		}
		for _, e := range b.events {
			if int(e.Client) < c.forgotten {
				t.Errorf("%+v: client %d was remembered", c, e.Client)
			}
		}
	}
}
