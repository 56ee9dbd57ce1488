package tail

import (
	"strings"
	"testing"
	"time"
)

// A line becomes a verdict within the lateness and a second of being written, also when nothing comes after it.
func TestVerdictComesWhenTheLogFallsSilent(t *testing.T) {
	for _, gap := range []time.Duration{0, 100 * time.Millisecond, 3 * time.Second, 10 * time.Second, time.Hour} {
		b := newBench(t, "token:1/24h")
		b.start()
		for range 4 {
			written := b.now
			b.append("access.log", line(1, written))
			for b.step(0); b.now.Sub(written) < 5*time.Second+time.Second; {
				b.step(tick)
			}
			if got := b.tail.Tally(); got.Requests != got.Lines || got.Late != 0 {
				t.Fatalf("a line every %v: of %d lines %d are judged, %d late, %v after the last was written", gap, got.Lines, got.Requests, got.Late, b.now.Sub(written))
			}
			b.step(gap)
		}
		b.stop()
	}
}

// Nothing is judged before the lateness has passed: an older line may come.
func TestOlderLineFindsItsPlace(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.start()
	b.step(time.Second)
	began := b.now
	b.append("access.log", line(2, began)+line(1, began))
	b.step(4 * time.Second)
	b.append("access.log", line(1, began.Add(-500*time.Millisecond)))
	b.step(4 * time.Second)
	b.step(4 * time.Second)
	b.stop()
	if got := b.told(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"time":"2026-11-21T07:00:01.000000Z"`) {
		t.Errorf("the later line of the client should be refused:\n%s", got)
	}
	if got := b.tail.Tally().Late; got != 0 {
		t.Errorf("%d late", got)
	}
}

// One stamp far in the future makes nothing late.
func TestLoneStampInTheFuture(t *testing.T) {
	b := newBench(t, "token:1/1s")
	b.start()
	b.append("access.log", line(3, b.now.Add(24*time.Hour)))
	for range 20 {
		b.step(time.Second)
		b.append("access.log", line(1, b.now))
	}
	b.step(time.Second)
	b.step(6 * time.Second)
	b.stop()
	if got := b.tail.Tally(); got.Late != 0 || got.Requests != 20 {
		t.Errorf("%d requests, %d late", got.Requests, got.Late)
	}
}

// retry_after is how long the client has to stay away after the refusal.
func TestRetryAfter(t *testing.T) {
	b := newBench(t, "token:2/10s", "leaky:2/10s", "window:2/10s", "fixed:2/10s", "token:2/10s+window:3/60s", "token:2/10s,cooldown=30s", "token:2/10s,debt")
	b.start()
	for range 3 {
		b.append("access.log", line(1, b.now))
	}
	b.step(0)
	b.step(10 * time.Second)
	b.stop()
	want := []string{"5", "5", "10", "10", "5", "30", "10"}
	lines := strings.Split(strings.TrimSpace(b.told()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d would-blocks, want %d:\n%s", len(lines), len(want), b.told())
	}
	for i, line := range lines {
		if !strings.HasSuffix(line, `"retry_after":`+want[i]+"}") {
			t.Errorf("%s: want %s", line, want[i])
		}
	}
}

// So does one that comes alone after a restart, however long the log has been silent.
func TestVerdictComesAfterARestart(t *testing.T) {
	for _, kill := range []bool{false, true} {
		b := newBench(t, "token:1/24h")
		b.start()
		b.append("access.log", line(1, b.now)+line(1, b.now))
		b.step(0)
		b.step(time.Hour)
		b.restart(kill)
		b.step(time.Minute)
		b.append("access.log", line(1, b.now))
		for range 6 {
			b.step(time.Second)
		}
		if n := b.tail.Tally().Requests; n != 3 {
			t.Errorf("killed %t: %d requests are judged", kill, n)
		}
		b.append("access.log", line(1, b.now.Add(-4*time.Second)))
		b.step(6 * time.Second)
		b.stop()
		if n := b.tail.Tally().Late; n != 0 {
			t.Errorf("killed %t: %d late", kill, n)
		}
	}
}
