package follow

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// away lets the tail forget a file that is not there: it waits long enough to close it, and perhaps begins again.
func (b *bench) away(restart bool) {
	b.t.Helper()
	for range 3 {
		b.step(2 * time.Hour)
	}
	if restart {
		b.restart(false)
		b.restart(true)
		b.step(time.Second)
	}
}

// A file that was closed and has the name again is gone on with where reading stopped.
func TestFileComesBack(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t)
		link := func(to string) {
			check(t, os.RemoveAll(b.path("access.log")))
			check(t, os.Symlink(b.path(to), b.path("access.log")))
		}
		b.append("blue.log", line(1, b.now)+line(2, b.now))
		link("blue.log")
		b.start()
		b.append("blue.log", line(3, b.now))
		b.step(time.Second)
		b.append("green.log", line(1, b.now))
		link("green.log")
		b.away(restart)
		b.counted(2)
		b.append("blue.log", line(4, b.now))
		link("blue.log")
		b.step(time.Second)
		b.counted(3)
		b.stop()

		b = newBench(t)
		b.append("access.log", line(1, b.now))
		b.start()
		b.append("access.log", line(2, b.now))
		b.step(time.Second)
		b.rename("access.log", "kept")
		b.step(time.Second)
		b.append("access.log", line(1, b.now))
		b.away(restart)
		b.counted(2)
		b.append("kept", line(3, b.now))
		b.rename("kept", "access.log")
		b.step(time.Second)
		b.counted(3)
		b.stop()
	}
}

// A file that is replaced by a copy of itself, as rsync does, is not read again.
func TestFileIsReplacedByItsCopy(t *testing.T) {
	b := newBench(t)
	b.start()
	want := b.fill("access.log")
	b.step(time.Second)
	for range 3 {
		b.copy("access.log", "copy", false)
		want += 1
		b.append("copy", line(1, b.now))
		b.rename("copy", "access.log")
		b.step(2 * linger)
		b.counted(want)
	}
	b.stop()
}

// What is renamed to something that the pattern matches is no log of its own, as long as its own log goes on.
func TestRenamedWithinThePattern(t *testing.T) {
	for _, to := range []string{"access-1.log", "old-access.log", "access.log.1", "20261121-access.log"} {
		for _, restart := range []bool{false, true} {
			b := newBench(t)
			b.names = []string{b.path("*.log*")}
			b.append("access.log", line(1, b.now)+line(2, b.now))
			b.change = func(o *Options) { o.From = FromStart }
			b.start()
			b.change = nil
			b.step(time.Second)
			b.rename("access.log", to)
			b.append("access.log", line(1, b.now))
			b.step(2 * time.Second)
			b.counted(3)
			b.away(restart)
			b.step(2 * time.Second)
			b.counted(3)
			if n := len(b.set.logs); n != 1 {
				t.Errorf("%s: %d logs", to, n)
			}
			b.stop()
		}
	}
}

// Where no other file takes the name, it is one in the end, and is gone on with.
func TestLogIsRenamed(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t)
		b.names = []string{b.path("*.log")}
		b.start()
		b.append("a.log", line(1, b.now)+line(2, b.now))
		b.step(2 * time.Second)
		b.rename("a.log", "b.log")
		b.step(10 * time.Minute)
		b.step(10 * time.Minute)
		b.append("b.log", line(1, b.now)) // by who was quiet for long
		b.step(time.Second)
		b.counted(3)
		b.away(restart)
		b.append("b.log", line(1, b.now))
		b.step(2 * time.Second)
		b.counted(4)
		if len(b.set.logs) != 1 || b.set.logs[0].Name != b.path("b.log") {
			t.Errorf("%d logs, the first %s", len(b.set.logs), b.set.logs[0].Name)
		}
		b.stop()
	}
}

// A log that is not there when the tail starts, as its disk is not mounted yet, is gone on with when it comes.
func TestLogComesLate(t *testing.T) {
	for _, name := range []string{"logs/access.log", "logs/*.log", "logs"} {
		b := newBench(t)
		b.names = []string{b.path(name)}
		b.loses = true // as long as it is not there
		check(t, os.Mkdir(b.path("logs"), 0o755))
		b.start()
		b.append("logs/access.log", line(1, b.now)+line(2, b.now))
		b.step(2 * time.Second)
		b.stop()
		b.rename("logs", "unmounted")
		check(t, os.Mkdir(b.path("logs"), 0o755))
		b.start()
		b.away(true)
		check(t, os.Remove(b.path("logs")))
		b.rename("unmounted", "logs")
		b.append("logs/access.log", line(3, b.now))
		b.step(2 * time.Second)
		b.counted(3)
		b.stop()
	}
}

// A file is the same whichever way its name is written.
func TestNamesAreTheSame(t *testing.T) {
	b := newBench(t)
	t.Chdir(b.folder)
	check(t, os.Mkdir("logs", 0o755))
	want := int64(0)
	for _, name := range []string{
		"logs/access.log", b.path("logs/access.log"), "./logs/access.log", "logs/*.log", b.path("logs/*.log"), "logs", b.path("logs") + "/", "./logs", "*/access.log",
	} {
		b.names = []string{name}
		b.start()
		want++
		b.append("logs/access.log", line(1, b.now))
		b.append("logs/access.log.1", "") // is no log of its own
		b.step(2 * time.Second)
		b.counted(want)
		if n := len(b.set.logs); n != 1 {
			t.Errorf("%s: %d logs", name, n)
		}
		b.stop()
	}
	b.names = []string{"logs/access.*.log"}
	b.age("logs/access.log", time.Minute) // so that the others are no rotations
	for _, day := range []string{"20261120", "20261121", "20261122"} {
		b.names = append(b.names[:0], map[bool]string{true: "logs/access.2026*.log", false: b.path("logs/access.*.log")}[want%2 == 0])
		b.start()
		want++
		b.append("logs/access."+day+".log", line(1, b.now))
		b.step(2 * time.Second)
		b.counted(want)
		b.stop()
	}
	if said := b.said.String(); strings.Contains(said, "series") || strings.Count(said, "followed no longer") != 1 {
		t.Error(said)
	}
}

// A log that has lost its end, as by a power failure, goes on at its present end; one that begins again is read from its beginning.
func TestLogIsCut(t *testing.T) {
	for _, down := range []bool{false, true} {
		b := newBench(t)
		b.start()
		want := b.fill("access.log")
		b.step(time.Second)
		if down {
			b.stop()
		}
		b.heard()
		info, err := os.Stat(b.path("access.log"))
		check(t, err)
		check(t, os.Truncate(b.path("access.log"), 5000))
		if down {
			b.start()
		}
		b.step(time.Second)
		b.wantSaid(fmt.Sprintf("shadow: access.log: has 5000 bytes, and %d were read before: it was cut, and is read from its present end on\n", info.Size()))
		b.append("access.log", line(1, b.now))
		b.step(time.Second)
		b.counted(want + 1)
		b.stop()
		if n := b.Unreadable; n != 0 {
			t.Errorf("%d unreadable", n)
		}
	}
}

// Logs may begin with the same lines whenever they are truncated; they are read from their beginning then.
func TestLogBeginsAlike(t *testing.T) {
	const title = "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n"
	for _, down := range []bool{false, true} {
		b := newBench(t)
		b.loses = true // who truncates without a copy may have lost something
		b.start()
		b.append("access.log", title)
		b.step(time.Second)
		b.append("access.log", line(1, b.now)+line(2, b.now)+line(3, b.now))
		b.step(time.Second)
		if down {
			b.stop()
		}
		check(t, os.Truncate(b.path("access.log"), 0))
		b.append("access.log", title+line(1, b.now)+line(4, b.now))
		if down {
			b.start()
		}
		b.step(time.Second)
		b.counted(9)
		b.stop()
	}
}

// Between two looks a log may be copied and truncated more than once.
func TestCopyTruncateTwice(t *testing.T) {
	for _, pack := range []bool{false, true} {
		for _, short := range []bool{false, true} {
			b := newBench(t)
			b.append("access.log", line(9, b.now))
			b.start()
			want := int64(0)
			write := func() {
				if want++; !short {
					want += b.fill("access.log")
				}
				b.append("access.log", line(int(want%200), b.now))
				b.now = b.now.Add(100 * time.Millisecond)
			}
			write()
			b.step(time.Second)
			for n := range 3 {
				write()
				to := fmt.Sprintf("access.log.%d", 9-n)
				if pack && n < 2 {
					to += ".gz"
				}
				b.copy("access.log", to, pack && n < 2)
				check(t, os.Truncate(b.path("access.log"), 0))
			}
			write()
			b.step(time.Hour)
			b.step(time.Second)
			b.counted(want)
			b.restart(true)
			b.step(time.Second)
			b.counted(want)
			b.stop()
		}
	}
}

// A file that lost its name after a long quiet may still be written to for a while.
func TestQuietLogIsRotated(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now))
	b.start()
	b.step(time.Hour)
	b.rename("access.log", "access.log.1")
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.append("access.log.1", line(2, b.now)) // by a worker that has not noticed
	b.step(time.Second)
	b.counted(2)
	b.stop()
}

// Closed files are kept in mind up to a bound, the latest of them, each once.
func TestKeepInMind(t *testing.T) {
	var files []logfile.SavedFile
	for n := range 10 {
		f := logfile.SavedFile{Identity: logfile.Identity{Node: logfile.Node{Inode: uint64(n % 5)}, HeadBytes: n % 5}, Place: logfile.Place{Offset: int64(n)}}
		files = keepInMind(files, f, 3)
	}
	if got := fmt.Sprint(files[0].Offset, files[1].Offset, files[2].Offset); len(files) != 3 || got != "7 8 9" {
		t.Errorf("%v", files)
	}
}

// A copy that was made of a log while that was short is no part of it, whatever becomes of the log.
func TestCopyOfAShortLog(t *testing.T) {
	for _, truncate := range []bool{false, true} {
		b := newBench(t)
		b.append("access.log", "")
		b.start()
		b.append("access.log", line(1, b.now)+line(2, b.now))
		b.step(time.Second)
		b.copy("access.log", "access.log.bak", false)
		b.age("access.log.bak", time.Minute)
		b.append("access.log", line(3, b.now))
		b.step(time.Second)
		if truncate {
			check(t, os.Truncate(b.path("access.log"), 0))
		} else {
			b.rename("access.log", "access.log.1")
		}
		b.step(time.Second)
		b.append("access.log", line(4, b.now))
		b.step(time.Second)
		b.counted(4)
		b.stop()
	}
}

// A file that was known beside the log is not what the log was, though both begin with the same title: after a restart reading
// does not go on in it.
func TestKnownFileBeginsAlike(t *testing.T) {
	const title = "#Software: Microsoft Internet Information Services 10.0\n"
	b := newBench(t)
	b.append("access.log.1", title+strings.Repeat(line(1, b.now), 10))
	b.append("access.log", title)
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(1)
	b.stop()
	b.append("access.log", line(3, b.now)+line(4, b.now)+line(5, b.now))
	b.rename("access.log.1", "access.log.2")
	b.copy("access.log", "access.log.1.gz", true)
	check(t, os.Mkdir(b.path("away"), 0o755))
	b.rename("access.log", "away/access.log") // else its inode may be given to the next one
	b.append("access.log", title+line(6, b.now))
	b.start()
	b.step(time.Second)
	b.counted(6)
	b.stop()
	if strings.Contains(b.said.String(), "gone") {
		t.Error(b.said.String())
	}
}
