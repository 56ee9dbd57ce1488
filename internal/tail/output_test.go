package tail

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/internal/logfile"
	"shadow/internal/logfile/follow"
	"shadow/internal/traffic/ingest"
)

// A small disk has room for so many bytes.
type smallDisk struct {
	file *os.File
	room int
}

func (d *smallDisk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p[:min(len(p), d.room)])
	if d.room -= n; err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Path: d.file.Name(), Err: syscall.ENOSPC}
	}
	return n, err
}

// While the disk of the would-blocks is full nothing is read, which is said once, and the file has whole lines; then they
// go on, in whatever file there is by then, and none is missing or told twice, also when the tail was killed meanwhile.
func TestWouldBlocksOnAFullDisk(t *testing.T) {
	for _, then := range []string{"room", "rotation", "killed"} {
		t.Run(then, func(t *testing.T) {
			r := seeded(t, 7)
			b := newBench(t, "token:1/10s", "window:2/10s")
			b.start()
			for range 20 {
				disk := &smallDisk{b.tail.out.file, r.IntN(3000)}
				b.tail.out.to = disk
				for range 40 {
					b.append("access.log", line(r.IntN(4), b.now))
					b.step(time.Second)
				}
				read := b.tail.Tally().Lines
				b.append("access.log", line(1, b.now))
				b.step(time.Second)
				if bytes, _ := b.tail.Lag(b.now); b.tail.Tally().Lines != read || bytes == 0 {
					t.Fatalf("the disk is full, and it goes on reading: %d lines, %d bytes behind", b.tail.Tally().Lines-read, bytes)
				}
				if told := b.told(); told != "" && !strings.HasSuffix(told, "}\n") {
					t.Fatalf("the file ends in %q", told[max(0, len(told)-40):])
				}
				switch disk.room = 1 << 30; then {
				case "rotation":
					disk.room = 0
					shiftOutput(b)
					check(t, b.tail.Reopen())
				case "killed":
					b.kill()
					b.start()
				}
				b.step(time.Second)
			}
			b.step(10 * time.Second)
			b.stop()
			told := ""
			for n := 20; n > 0; n-- {
				text, _ := os.ReadFile(b.path(fmt.Sprintf("would-blocks.%d", n)))
				told += string(text)
			}
			if want, _ := b.replayed(b.whole.Bytes()); told+b.told() != want {
				t.Errorf("the tail tells otherwise than the replay, first at\n%s", firstDifference(told+b.told(), want))
			}
			if n := strings.Count(b.said.String(), "nothing more is read"); n != 20 {
				t.Errorf("said %d times in 20 rounds: %s", n, b.said.String())
			}
		})
	}
}

// A moody disk has room every other time.
type moodyDisk struct {
	*os.File
	full bool
}

func (d *moodyDisk) Write(p []byte) (int, error) {
	if d.full = !d.full; d.full {
		return 0, syscall.ENOSPC
	}
	return d.File.Write(p)
}

// What waits in the end is judged, though there was no room in between; where there is none at all, that is an error.
func TestEndOnAFullDisk(t *testing.T) {
	for _, full := range []bool{false, true} {
		b := newBench(t, "token:1/24h")
		b.read = func(o *ingest.Options) { o.Batch = 1000 }
		b.change = func(o *Options) { o.State, o.From = "", follow.FromStart }
		for i := range 10_000 {
			b.append("access.log", line(1, b.now.Add(time.Duration(i/10)*time.Millisecond)))
		}
		b.start()
		b.step(time.Second)
		b.tail.out.to = &moodyDisk{File: b.tail.out.file}
		if full {
			b.tail.out.to = &smallDisk{b.tail.out.file, 1000}
		}
		err := b.tail.Finish()
		if full && !errors.Is(err, syscall.ENOSPC) || !full && err != nil {
			t.Errorf("it ends with %v", err)
		}
		if n := strings.Count(b.told(), "\n"); !full && n != 9999 {
			t.Errorf("%d would-blocks, want 9999", n)
		}
	}
}

// shiftOutput rotates the would-blocks.
func shiftOutput(b *bench) {
	for n := 20; n >= 0; n-- {
		from := b.path(strings.TrimSuffix(fmt.Sprintf("would-blocks.%d", n), ".0"))
		if exists(from) {
			check(b.t, os.Rename(from, b.path(fmt.Sprintf("would-blocks.%d", n+1))))
		}
	}
}

// killedBehind has a tail that is killed after it has told some would-blocks of which its checkpoint knows nothing yet.
func killedBehind(b *bench) {
	b.change = func(o *Options) { o.Save = time.Hour }
	b.start()
	b.append("access.log", strings.Repeat(line(1, b.now), 4))
	b.step(time.Second)
	b.step(10 * time.Second)
	b.stop()
	b.start()
	b.append("access.log", strings.Repeat(line(2, b.now), 4))
	b.step(time.Second)
	b.step(10 * time.Second)
	if n := strings.Count(b.told(), "\n"); n != 6 {
		b.t.Fatalf("%d would-blocks, want 6", n)
	}
	b.kill()
}

// What a killed tail had told behind its checkpoint is told once, wherever its file is by then.
func TestCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(b *bench)
		meant   func(b *bench)
		files   []string // where it is told
	}{
		"as it was": {nil, func(*bench) {}, []string{"would-blocks"}},
		"renamed": {nil, func(b *bench) {
			check(b.t, os.Rename(b.path("would-blocks"), b.path("would-blocks.1")))
		}, []string{"would-blocks.1", "would-blocks"}},
		"copied and truncated": {nil, func(b *bench) {
			check(b.t, os.WriteFile(b.path("would-blocks.1"), []byte(b.told()), 0o600))
			check(b.t, os.Truncate(b.path("would-blocks"), 0))
		}, []string{"would-blocks.1", "would-blocks"}},
		"a link": {func(b *bench) {
			check(b.t, os.Mkdir(b.path("elsewhere"), 0o755))
			check(b.t, os.Symlink(b.path("elsewhere/told"), b.path("would-blocks")))
		}, func(*bench) {}, []string{"would-blocks"}},
		"a link to what is renamed": {func(b *bench) {
			check(b.t, os.Mkdir(b.path("elsewhere"), 0o755))
			check(b.t, os.Symlink(b.path("elsewhere/told"), b.path("would-blocks")))
		}, func(b *bench) {
			check(b.t, os.Rename(b.path("elsewhere/told"), b.path("elsewhere/told.1")))
		}, []string{"elsewhere/told.1", "would-blocks"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "token:1/24h")
			if c.prepare != nil {
				c.prepare(b)
			}
			killedBehind(b)
			c.meant(b)
			b.start()
			b.step(time.Second)
			b.step(10 * time.Second)
			b.stop()
			told := ""
			for _, name := range c.files {
				text, err := os.ReadFile(b.path(name))
				check(t, err)
				told += string(text)
			}
			if want, _ := b.replayed(b.whole.Bytes()); told != want {
				t.Errorf("told\n%swant\n%s", told, want)
			}
		})
	}
}

// What was told behind a checkpoint that knew of nothing yet is cut off as well.
func TestCutOffToNothing(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.change = func(o *Options) { o.Save = time.Hour }
	b.start()
	for range 2 {
		b.append("access.log", strings.Repeat(line(1, b.now), 4))
		b.step(time.Second)
		b.step(10 * time.Second)
		b.kill()
		b.start()
	}
	b.step(time.Second)
	b.step(10 * time.Second)
	b.stop()
	if want, _ := b.replayed(b.whole.Bytes()); b.told() != want {
		t.Errorf("told\n%swant\n%s", b.told(), want)
	}
}

// An inode is given to another file as soon as its own is deleted: nothing of that may be cut off.
func TestCutOffSparesOthers(t *testing.T) {
	b := newBench(t, "token:1/24h")
	killedBehind(b)
	check(t, os.Remove(b.path("would-blocks")))
	precious := strings.Repeat("precious\n", 1000)
	names := []string{"would-blocks.1", "would-blocks-20261120"}
	for i := range 20 {
		names = append(names, fmt.Sprintf("error%d.log", i))
	}
	for _, first := range names { // each may be the one that gets the inode
		check(t, os.WriteFile(b.path(first), []byte(precious), 0o600))
	}
	c, err := ReadCheckpoint(b.path("state"))
	check(t, err)
	for _, name := range names { // and each in turn has, as far as the checkpoint knows
		info, err := os.Stat(b.path(name))
		check(t, err)
		c.Output.Node = logfile.NodeOf(info)
		_, err = cutOff(b.path("would-blocks"), c.Output)
		check(t, err)
	}
	for _, name := range names {
		if text, err := os.ReadFile(b.path(name)); err != nil || string(text) != precious {
			t.Errorf("%s has %d bytes, %v", name, len(text), err)
		}
	}
}
