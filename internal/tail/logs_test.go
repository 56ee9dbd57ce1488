package tail

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// What is not named any more is not followed any more. Its requests that wait are judged, and when it is named again it is gone on with.
func TestLogIsNamedNoLonger(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("a.log"), b.path("b.log"), "-"}
	b.change = func(o *Options) { o.Stdin = strings.NewReader("") }
	b.start()
	b.append("a.log", line(1, b.now))
	b.append("b.log", line(2, b.now))
	b.step(time.Second)
	b.stop()
	b.heard()
	b.names = []string{b.path("b.log")}
	b.start()
	b.wantSaid("shadow: a.log: is followed no longer, as it is not named any more\nshadow: -: is followed no longer, as it is not named any more\n")
	b.append("a.log", line(1, b.now))
	b.step(time.Second)
	b.counted(2)
	if n := b.tail.tally.Requests; n != 0 {
		t.Errorf("%d requests were judged", n)
	}
	b.step(10 * time.Second)
	b.step(10 * time.Second)
	b.step(10 * time.Second)
	if n := b.tail.tally.Requests; n != 2 {
		t.Errorf("%d requests were judged, want 2", n)
	}
	if n := len(b.tail.logs); n != 1 {
		t.Errorf("%d logs", n)
	}
	b.restart(true)
	b.stop()
	b.wantSaid("")
	b.names = []string{b.path("b.log"), b.path("c.log"), b.path("a.log")}
	b.append("c.log", line(3, b.now))
	b.start()
	b.step(time.Second)
	b.counted(4)
	b.stop()
}

// Logs that come and go leave nothing behind, but for what was read of them lately.
func TestLogsComeAndGo(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("pod-*.log"), b.path("access.log")}
	b.append("access.log", line(1, b.now))
	b.start()
	for i := range 100 {
		name := fmt.Sprintf("pod-%c%d.log", 'a'+i%26, i)
		b.append(name, line(1, b.now))
		if i%10 == 3 {
			check(t, os.WriteFile(b.path("pod-empty.log"), nil, 0o644)) // of no format, ever
		}
		b.step(2 * time.Second)
		check(t, os.Remove(b.path(name)))
		_ = os.Remove(b.path("pod-empty.log"))
		b.step(2 * time.Minute)
		b.step(2 * time.Minute)
		b.step(2 * time.Minute)
	}
	b.counted(100)
	if n := len(b.tail.logs); n > 3 || b.tail.set.Numbers() > 4 {
		t.Errorf("%d logs are followed, of %d numbers", n, b.tail.set.Numbers())
	}
	if n := b.tail.tally.Requests; n != 100 {
		t.Errorf("%d requests were judged", n)
	}
	b.heard()
	b.restart(true)
	b.step(2 * time.Second)
	b.wantSaid("shadow: pod-*.log: no log matches yet; those that come are followed\n")
	b.stop()
}

// A log that is quiet is not read in every step, and yet what is written to it finds its place.
func TestQuietLogAmongBusyOnes(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("*.log")}
	b.append("busy.log", line(1, b.now))
	b.append("quiet.log", line(1, b.now))
	b.start()
	b.step(10 * time.Second)
	slept := 0
	for n := range 1000 {
		b.append("busy.log", line(1, b.now))
		if n%200 == 100 {
			b.append("quiet.log", line(2, b.now.Add(-4980*time.Millisecond)))
		}
		b.step(20 * time.Millisecond)
		if b.tail.logs[1].asleep {
			slept++
		}
	}
	if slept < 500 || slept > 950 {
		t.Errorf("asleep in %d of 1000 steps", slept)
	}
	b.step(time.Second)
	b.counted(1005)
	if n := b.tail.tally.Late; n != 0 {
		t.Errorf("%d late", n)
	}
	b.stop()
}

// A log that has just joined is in the next checkpoint, which comes soon: so it is not lost when it is rotated while no tail runs.
func TestKilledSoonAfterJoining(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("*.log")}
	b.change = func(o *Options) { o.Save = time.Hour }
	b.append("old.log", line(1, b.now))
	b.start()
	b.append("new.log", line(1, b.now)+line(2, b.now))
	b.step(2 * time.Second)
	b.step(time.Second)
	b.kill()
	b.rename("new.log", "new.log.1")
	b.append("new.log", line(3, b.now))
	b.start()
	b.step(time.Second)
	b.counted(3)
	b.stop()
}

// That a rotated file was read to its end is in the next checkpoint, which comes soon: so nothing is told to be missing when the
// file is deleted and the tail killed. The second time it was found by a tail that had just begun.
func TestKilledAfterARotatedFileWasDeleted(t *testing.T) {
	for _, begins := range []bool{false, true} {
		b := newBench(t, "token:2/1m")
		b.change = func(o *Options) { o.Save = time.Hour }
		b.start()
		b.append("access.log", line(1, b.now))
		b.step(tick)
		b.tail.tryToSave(b.now)
		if begins {
			b.kill()
		}
		check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
		if begins {
			b.start()
		}
		b.append("access.log", line(2, b.now))
		b.step(tick)
		b.step(tick)
		check(t, os.Remove(b.path("access.log.1")))
		b.kill()
		b.start()
		b.step(tick)
		b.step(time.Minute)
		if n := b.tail.Tally().Requests; n != 2 {
			t.Errorf("the tail begins %v: %d requests are judged, want 2; it says: %s", begins, n, b.said.String())
		}
		b.stop()
	}
}

// While a log lags and no file has its name, the clock does not make late what was written and renamed before.
func TestNothingIsLateWhileALogIsRotated(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.start()
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.append("access.log", line(1, b.now))
	b.rename("access.log", "access.log-0001")
	b.append("access.log", line(2, b.now))
	b.rename("access.log", "access.log-0002")
	b.step(10 * time.Second) // twice the lateness
	b.step(time.Second)
	b.append("access.log", line(2, b.now))
	b.step(time.Second)
	b.counted(4)
	b.stop()
	if got := b.tail.Tally(); got.Late != 0 {
		t.Errorf("%d of %d lines are late", got.Late, got.Lines)
	}
}

// Strangers may choose the names of logs, as those of a server that writes one for each host.
func TestNamesOfLogsAreHarmless(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("a\x1b[31m.log"), "-"}
	b.change = func(o *Options) { o.Stdin = strings.NewReader("") }
	b.start()
	b.append("a\x1b[31m.log", line(1, b.now))
	b.step(time.Second)
	b.stop()
	b.heard()
	b.names = []string{"-"}
	b.start()
	b.wantSaid(`shadow: a\x1b[31m.log: is followed no longer, as it is not named any more` + "\n")
	b.stop()
}
