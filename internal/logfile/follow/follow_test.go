package follow

import (
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// A link that leads from one dated log to the next, and back.
func TestLinkIsSwapped(t *testing.T) {
	b := newBench(t)
	link := func(to string) {
		t.Helper()
		check(t, os.RemoveAll(b.path("access.log")))
		check(t, os.Symlink(b.path(to), b.path("access.log")))
	}
	b.append("log.20261120", line(1, b.now))
	link("log.20261120")
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(1)
	b.append("log.20261121", line(1, b.now)+line(2, b.now))
	link("log.20261121")
	b.step(time.Second)
	b.counted(3)
	b.append("log.20261120", line(3, b.now)) // written by a server that has not noticed
	b.step(time.Second)
	b.counted(4)
	b.kill()
	b.append("log.20261121", line(3, b.now))
	b.append("log.20261122", line(3, b.now)) // came and went between two looks
	b.append("log.20261123", line(4, b.now))
	link("log.20261123")
	b.start()
	b.step(time.Second)
	b.counted(7)
	link("log.20261121")
	b.append("log.20261121", line(3, b.now))
	b.step(time.Second)
	b.counted(8)
	b.stop()
}

// A file that is not there yet, is deleted, and comes again.
func TestFileComesAndGoes(t *testing.T) {
	b := newBench(t)
	b.start() // from the end of what is there: nothing
	b.step(time.Second)
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.counted(1)
	check(t, os.Remove(b.path("access.log")))
	b.step(time.Second)
	b.append("access.log", line(1, b.now)+line(1, b.now))
	b.step(time.Second)
	b.counted(3)
	b.loses = true // there is no copy
	check(t, os.Truncate(b.path("access.log"), 0))
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.counted(4)
	b.stop()
}

// Reading from the end begins with the next line, not with the rest of one.
func TestFromEnd(t *testing.T) {
	b := newBench(t)
	begun := line(1, b.now)
	b.append("access.log", line(1, b.now)+begun[:20])
	b.change = func(o *Options) { o.From = FromEnd }
	b.start()
	b.step(time.Second)
	b.append("access.log", begun[20:]+line(1, b.now))
	b.step(time.Second)
	b.counted(1)
	if n := b.Unreadable; n != 0 {
		t.Errorf("%d unreadable", n)
	}
	b.stop()
}

// A pattern: new files join, rotated and compressed ones do not.
func TestGlob(t *testing.T) {
	b := newBench(t)
	b.names = []string{b.path("*.log*")}
	b.append("a.log", line(1, b.now))
	b.append("b.log", line(1, b.now))
	b.append("a.log.1", line(1, b.now)+line(1, b.now))
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(2)
	b.append("c.log", line(1, b.now))
	check(t, os.Rename(b.path("a.log"), b.path("a.log.2")))
	b.append("a.log.2", line(1, b.now))
	b.append("a.log", line(1, b.now))
	b.step(2 * time.Second)
	b.counted(5)
	b.kill()
	b.append("d.log", line(1, b.now))
	b.append("b.log", line(1, b.now))
	b.start()
	b.step(2 * time.Second)
	b.counted(7)
	b.stop()
}

// A line longer than a megabyte is one unreadable line, however it comes.
func TestLongLine(t *testing.T) {
	b := newBench(t)
	b.start()
	long := strings.Repeat("x", 3*logfile.MaxLine/2)
	b.append("access.log", line(1, b.now)+long[:logfile.MaxLine+10])
	b.step(time.Second)
	b.counted(2)
	b.kill()
	b.start()
	b.step(time.Second)
	b.append("access.log", long[logfile.MaxLine+10:]+"\n"+strings.Repeat("y", 600<<10)+"\n"+line(1, b.now))
	b.step(time.Second)
	b.counted(4)
	if n := b.Unreadable; n != 2 {
		t.Errorf("%d unreadable, want 2", n)
	}
	b.stop()
}
