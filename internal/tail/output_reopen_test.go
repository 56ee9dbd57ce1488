package tail

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Would-blocks go on in the file that has their name, whether log rotation renames the old one or deletes it, and makes
// a new one or none.
func TestWouldBlocksAreRotated(t *testing.T) {
	for _, created := range []bool{true, false} {
		for _, deleted := range []bool{true, false} {
			b := newBench(t, "token:1/24h")
			b.start()
			b.append("access.log", strings.Repeat(line(1, b.now), 2))
			b.step(10 * time.Second)
			b.step(10 * time.Second)
			before := b.told()
			b.rename("would-blocks", "would-blocks.1")
			if deleted {
				check(t, os.Remove(b.path("would-blocks.1")))
			}
			if created {
				check(t, os.WriteFile(b.path("would-blocks"), nil, 0o600))
			}
			b.step(time.Second)
			if exists(b.path("would-blocks")) != created {
				t.Error("a file was created that rotation may be about to create")
			}
			b.step(time.Second)
			b.append("access.log", strings.Repeat(line(2, b.now), 2))
			b.step(10 * time.Second)
			b.step(10 * time.Second)
			b.restart(true)
			b.step(10 * time.Second)
			b.stop()
			want, _ := b.replayed(b.whole.Bytes())
			if before == "" || before+b.told() != want {
				t.Errorf("created %t, deleted %t: told\n%s%swant\n%s", created, deleted, before, b.told(), want)
			}
		}
	}
}

// A new file that cannot be opened is told once a minute, and the old one goes on.
func TestWouldBlocksCannotBeReopened(t *testing.T) {
	b := newBench(t, "token:1/24h")
	check(t, os.Mkdir(b.path("told"), 0o755))
	b.change = func(o *Options) { o.Events = b.path("told/would-blocks") }
	b.start()
	b.rename("told", "elsewhere")
	for range 30 {
		b.step(time.Second)
	}
	b.saidOnce("would-blocks go on in the old file")
	check(t, os.Mkdir(b.path("told"), 0o755))
	b.step(time.Minute)
	b.step(time.Second)
	if !exists(b.path("told/would-blocks")) {
		t.Error("it was not tried again")
	}
	b.stop()
}

// A file that has lost its end goes on in a line of its own, and how much is lost is said, be it cut within its first
// 4 KiB.
func TestWouldBlocksWereCut(t *testing.T) {
	for _, lines := range []int{3, 100} {
		b := newBench(t, "token:1/24h")
		b.start()
		b.append("access.log", strings.Repeat(line(1, b.now), lines))
		b.step(10 * time.Second)
		b.step(10 * time.Second)
		b.stop()
		told := b.told()
		kept := told[:len(told)-10]
		check(t, os.Truncate(b.path("would-blocks"), int64(len(kept))))
		b.start()
		b.saidOnce(": 10 bytes are missing that it had when the checkpoint was written: would-blocks are lost")
		b.append("access.log", strings.Repeat(line(2, b.now), 2))
		b.step(10 * time.Second)
		b.step(10 * time.Second)
		b.restart(false)
		b.saidOnce("are missing")
		b.stop()
		more, found := strings.CutPrefix(b.told(), kept+"\n")
		if !found || strings.Count(more, "\n") != 1 || !strings.HasPrefix(more, "{") {
			t.Errorf("behind what was kept is %q, %t", more, found)
		}
	}
}
