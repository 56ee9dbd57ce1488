package follow

import (
	"os"
	"testing"
	"time"
)

// What is copied within a directory that is followed counts once, whatever the copy is called; what is added to it counts.
func TestCopyJoins(t *testing.T) {
	for _, name := range []string{"access-backup.log", "access.log.save", "old-access.log"} {
		b := patterned(t, "", "access.log")
		b.names[0] = b.folder
		want := 1 + b.fill("access.log")
		b.change = func(o *Options) { o.From = FromStart }
		b.start()
		b.step(2 * time.Second)
		text, err := os.ReadFile(b.path("access.log"))
		check(t, err)
		for len(text) > 0 { // it takes a while
			n := min(len(text), 1500)
			b.append(name, string(text[:n]))
			text = text[n:]
			b.step(2 * time.Second)
			b.counted(want)
		}
		b.saidOnce(b.path(name) + ": is a copy of " + b.path("access.log") + "; only what is added to it counts")
		b.append(name, line(1, b.now))
		b.append("access.log", line(2, b.now)+line(3, b.now))
		b.step(2 * time.Second)
		b.counted(want + 3)
		b.stop()
	}
}

// A log may be copied and truncated as no rotation does it: what was not read yet is read from the copy.
func TestCopyJoinsBeforeTruncation(t *testing.T) {
	b := patterned(t, "", "access.log")
	b.names[0], b.loses = b.folder, true // as it is no rotation's
	want := 1 + b.fill("access.log")
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.step(2 * time.Second)
	b.append("access.log", line(1, b.now))
	b.copy("access.log", "kept.log", false)
	b.now = b.now.Add(2 * time.Second)
	b.set.Look() // takes it in before the line is read
	if l := b.set.logNamed(b.path("kept.log")); l.Next(&b.block) {
		t.Errorf("%q was read", b.block.Data)
	}
	check(t, os.Truncate(b.path("access.log"), 0))
	b.append("access.log", line(2, b.now))
	b.step(2 * time.Second)
	b.counted(want + 2)
	b.stop()
}

// So it is when the copy joins after that, and with a copy of a file that was closed.
func TestCopyJoinsAfterwards(t *testing.T) {
	for _, rotated := range []bool{false, true} {
		b := patterned(t, "", "access.log")
		b.names[0], b.loses = b.folder, true
		want := 1 + b.fill("access.log")
		b.change = func(o *Options) { o.From = FromStart }
		b.start()
		b.step(2 * time.Second)
		if rotated {
			b.rename("access.log", "access.log.1")
			b.append("access.log", line(1, b.now))
			b.step(2 * time.Second)
			b.step(2 * linger)
			b.copy("access.log.1", "kept.log", false)
		} else {
			b.append("access.log", line(1, b.now))
			b.copy("access.log", "kept.log", false)
			check(t, os.Truncate(b.path("access.log"), 0))
		}
		for range 3 {
			b.step(2 * time.Second)
		}
		b.counted(want + 1)
		b.stop()
	}
}

// Two logs that begin alike are two.
func TestLogsThatJoinBeginAlike(t *testing.T) {
	b := patterned(t, "", "access.log")
	b.names[0] = b.folder
	b.append("access.log", line(1, b.now)+line(2, b.now)+line(3, b.now))
	b.start()
	b.append("other.log", line(0, b.now)+line(1, b.now))
	b.step(2 * time.Second)
	b.counted(2)
	b.append("other.log", line(3, b.now))
	b.step(2 * time.Second)
	b.counted(3)
	b.saidOnce(b.path("other.log") + ": begins as " + b.path("access.log") + " does, and is too short to prove a copy; its lines count")
	b.stop()
}
