package tail

import (
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
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

// How many lines are late is told of each minute of a log with some lines a second, none of which is written later than 4 s
// behind its stamp. ahead says by how much the clock of who writes is ahead in a second, and adjust what the machine's is set by.
func lateByMinute(b *bench, minutes int, ahead, adjust func(second int) time.Duration) (late []int64) {
	var before int64
	for i := range 60 * minutes {
		b.now = b.now.Add(adjust(i))
		for k := range 4 {
			written := b.now.Add(ahead(i))
			b.append("access.log", line((i+k)%3, written.Add(-time.Duration((i*7+k*13)%40)*100*time.Millisecond)))
		}
		b.step(time.Second)
		if i%60 == 59 {
			late = append(late, b.tail.Tally().Late-before)
			before = b.tail.Tally().Late
		}
	}
	return late
}

func never(int) time.Duration { return 0 }

// from is a step of a clock in a second.
func from(second int, by time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		if i < second {
			return 0
		}
		return by
	}
}

func once(second int, by time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		if i != second {
			return 0
		}
		return by
	}
}

// Clocks are set, and run fast or slow. For as long as a clock was set back lines are late, as they are in a replay, and for a
// few seconds until the tail has noticed; then none is. All are judged, and once clients have paused, verdicts are those of a replay.
func TestClocksThatAreSet(t *testing.T) {
	day := 24 * time.Hour
	drift := func(i int) time.Duration { return time.Duration(i) * 10 * time.Millisecond } // 1 %
	for name, c := range map[string]struct {
		ahead, adjust func(int) time.Duration
		late          int64 // at most, more than in a replay
		from          int   // no line is late from this minute on
	}{
		"writer a minute back":      {from(70, -time.Minute), never, 60, 4},
		"writer ten seconds back":   {from(70, -10*time.Second), never, 60, 2},
		"writer an hour ahead":      {from(70, time.Hour), never, 0, 0},
		"writer slow":               {func(i int) time.Duration { return -drift(i) }, never, 0, 0},
		"writer fast":               {drift, never, 0, 0},
		"writer always an hour off": {from(0, -time.Hour), never, 0, 0},
		"both a minute back":        {never, once(70, -time.Minute), 60, 4},
		"both a day ahead":          {never, once(70, day), 0, 0},
		"machine a minute back":     {from(70, time.Minute), once(70, -time.Minute), 0, 0},
		"machine a minute ahead":    {from(70, -time.Minute), once(70, time.Minute), 300, 4},
		"machine an hour ahead":     {from(70, -time.Hour), once(70, time.Hour), 320, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "token:1/3s")
			b.change = func(o *Options) { o.From, o.Save = follow.FromStart, time.Hour }
			b.start()
			late := lateByMinute(b, 6, c.ahead, c.adjust)
			b.step(time.Minute)
			calm := b.now.Add(c.ahead(360)).UTC().Format(time.RFC3339)
			lateByMinute(b, 1, func(int) time.Duration { return c.ahead(360) }, never)
			b.step(10 * time.Second)
			b.step(tick)
			told, tally := b.replayed(b.whole.Bytes())
			if got, want := toldSince(b.told(), calm), toldSince(told, calm); got != want || want == "" {
				t.Errorf("they differ first at %s", firstDifference(got, want))
			}
			if more := b.tail.Tally().Late - tally.Late; more < 0 || more > c.late {
				t.Errorf("%d late, in a replay %d", b.tail.Tally().Late, tally.Late)
			}
			for i, n := range late {
				if i >= c.from && n > 0 {
					t.Errorf("%d late in minute %d: %v", n, i, late)
				}
			}
			if n := b.tail.stream.Waiting(); n > 0 {
				t.Errorf("%d wait forever", n)
			}
		})
	}
}

// toldSince are the would-blocks from a moment on.
func toldSince(all, moment string) string {
	var since strings.Builder
	for text := range strings.Lines(all) {
		if strings.TrimPrefix(text, wouldBlock) > moment {
			since.WriteString(text)
		}
	}
	return since.String()
}

// A clock that was ahead for two lines makes all behind them late, as in a replay; they are judged all the same, as they come.
func TestLateRequestsWaitForNobody(t *testing.T) {
	b := newBench(t, "token:1/3s")
	b.start()
	b.append("access.log", line(1, b.now.Add(24*time.Hour))+line(1, b.now.Add(24*time.Hour)))
	b.step(time.Second)
	for range 100 {
		b.append("access.log", line(1, b.now)+line(2, b.now))
		b.step(time.Second)
	}
	b.step(6 * time.Second)
	if got := b.tail.Tally(); got.Requests < 200 || got.Late != 200 {
		t.Errorf("%d of 202 are judged, %d late", got.Requests, got.Late)
	}
}

// The same while a tail catches up: what waits is not more than is read between two looks.
func TestLateRequestsWaitForNobodyBehind(t *testing.T) {
	b := newBench(t, "token:1/3s")
	b.change = func(o *Options) { o.From, o.Save = follow.FromStart, time.Hour }
	begin := b.now.Add(-2 * time.Hour)
	var text strings.Builder
	text.WriteString(line(1, begin.Add(24*time.Hour)) + line(1, begin.Add(24*time.Hour)))
	for i := range 700_000 {
		text.WriteString(line(i%200, begin.Add(time.Duration(i)*time.Millisecond)))
	}
	b.append("access.log", text.String())
	b.start()
	for more := true; more; {
		var err error
		more, err = b.tail.Step()
		check(t, err)
		if n := b.tail.stream.Waiting(); n > 2*batchRows {
			t.Fatalf("%d requests wait", n)
		}
		b.now = b.now.Add(20 * time.Second)
	}
	b.step(tick)
	if n := b.tail.stream.Waiting(); n > 2 {
		t.Errorf("%d requests wait once all has been read", n)
	}
}

// What had been reached when both clocks were set back is not waited for once more: that would take as long.
func TestClockIsSetBackBehindALine(t *testing.T) {
	b := newBench(t, "token:1/3s")
	b.change = func(o *Options) {
		o.Now = func() time.Time {
			b.now = b.now.Add(10 * time.Millisecond) // reading takes time
			return b.now
		}
	}
	b.start()
	for i := range 40 {
		soon := b.now.Add(20 * time.Millisecond) // when the tail looks
		b.append("access.log", line(1, soon)+line(2, soon))
		b.step(time.Second)
		if i == 20 {
			b.now = b.now.Add(-time.Hour)
		}
	}
	b.step(tick)
	b.step(tick)
	if got := b.tail.Tally(); got.Requests < 80 {
		t.Errorf("%d of 80 are judged, %d late", got.Requests, got.Late)
	}
}

// Of several logs, one whose clock is wrong does not make the lines of the others late, nor keep them waiting.
func TestOneWrongClock(t *testing.T) {
	for name, ahead := range map[string]func(int) time.Duration{
		"an hour ahead":        from(0, time.Hour),
		"an hour back":         from(0, -time.Hour),
		"a day ahead for once": once(30, 24*time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "token:1/3s")
			b.names = []string{b.path("access.log"), b.path("other.log")}
			b.start()
			var right, wrong int64
			for i := range 100 {
				at := b.now.Add(ahead(i))
				b.append("other.log", line(1, at)+line(2, at))
				b.append("access.log", line(3, b.now.Add(-4*time.Second))+line(4, b.now))
				right, wrong = right+2, wrong+2
				b.step(time.Second)
			}
			b.step(6 * time.Second)
			got := b.tail.Tally()
			if late := map[string]int64{"an hour back": wrong}[name]; got.Late > late || got.Late < late-10 {
				t.Errorf("%d late, want some %d", got.Late, late)
			}
			if wait := map[string]int64{"an hour ahead": wrong, "a day ahead for once": 2}[name]; got.Requests != right+wrong-wait {
				t.Errorf("%d of %d are judged; %d may wait", got.Requests, right+wrong, wait)
			}
		})
	}
}

// A tail that is started again knows the time of a silent log, and so does one that was suspended.
func TestClockAfterAPause(t *testing.T) {
	for _, restart := range []bool{true, false} {
		b := newBench(t, "token:1/24h")
		b.start()
		b.append("access.log", line(1, b.now))
		b.step(time.Second)
		b.append("access.log", line(1, b.now))
		b.step(time.Second)
		if restart {
			b.stop()
		}
		b.now = b.now.Add(time.Hour)
		if restart {
			b.start()
		}
		b.step(tick)
		b.append("access.log", line(1, b.now))
		b.step(tick)
		b.step(5*time.Second + tick)
		if got := b.tail.Tally(); got.Requests != 3 || got.Late != 0 {
			t.Errorf("restarted %v: %d of 3 are judged, %d late", restart, got.Requests, got.Late)
		}
		b.stop()
	}
}

// retry_after says how long the client has to stay away after the refusal.
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
		b.step(0)
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

// A late line makes no key begin again, however short the lateness is. A clock that steps back does.
func TestOnlyAStepBackForgets(t *testing.T) {
	for back, admitted := range map[time.Duration]int{6 * time.Second: 5, 19 * time.Minute: 5, 21 * time.Minute: 10} {
		b := newBench(t, "window:5/24h")
		b.start()
		for i := range 40 {
			at := b.now
			if i == 20 {
				at = at.Add(-back)
			}
			b.append("access.log", line(1, at))
			b.step(time.Second)
		}
		b.step(6 * time.Second)
		b.stop()
		told, _ := b.replayed(b.whole.Bytes())
		if got := b.told(); 40-strings.Count(got, "\n") != admitted || strings.Count(told, "\n") != strings.Count(got, "\n") {
			t.Errorf("a line %v late: %d of 40 are refused, in a replay %d", back, strings.Count(got, "\n"), strings.Count(told, "\n"))
		}
	}
}
