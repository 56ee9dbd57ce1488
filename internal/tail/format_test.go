package tail

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shadow/parse/detect"

	"shadow/internal/logfile/follow"
)

// Two formats that are told by their lines.
func combinedLine(client int, t time.Time) string {
	return fmt.Sprintf("192.0.2.%d - - [%s] \"GET /p HTTP/1.1\" 200 10 \"-\" \"curl/8\"\n", client, t.Format("02/Jan/2006:15:04:05 -0700"))
}

func jsonLine(client int, t time.Time) string {
	return fmt.Sprintf(`{"remote_addr":"192.0.2.%d","time_iso8601":"%s","request":"GET /p HTTP/1.1","status":200,"body_bytes_sent":10,"http_user_agent":"curl/8"}`+"\n", client, t.Format(time.RFC3339))
}

// newTeller is a bench whose tail has to tell the format of its log by itself.
func newTeller(t *testing.T) *bench {
	b := newBench(t, "token:1/24h")
	b.change = func(o *Options) { o.From, o.Read.Format, o.Every = follow.FromCheckpoint, detect.Choice{}, time.Minute }
	b.start()
	b.step(time.Second)
	return b
}

// write writes some lines a second for a while.
func (b *bench) write(seconds, lines int, line func(int, time.Time) string) {
	b.t.Helper()
	for range seconds {
		for i := range lines {
			b.append("access.log", line(i, b.now))
		}
		b.step(time.Second)
	}
}

// A log that has another format from some line on is read on: at most ten lines are lost. It is told once.
func TestFormatChanges(t *testing.T) {
	for _, rotate := range []bool{true, false} {
		for _, lines := range []int{1, 5, 20} {
			b := newTeller(t)
			b.write(30, lines, combinedLine)
			if rotate {
				check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
			}
			b.write(30, lines, jsonLine)
			if rotate { // by a server that has not noticed
				b.append("access.log.1", combinedLine(1, b.now))
				b.step(time.Second)
			}
			b.write(30, lines, jsonLine)
			if got := b.tail.Tally(); got.Unreadable >= strange || got.Lines < int64(90*lines) {
				t.Errorf("rotated %v, %d lines a second: %d of %d are unreadable; said: %s", rotate, lines, got.Unreadable, got.Lines, b.said.String())
			}
			if n := strings.Count(b.said.String(), "another format"); n != 1 {
				t.Errorf("told %d times: %s", n, b.said.String())
			}
			b.stop()
		}
	}
}

// Strange lines between others change nothing, whatever format they have.
func TestStrangeLinesBetweenOthers(t *testing.T) {
	b := newTeller(t)
	b.write(10, 3, combinedLine)
	for range 30 {
		b.append("access.log", jsonLine(1, b.now)+jsonLine(1, b.now))
		b.step(time.Second)
		b.append("access.log", combinedLine(1, b.now)+combinedLine(1, b.now))
		b.step(time.Second)
	}
	if got := b.tail.Tally(); got.Unreadable != 60 {
		t.Errorf("%d unreadable, want 60; said: %s", got.Unreadable, b.said.String())
	}
	b.stop()
}

// Lines that are in no format are told with where, why, and themselves, a few of them in each summary. What they say is harmless.
func TestUnreadableLinesAreTold(t *testing.T) {
	b := newTeller(t)
	b.write(10, 3, combinedLine)
	for range 300 {
		b.append("access.log", "worker \x1b[2J exited\n")
		b.step(time.Second)
	}
	said := b.said.String()
	if n := strings.Count(said, `"worker \x1b[2J exited"`); n < 12 || n > 15 || strings.Contains(said, "\x1b") {
		t.Errorf("%d lines are told:\n%s", n, said)
	}
	if n := strings.Count(said, "the format of the log is not known"); n != 1 {
		t.Errorf("told %d times:\n%s", n, said)
	}
	if !strings.Contains(said, "access.log, column 1: ") {
		t.Errorf("no place:\n%s", said)
	}
	b.write(60, 3, combinedLine)
	b.said.Reset()
	b.write(60, 3, combinedLine)
	if strings.Contains(b.said.String(), "column") {
		t.Errorf("told again:\n%s", b.said.String())
	}
	b.stop()
}

// A line that tells no format does not end a tail: not when the log was empty for long, and not after a restart.
func TestFirstLineIsBad(t *testing.T) {
	for _, restart := range []bool{true, false} {
		b := newTeller(t)
		if restart {
			b.write(3, 1, combinedLine)
			check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
			b.append("access.log", "")
			b.step(time.Second)
			b.step(2 * time.Minute)
			b.stop()
			b.start()
		}
		b.step(2 * time.Minute)
		was := b.tail.Tally().Lines
		b.append("access.log", "nginx: worker process exited\n")
		b.step(time.Second)
		b.step(2 * time.Minute)
		if _, lag := b.tail.Lag(b.now); lag < time.Minute || b.tail.lagText(b.now) == "up to date" {
			t.Errorf("the lag is %v, %s", lag, b.tail.lagText(b.now))
		}
		if b.tail.behind() {
			t.Error("a log that cannot be read keeps others from being judged")
		}
		b.write(2, 1, combinedLine)
		if got := b.tail.Tally(); got.Lines != was+3 || got.Unreadable != 1 {
			t.Errorf("%d lines, %d unreadable; said: %s", got.Lines-was, got.Unreadable, b.said.String())
		}
		if bytes, lag := b.tail.Lag(b.now); bytes != 0 || lag > time.Second {
			t.Errorf("the lag is %d bytes, %v", bytes, lag)
		}
		b.stop()
	}
}

// A tail that has never known a format ends when there are enough lines to tell one by, or no more can come.
func TestFormatIsNeverKnown(t *testing.T) {
	b := newTeller(t)
	b.append("access.log", strings.Repeat("this is no access log\n", enough))
	if _, err := b.tail.Step(); err == nil {
		t.Error("it goes on")
	}
	b.kill()
	b = newBench(t, "token:1/24h")
	b.names = []string{"-"}
	b.change = func(o *Options) {
		o.Read.Format, o.Stdin = detect.Choice{}, strings.NewReader("this is no access log\n")
	}
	b.start()
	for range 100 {
		time.Sleep(10 * time.Millisecond)
		if _, err := b.tail.Step(); err != nil {
			return
		}
	}
	t.Error("it goes on though the pipe has ended")
}

// A log that begins with a very long line, or with zeros, as after copytruncate with a writer that does not append, is read:
// what it begins with is one unreadable line.
func TestLogWithoutAFirstLine(t *testing.T) {
	for _, size := range []int{100 << 10, 3 << 20} {
		b := newTeller(t)
		b.append("access.log", strings.Repeat("\x00", size))
		b.step(time.Second)
		b.write(30, 1, combinedLine)
		if got := b.tail.Tally(); got.Lines != 30 || got.Unreadable > 1 {
			t.Errorf("%d zeros: %d lines, %d unreadable; said: %s", size, got.Lines, got.Unreadable, b.said.String())
		}
		b.stop()
		b.start()
		b.write(30, 1, combinedLine)
		if got := b.tail.Tally(); got.Lines != 60 || got.Unreadable > 1 {
			t.Errorf("%d zeros, after a restart: %d lines, %d unreadable; said: %s", size, got.Lines, got.Unreadable, b.said.String())
		}
		b.stop()
	}
}

// Lines that are mostly no requests in a format that was stated are told, however slowly they come, once in an hour.
func TestWrongFormatIsTold(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.append("access.log", "")
	b.start()
	b.write(50, 1, combinedLine)
	b.wantSaid("shadow: access.log: most lines cannot be read as custom\n")
	b.write(50, 1, line)
	b.wantSaid("")
	for n := range 50 {
		b.append("access.log", []string{combinedLine(1, b.now), line(1, b.now), line(1, b.now)}[n%3])
		b.step(time.Second)
	}
	b.wantSaid("")
	b.step(time.Hour)
	b.write(50, 1, combinedLine)
	b.wantSaid("shadow: access.log: most lines cannot be read as custom\n")
	b.stop()
}

// A log of no known format does not end the tail as long as another one can be read, or may be once there is something in it.
func TestUnknownFormatIsNotTheEnd(t *testing.T) {
	junk := strings.Repeat("this is no access log\n", 100)
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("a.log"), b.path("b.log")}
	b.change = func(o *Options) { o.From, o.Read.Format = follow.FromStart, detect.Choice{Format: "auto"} }
	b.append("a.log", junk)
	b.start()
	b.step(time.Second)
	b.append("b.log", combinedLine(7, b.now))
	b.step(2 * time.Second)
	b.counted(1)
	if n := strings.Count(b.said.String(), "a.log: the format of the log is not known"); n != 1 {
		t.Errorf("said %d times: %s", n, b.said.String())
	}
	b.stop()

	b = newBench(t, "token:1/24h")
	b.names = []string{b.path("*.log")}
	b.change = func(o *Options) { o.From, o.Read.Format = follow.FromStart, detect.Choice{Format: "auto"} }
	b.append("a.log", junk)
	b.append("b.log", junk)
	b.start()
	if _, err := b.tail.Step(); err == nil || !strings.Contains(err.Error(), "b.log: the format of the log is not known") {
		t.Errorf("with no log that can be read it ended with %v", err)
	}
	b.kill()
}

// Of names that the shell has put in the place of a pattern those of compressed files are left out, and it is told.
func TestCompressedNames(t *testing.T) {
	b := newBench(t, "token:1/24h")
	for _, name := range []string{"access.log", "access.log.1", "access.log.2.gz"} {
		b.append(name, line(1, b.now))
		b.names = append(b.names, b.path(name))
	}
	b.names = b.names[1:]
	b.start()
	b.wantSaid("shadow: access.log.2.gz: is compressed, so that nothing is added to it; shadow replay reads it\n")
	b.append("access.log", line(1, b.now))
	b.rename("access.log.1", "access.log.2")
	b.rename("access.log", "access.log.1")
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
	b.wantSaid("")
}

// Of several logs, one of no known format does not stop the others.
func TestUnknownFormat(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.names = []string{b.path("*.log")}
	b.change = func(o *Options) { o.From, o.Read.Format = follow.FromStart, detect.Choice{Format: "auto"} }
	b.append("a.log", combinedLine(7, b.now))
	b.start()
	b.step(time.Second)
	b.append("b.log", strings.Repeat("this is no access log\n", 100))
	b.append("a.log", combinedLine(7, b.now))
	for range 5 {
		b.step(time.Second)
	}
	b.counted(2)
	if n := strings.Count(b.said.String(), "b.log"); n != 1 {
		t.Errorf("said %d times: %s", n, b.said.String())
	}
	b.stop()
}
