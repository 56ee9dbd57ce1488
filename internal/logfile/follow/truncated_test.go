package follow

import (
	"os"
	"strings"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// What happens between two system calls of a look at copytruncate. Tests stop the look there and go on by hand.

// following starts a tail that has read one line, and returns its log.
func (b *bench) following() *Log {
	b.t.Helper()
	b.append("access.log", line(9, b.now))
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(1)
	return b.set.logs[0]
}

// What a copy holds behind the place is read, though more was learned of the log before that was truncated.
func TestCopyIsShorterThanWhatIsKnown(t *testing.T) {
	for _, down := range []bool{false, true} {
		for _, pack := range []bool{false, true} {
			b := newBench(t)
			l := b.following()
			b.append("access.log", line(1, b.now)+line(2, b.now))
			to := map[bool]string{false: "access.log.1", true: "access.log.1.gz"}[pack]
			b.copy("access.log", to, pack)
			b.append("access.log", line(3, b.now)) // in no file
			check(t, l.files[0].(*plain).refresh())
			if down {
				b.save()
				b.kill()
			}
			check(t, os.Truncate(b.path("access.log"), 0))
			b.append("access.log", line(4, b.now))
			if down {
				b.start()
			}
			b.step(time.Second)
			b.step(time.Second)
			b.counted(4)
			if n := b.tally.Cut; n != 1 {
				t.Errorf("down %v, packed %v: %d truncations were counted", down, pack, n)
			}
			b.saidOnce("was truncated; what was written to it between copying and truncating is lost")
			b.stop()
		}
	}
}

// The place in a log that was truncated is kept in mind until its copy has been opened.
func TestCopyIsRenamedBeforeItIsOpened(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.append("access.log", line(1, b.now))
	b.copy("access.log", "access.log.1", false)
	r, _ := logfile.SiblingAt(b.path("access.log.1"))
	check(t, os.Truncate(b.path("access.log"), 0))
	f := l.files[0].(*plain)
	l.formers = []logfile.SavedFile{f.saved()}
	f.renew()
	check(t, os.Rename(b.path("access.log.1"), b.path("access.log.2")))
	if g := (&gatherer{Log: l, live: f}); g.decide(&r) || !g.again {
		t.Error("what was not opened is not looked for again")
	}
	l.pending = true
	b.step(time.Second)
	b.counted(2)
	b.stop()
}

// So it is across a restart.
func TestKilledBeforeTheCopyIsOpened(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.append("access.log", line(1, b.now))
	b.copy("access.log", "access.log.1", false)
	check(t, os.Truncate(b.path("access.log"), 0))
	f := l.files[0].(*plain)
	l.formers, l.pending = []logfile.SavedFile{f.saved()}, true
	f.renew()
	b.save()
	b.kill()
	b.start()
	b.append("access.log", line(2, b.now))
	b.step(time.Second)
	b.counted(3)
	b.stop()
}

// A log that was empty when a look began, and was filled and copied before the look came to the copy, is read once.
func TestFilledAndCopiedWithinALook(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.copy("access.log", "access.log.1", false)
	check(t, os.Truncate(b.path("access.log"), 0))
	b.step(time.Second)
	f := l.files[len(l.files)-1].(*plain)
	b.append("access.log", line(1, b.now))
	b.copy("access.log", "access.log.0", false)
	r, _ := logfile.SiblingAt(b.path("access.log.0"))
	g := &gatherer{Log: l, live: f}
	if g.decide(&r); len(g.found) > 0 {
		t.Error("a copy of the log is read, and the log as well")
	}
	b.step(time.Second)
	b.counted(2)
	b.stop()
}

// That there is no copy of a log is told when all that lies beside it has been looked at.
func TestTruncatedWithoutCopyIsTold(t *testing.T) {
	b := newBench(t)
	b.loses = true
	b.following()
	check(t, os.Truncate(b.path("access.log"), 0))
	b.append("access.log", line(1, b.now)[:20])
	b.step(time.Second)
	b.saidOnce("was truncated, and no copy of it is found; what was written to it behind byte 62 is lost")
	b.append("access.log", line(1, b.now)[20:])
	b.step(time.Second)
	b.counted(2)
	b.stop()
}

// A log that was empty when a tail ended, and was filled, copied and truncated until it starts again, was truncated.
func TestTruncatedWhileAway(t *testing.T) {
	b := newBench(t)
	b.following()
	b.copy("access.log", "access.log.1", false)
	check(t, os.Truncate(b.path("access.log"), 0))
	b.step(time.Second)
	b.save()
	b.kill()
	before := b.said.Len()
	b.append("access.log", line(1, b.now)+line(2, b.now))
	b.copy("access.log", "access.log.0", false)
	check(t, os.Truncate(b.path("access.log"), 0))
	b.start()
	b.step(time.Second)
	b.counted(3)
	b.said.Next(before)
	b.saidOnce("was truncated")
	b.stop()
}

// A copy that was empty when it was listed, and is not when it is opened, is looked at again: the log may be in it.
func TestCopyIsFilledBeforeItIsOpened(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.append("access.log.1", "")
	r, _ := logfile.SiblingAt(b.path("access.log.1"))
	b.copy("access.log", "access.log.1", false)
	if g := (&gatherer{Log: l, live: l.files[0]}); g.decide(&r) || len(g.found) > 0 {
		t.Error("a copy of the log is read, and the log as well")
	}
	b.stop()
}

// A log that was truncated and filled since the look began, and copied, is read once.
func TestFilledAgainAndCopiedWithinALook(t *testing.T) {
	b := newBench(t)
	l := b.following()
	check(t, os.Truncate(b.path("access.log"), 0))
	b.append("access.log", line(1, b.now))
	b.copy("access.log", "access.log.1", false)
	r, _ := logfile.SiblingAt(b.path("access.log.1"))
	if g := (&gatherer{Log: l, live: l.files[0]}); g.decide(&r) || len(g.found) > 0 || !g.again {
		t.Error("a copy of the log is read, and the log as well")
	}
	b.stop()
}

// A file of the checkpoint that has grown since it was renamed, and was compressed, is gone on with, though it was known.
func TestCompressedFileIsGoneOnWith(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.fill("access.log")
	b.step(time.Second)
	read := b.Lines
	was := l.files[0].saved()
	check(t, os.Rename(b.path("access.log"), b.path("access.log.1")))
	b.append("access.log.1", line(2, b.now))
	b.copy("access.log.1", "access.log.1.gz", true)
	check(t, os.Remove(b.path("access.log.1")))
	r, _ := logfile.SiblingAt(b.path("access.log.1.gz"))
	l.shut(0)
	l.missing, l.known = []logfile.SavedFile{was}, []logfile.Identity{was.Identity}
	g := &gatherer{Log: l}
	if !g.decide(&r) || len(g.found) != 1 {
		t.Fatal("the compressed file is not gone on with")
	}
	l.insert(g.found...)
	l.lost = true
	b.step(time.Second)
	b.counted(read + 1)
	b.stop()
}

// A log that is truncated again and again is told once a minute, and counted each time.
func TestTruncationIsToldOnceAMinute(t *testing.T) {
	b := newBench(t)
	l := b.following()
	b.heard()
	for _, c := range []struct {
		passed time.Duration
		told   int
	}{{0, 1}, {30 * time.Second, 0}, {20 * time.Second, 0}, {10 * time.Second, 1}, {time.Second, 0}} {
		b.now = b.now.Add(c.passed)
		l.tellTruncated()
		if said := b.heard(); strings.Count(said, "was truncated") != c.told {
			t.Errorf("after %v: %q", c.passed, said)
		}
	}
	if n := b.tally.Cut; n != 5 {
		t.Errorf("%d are counted", n)
	}
	b.stop()
}

// A new log that gets the inode of the one before, which was compressed between two looks, was not truncated.
func TestInodeIsGivenToTheNextLog(t *testing.T) {
	for range 20 {
		b := newBench(t)
		b.following()
		b.stop()
		before, err := os.Stat(b.path("access.log"))
		check(t, err)
		b.copy("access.log", "access.log.1.gz", true)
		check(t, os.Remove(b.path("access.log")))
		b.append("access.log", line(1, b.now))
		after, err := os.Stat(b.path("access.log"))
		check(t, err)
		b.start()
		b.step(time.Second)
		b.counted(2)
		if said := b.heard(); said != "" || b.Cut > 0 {
			t.Errorf("it was said: %s", said)
		}
		b.stop()
		if logfile.NodeOf(before) == logfile.NodeOf(after) {
			return
		}
	}
	t.Skip("this file system gives no inode again")
}

// A log that was truncated, begins as before and has grown beyond its old length is read from its start, and told to have lost
// what no copy has: while no tail ran, and while it stood still.
func TestTruncatedAndGrownBeyond(t *testing.T) {
	for _, down := range []bool{false, true} {
		b := newBench(t)
		head := strings.Repeat(line(7, b.now), 100)
		b.append("access.log", head+strings.Repeat(line(8, b.now), 50))
		b.change = func(o *Options) { o.From = FromStart }
		b.start()
		b.change = nil
		b.step(time.Second)
		b.counted(150)
		if down {
			b.save()
			b.kill()
		}
		check(t, os.Truncate(b.path("access.log"), 0))
		b.append("access.log", head+strings.Repeat(line(9, b.now), 80))
		if down {
			b.start()
		}
		b.loses = true
		b.step(time.Second)
		b.step(time.Second)
		b.counted(150 + 180)
		b.saidOnce("was truncated, and no copy of it is found")
		if b.Cut != 1 || b.losses != 1 {
			t.Errorf("down %v: %d truncations and %d losses are counted", down, b.Cut, b.losses)
		}
		b.append("access.log", line(1, b.now))
		b.step(time.Second)
		b.counted(331)
		b.stop()
	}
}

// Where rotated files stand beside a log that was truncated, one of them may be its copy: that none is found is said, and is no
// loss that a tail ends with.
func TestTruncatedBesideRotatedFiles(t *testing.T) {
	b := newBench(t)
	b.following()
	b.append("access.log", strings.Repeat(line(7, b.now), 100))
	b.step(time.Second)
	b.append("access.log.1", line(1, b.now.Add(-time.Hour)))
	b.step(time.Second)
	check(t, os.Truncate(b.path("access.log"), 0))
	b.append("access.log", strings.Repeat(line(8, b.now), 120))
	b.step(time.Second)
	b.step(time.Second)
	b.saidOnce("was truncated, and no copy of it is found")
	if b.Cut != 1 || b.losses != 0 {
		t.Errorf("%d truncations and %d losses are counted", b.Cut, b.losses)
	}
	b.stop()
}

// What is only added to a log never makes it another one, wherever reading stopped: inside a line, in one that is too long, at
// the end of a file that was cut.
func TestGrownLogStands(t *testing.T) {
	b := newBench(t)
	b.following()
	for i := range 40 {
		text := line(i%9, b.now)
		switch i % 4 {
		case 1:
			text = text[:20+i]
		case 2:
			text = strings.Repeat("x", logfile.MaxLine+i) + "\n"
		}
		b.append("access.log", text)
		b.step(time.Second)
		if i%5 == 0 {
			b.restart(i%2 == 0)
		}
	}
	if b.Cut > 0 || b.losses > 0 {
		t.Errorf("%d truncations and %d losses are counted", b.Cut, b.losses)
	}
	b.stop()
}
