package tail

import (
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
)

// Two tails with states of their own do not write one file of would-blocks at a time, by whatever name.
func TestTwoTailsAndOneFile(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.start()
	check(t, os.Symlink(b.path("would-blocks"), b.path("link")))
	check(t, os.Link(b.path("would-blocks"), b.path("hard link")))
	check(t, b.tail.Reopen()) // as after a rotation that left the file in place
	other := newBench(t, "token:1/24h")
	for _, name := range []string{"would-blocks", "link", "hard link"} {
		o := Options{
			Names: other.names, From: follow.FromCheckpoint, State: other.path("state"), Events: b.path(name), Err: &other.said,
			Read: other.readOptions(), Policies: other.policies(), Now: func() time.Time { return other.now },
		}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "another tail writes it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		b.kill() // it lets go soon, so the other one waits
	}()
	other.change = func(o *Options) { o.Events = b.path("would-blocks") }
	other.start()
	other.stop()
}

// One tail after the other writes to the file: the first one cuts off nothing of the second when it goes on.
func TestOneTailAfterTheOther(t *testing.T) {
	b := newBench(t, "token:1/24h")
	tell := func(b *bench, n int) {
		t.Helper()
		b.append("access.log", strings.Repeat(line(1, b.now), n))
		b.step(time.Second)
		b.step(10 * time.Second)
	}
	b.start()
	tell(b, 5)
	b.stop()
	before := len(b.told())
	other := newBench(t, "token:1/24h")
	other.change = func(o *Options) { o.Events = b.path("would-blocks") }
	other.start()
	tell(other, 10)
	other.stop()
	between := len(b.told())
	b.start()
	if got := len(b.told()); got != between || between <= before {
		t.Errorf("%d bytes of would-blocks, then %d, then %d", before, between, got)
	}
	if !strings.Contains(b.said.String(), "a tail with another --state has written to it since") {
		t.Errorf("it said %q", b.said.String())
	}
	tell(b, 1)
	b.kill()
	b.start()
	b.stop()
	if n := strings.Count(b.told(), "\n"); n != 4+9+1 {
		t.Errorf("%d would-blocks, want 14", n)
	}
}
