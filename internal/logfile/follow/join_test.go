package follow

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"testing"
	"time"
)

// patterned returns a bench that follows a pattern from the end of what is there, with some files of a line each.
func patterned(t *testing.T, pattern string, files ...string) *bench {
	t.Helper()
	b := newBench(t)
	b.names = []string{b.path(pattern)}
	for i, name := range files {
		b.append(name, line(i, b.now))
		b.age(name, time.Duration(len(files)-i)*time.Hour)
	}
	return b
}

// age makes a file one that was written some time ago.
func (b *bench) age(name string, passed time.Duration) {
	b.t.Helper()
	at := b.now.Add(-passed)
	check(b.t, os.Chtimes(b.path(name), at, at))
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	check(b.t, os.Rename(b.path(from), b.path(to)))
}

// copy copies a file, as copytruncate does, and compresses it if it is to be.
func (b *bench) copy(from, to string, pack bool) {
	b.t.Helper()
	text, err := os.ReadFile(b.path(from))
	check(b.t, err)
	if pack {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err = z.Write(text)
		check(b.t, err)
		check(b.t, z.Close())
		text = packed.Bytes()
	}
	check(b.t, os.WriteFile(b.path(to), text, 0o644))
}

// fill writes so many lines that what a file begins with tells it from all others.
func (b *bench) fill(name string) (lines int64) {
	b.t.Helper()
	for range 100 {
		b.append(name, line(int(b.now.Unix()%200), b.now))
	}
	return 100
}

// Numbered logs that nothing else is the current one of are logs of their own; the logs of a worker each.
func TestNumberedLogsJoin(t *testing.T) {
	for _, pattern := range []string{"*.log", "access.*.log", ""} {
		b := patterned(t, pattern, "access.1.log", "access.2.log")
		b.names[0] = b.path(pattern)
		b.start()
		b.append("access.1.log", line(1, b.now))
		b.append("access.2.log", line(1, b.now))
		b.step(2 * time.Second)
		b.counted(2)
		b.append("access.3.log", line(1, b.now))
		b.step(2 * time.Second)
		b.counted(3)
		b.rename("access.1.log", "access.1.log.1")
		b.append("access.1.log", line(1, b.now))
		b.step(2 * time.Second)
		b.counted(4)
		b.stop()
		b.wantSaid("")
	}
}

// With a current log beside them they are its rotations: that is told once, and what is named is followed all the same.
func TestRotationsArePassedOver(t *testing.T) {
	passed := "*: 3 files are passed over, as what is left of access.log when that is rotated (access.1.log, access.2.log, access.log.1); name one to follow it nevertheless\n"
	b := patterned(t, "*", "access.2.log", "access.log.1", "access.1.log", "access.3.log.gz", "access.log")
	b.start()
	b.wantSaid("shadow: " + passed)
	b.append("access.1.log", line(1, b.now))
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(1)
	b.rename("access.2.log", "access.3.log")
	b.rename("access.1.log", "access.2.log")
	b.rename("access.log", "access.1.log")
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
	b.wantSaid("")

	b.state = nil
	b.names = []string{b.path("access.log"), b.path("access.2.log"), b.path("*")}
	b.start()
	b.append("access.2.log", line(1, b.now))
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.rename("access.2.log", "access.3.log")
	b.rename("access.1.log", "access.2.log")
	b.rename("access.log", "access.1.log")
	b.append("access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(3) // what is called access.2.log now was there at the beginning
	b.rename("access.2.log", "access.3.log")
	b.rename("access.1.log", "access.2.log") // this was read as access.log
	b.rename("access.log", "access.1.log")
	b.append("access.log", line(1, b.now))
	for range 3 {
		b.step(2 * linger)
	}
	b.counted(4)
	b.stop()
}

// A pattern that matches rotations only: they are such as long as their log is written to, whether it is followed or not.
func TestCurrentLogBesideThePattern(t *testing.T) {
	b := patterned(t, "access.*.log", "access.1.log", "access.20261120.log", "access.log")
	b.start()
	b.wantSaid("shadow: access.*.log: 2 files are passed over, as what is left of access.log when that is rotated (access.1.log, access.20261120.log); name one to follow it nevertheless\n" +
		"shadow: access.*.log: no log matches yet; those that come are followed\n")
	b.stop()
	b = patterned(t, "access.*.log", "access.log", "access.1.log", "access.20261120.log") // as a package has left it
	b.start()
	b.append("access.1.log", line(1, b.now))
	b.append("access.20261121.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
	b.wantSaid("")
}

// Numbers that are shifted at each rotation, with nothing that has none (java.util.logging): each file is read once.
func TestNumbersAreShifted(t *testing.T) {
	for _, kill := range []bool{false, true} {
		b := patterned(t, "*.log", "app.2.log", "app.1.log", "app.0.log")
		b.loses = kill // what is replaced between two looks; all that was in it has been read
		b.start()
		want := int64(0)
		for n := range 6 {
			b.append("app.0.log", line(1, b.now))
			b.step(2 * time.Second)
			want++
			b.counted(want)
			b.append("app.0.log", line(1, b.now)) // not read yet when it is renamed
			b.rename("app.1.log", "app.2.log")
			b.rename("app.0.log", "app.1.log")
			want += 1 + b.fill("app.0.log")
			if n%2 == 1 {
				b.restart(kill)
			}
			b.step(2 * time.Second)
			b.counted(want)
			if n == 3 {
				b.step(2 * linger)
				b.step(2 * linger)
			}
		}
		b.stop()
	}
}

// Names with a date are one log, of which the latest is followed and the next one begun (rotatelogs, Tomcat).
func TestDatedLog(t *testing.T) {
	for _, c := range []struct{ pattern, name string }{
		{"access.*.log", "access.%s.log"}, {"*", "access_log-%s"}, {"", "localhost_access_log.%s.txt"}, {"*.request.log", "%s.request.log"},
	} {
		for _, layout := range []string{"20060102", "2006-01-02", "2006_01_02"} {
			t.Run(c.name+layout, func(t *testing.T) { dated(t, c.pattern, c.name, layout) })
		}
	}
}

func dated(t *testing.T, pattern, name, layout string) {
	day := func(n int) string {
		return fmt.Sprintf(name, time.Date(2026, 11, 21+n, 0, 0, 0, 0, time.UTC).Format(layout))
	}
	b := patterned(t, pattern, day(-2), day(-1), day(0))
	b.names[0] = b.path(pattern)
	b.start()
	if n := len(b.set.logs); n != 1 {
		t.Fatalf("%d logs", n)
	}
	b.append(day(0), line(1, b.now))
	b.step(2 * time.Second)
	b.counted(1)
	want := 1 + b.fill(day(0))
	b.now = b.now.Add(24 * time.Hour)
	want += b.fill(day(1))
	b.append(day(0), line(2, b.now)) // by who has not noticed yet
	b.step(2 * time.Second)
	want++
	b.counted(want)
	b.copy(day(0), day(0)+".gz", true) // at night it is compressed
	check(t, os.Remove(b.path(day(0))))
	b.step(2 * linger)
	b.step(2 * linger)
	b.counted(want)
	b.kill() // and no tail looks for two days, of which one is compressed
	want += b.fill(day(1))
	b.now = b.now.Add(48 * time.Hour)
	want += b.fill(day(2))
	b.now = b.now.Add(time.Minute)
	want += b.fill(day(3))
	b.copy(day(1), day(1)+".gz", true)
	check(t, os.Remove(b.path(day(1))))
	b.start()
	b.step(2 * time.Second)
	b.counted(want)
	b.step(2 * linger)
	b.step(2 * linger)
	b.counted(want)
	if n := len(b.set.logs[0].files); n != 1 {
		t.Errorf("%d files are open", n)
	}
	b.stop()
	b.wantSaid("")
}

// From the start all files are read that the pattern matches, in their order, and no other.
func TestDatedLogFromStart(t *testing.T) {
	b := patterned(t, "access.202611*.log", "access.20261030.log", "access.20261119.log", "access.20261120.log", "access.20261121.log")
	b.copy("access.20261030.log", "access.20261118.log.gz", true)
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(2 * time.Second)
	b.counted(3)
	b.append("access.20261201.log", line(1, b.now))
	b.append("access.20261122.log", line(1, b.now))
	b.restart(true)
	b.step(2 * time.Second)
	b.counted(4)
	b.stop()
	b.wantSaid("")
}

// No server writes now under a date that is far ahead: the latest log is followed all the same.
func TestDateAhead(t *testing.T) {
	b := patterned(t, "access.*.log", "access.20261120.log", "access.20991231.log")
	b.start()
	b.append("access.20261120.log", line(1, b.now))
	b.append("access.20261121.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
	b.wantSaid("shadow: access.*.log: 1 file is passed over, as called after a day to come (access.20991231.log); name one to follow it nevertheless\n")
}

// Rotation with dates, beside a log that keeps its name: each line is read once, however it is rotated (logrotate's dateext,
// with and without extension; create and copytruncate; compressed at once or later).
func TestDatedRotations(t *testing.T) {
	for _, name := range []string{"access.log-2026112%d", "access-2026112%d.log"} {
		for _, pattern := range []string{"*", "*.log", ""} {
			for _, copied := range []bool{false, true} {
				for _, packed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s,%s,%t,%t", name, pattern, copied, packed), func(t *testing.T) { datedRotations(t, pattern, name, copied, packed) })
				}
			}
		}
	}
}

func datedRotations(t *testing.T, pattern, name string, copied, packed bool) {
	rotated := func(n int) string { return fmt.Sprintf(name, n) }
	b := patterned(t, pattern, rotated(0), "access.log")
	b.names[0] = b.path(pattern)
	b.start()
	b.heard() // what is there of earlier days may be passed over
	var want int64
	for n := range 6 {
		want += b.fill("access.log")
		if n%2 == 0 {
			b.step(2 * time.Second)
			b.counted(want)
			want += b.fill("access.log")
		}
		if down := n > 2; down {
			b.kill()
		}
		if copied {
			b.copy("access.log", rotated(n+1), false)
			check(t, os.Truncate(b.path("access.log"), 0))
		} else {
			b.rename("access.log", rotated(n+1))
			if n == 0 || n == 2 {
				b.step(2 * time.Second) // there may be none for a while
			}
			b.append("access.log", "")
		}
		if packed {
			if n == 1 {
				b.step(2 * time.Second)
			}
			b.copy(rotated(n+1), rotated(n+1)+".gz", true)
			check(t, os.Remove(b.path(rotated(n+1))))
		}
		b.now = b.now.Add(time.Second)
		want += b.fill("access.log")
		if n > 2 {
			b.start()
		}
		b.step(2 * time.Second)
		b.counted(want)
		if n == 1 {
			b.step(2 * linger)
			b.step(2 * linger)
			b.counted(want)
		}
	}
	b.stop()
}

// A tail that begins in the moment in which there is no current log takes a rotation for one, until the log is there.
func TestBegunInTheMidstOfRotation(t *testing.T) {
	for _, name := range []string{"access.log-20261121", "access-20261121.log", "access.1.log", "access.log.1"} {
		b := patterned(t, "access*", name)
		b.start()
		b.append(name, line(1, b.now)) // the server has not noticed yet
		b.step(2 * time.Second)
		b.counted(1)
		b.append(name, line(1, b.now))
		want := 2 + b.fill("access.log")
		b.step(2 * time.Second)
		b.counted(want)
		if n := b.set.Followed(); n != 1 {
			t.Errorf("%s: %d logs are followed", name, n)
		}
		check(t, os.Rename(b.path(name), b.path("access.log.2")))
		b.rename("access.log", name)
		want += b.fill("access.log")
		b.step(2 * time.Second)
		b.counted(want)
		b.restart(true)
		check(t, os.Rename(b.path(name), b.path("access.log.1")))
		b.rename("access.log", name)
		want += b.fill("access.log")
		b.step(2 * time.Second)
		b.step(2 * linger)
		b.step(2 * linger)
		b.counted(want)
		if n := b.set.Followed(); n != 1 {
			t.Errorf("%s: %d logs are followed after a restart", name, n)
		}
		for _, l := range b.set.logs {
			if l.over && len(l.files) > 0 {
				t.Errorf("%s: is over, and open", l.Name)
			}
		}
		b.stop()
	}
}

// Two names of one file: it is read once.
func TestTwoNamesOfOneFile(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now))
	check(t, os.Symlink(b.path("access.log"), b.path("link.log")))
	b.names = []string{b.path("link.log"), b.path("access.log")}
	b.start()
	for n := range 3 {
		b.append("access.log", line(1, b.now))
		b.step(2 * time.Second)
		b.rename("access.log", fmt.Sprintf("access.log.%d", 9-n))
		b.append("access.log", line(1, b.now))
		if n == 1 {
			b.restart(true)
		}
		b.step(2 * linger)
	}
	b.counted(6)
	b.stop()
}

// What else lies in a directory is told, and may be named.
func TestDirectory(t *testing.T) {
	b := newBench(t)
	check(t, os.Mkdir(b.path("logs"), 0o755))
	check(t, os.Mkdir(b.path("logs/old"), 0o755))
	for _, name := range []string{"access.log", "ssl.access.log", "error.log", "access.log.1", "README.md", "access.log.2.gz", ".access.log.swp", "old/access.log"} {
		b.append("logs/"+name, line(1, b.now))
	}
	b.names = []string{b.path("logs")}
	b.start()
	b.wantSaid("shadow: logs: 1 file is passed over, as what is left of access.log when that is rotated (access.log.1); name one to follow it nevertheless\n" +
		"shadow: logs: 2 files are passed over, as called like no access log (README.md, error.log); name one to follow it nevertheless\n")
	for _, name := range []string{"access.log", "ssl.access.log", "error.log", "access.log.1", "new.access.log", ".access.log.swp", "old/access.log"} {
		b.append("logs/"+name, line(1, b.now))
	}
	b.step(2 * time.Second)
	b.counted(3)
	b.restart(true)
	b.append("logs/access.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(4)
	b.stop()
}

// Files that begin alike are told apart as long as they are there.
func TestFilesThatBeginAlike(t *testing.T) {
	b := newBench(t)
	b.names = []string{b.path("access.*.log")}
	for _, day := range []string{"19", "20", "21"} {
		b.append("access.202611"+day+".log", line(1, b.now))
	}
	b.start()
	b.step(10 * time.Second)
	b.kill()
	b.append("access.20261121.log", line(2, b.now))
	b.copy("access.20261121.log", "access.20261121.log.gz", true)
	check(t, os.Remove(b.path("access.20261121.log")))
	b.append("access.20261122.log", line(3, b.now))
	b.start()
	b.step(2 * time.Second)
	b.counted(2)
	b.stop()
}
