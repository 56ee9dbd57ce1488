package tail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
)

// A tail judges the requests of one moment in the order in which a replay does, those last that the server refused, however
// they come: in the same look or not, and over a restart.
func TestRefusedComeLastInTail(t *testing.T) {
	b := newBench(t, "token:3/10s", "window:4/20s+leaky:2/5s")
	b.change = func(o *Options) { o.From = follow.FromStart }
	b.start()
	for i := range 300 {
		at := b.now.Truncate(time.Second).Add(time.Duration(i%7*100) * time.Millisecond) // whole seconds as well
		one := line(1+i%3, at)
		folder := fmt.Sprintf("/%d/page", i%11)
		if i%5 < 2 {
			one, folder = strings.Replace(one, " 200 ", " 429 ", 1), "/refused/page"
		}
		b.append("access.log", strings.Replace(one, "/page", folder, 1))
		switch i % 6 {
		case 0:
			b.step(0)
		case 5:
			b.step(300 * time.Millisecond)
		}
		if i == 150 {
			b.stop()
			b.change = nil
			b.start()
		}
	}
	b.step(time.Second)
	b.step(DefaultLinger + 20*time.Second)
	b.stop()
	want, tally := b.replayed(b.whole.Bytes())
	if got := b.told(); got != want {
		t.Errorf("the tail tells otherwise than the replay, first\n%s", firstDifference(got, want))
	}
	if got := b.tail.Tally(); got.Late > 0 || got.Requests != tally.Requests || strings.Count(want, "/refused") < 20 {
		t.Errorf("%d of %d requests, %d late; the replay tells\n%s", got.Requests, tally.Requests, got.Late, want)
	}
}
