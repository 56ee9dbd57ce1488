package follow

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// asNobody does something without what root may do, on the thread of the test only.
func (b *bench) asNobody(do func()) {
	b.t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	for _, dir := range []string{b.folder, filepath.Dir(b.folder)} {
		check(b.t, os.Chmod(dir, 0o777))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(b.t, syscall.Setfsuid(65534))
	defer func() { check(b.t, syscall.Setfsuid(0)) }()
	do()
}

// A log that may not be read is told as such, when that changes as well; what was read of it is not read again.
func TestForbiddenLogIsTold(t *testing.T) {
	b := newBench(t)
	b.start()
	b.wantSaid("shadow: access.log: is not there yet; it is followed as soon as it is there\n")
	b.append("access.log", line(1, b.now))
	check(t, os.Chmod(b.path("access.log"), 0))
	b.asNobody(func() {
		for range 3 {
			b.step(time.Second)
		}
	})
	b.wantSaid("shadow: access.log: permission denied; it is followed as soon as shadow may read it\n")
	b.counted(0)
	check(t, os.Chmod(b.path("access.log"), 0o644))
	b.step(time.Second)
	b.wantSaid("shadow: access.log: is followed now\n")
	b.counted(1)
	b.stop()
}

// A directory that may not be looked into is told as such.
func TestForbiddenDirectoryIsTold(t *testing.T) {
	for _, name := range []string{"logs/access.log", "logs/*.log", "logs"} {
		b := newBench(t)
		b.names = []string{b.path(name)}
		check(t, os.Mkdir(b.path("logs"), 0o755))
		b.append("logs/access.log", "")
		check(t, os.Chmod(b.path("logs"), 0))
		b.asNobody(func() {
			b.start()
			for range 3 {
				b.step(time.Second)
			}
		})
		b.wantSaid("shadow: " + name + ": permission denied; it is followed as soon as shadow may read it\n")
		check(t, os.Chmod(b.path("logs"), 0o755))
		b.step(time.Second)
		b.wantSaid("shadow: " + name + ": is followed now\n")
		b.append("logs/access.log", line(1, b.now))
		b.step(time.Second)
		b.counted(1)
		b.stop()
	}
}

// A log that may not be read when the tail starts again is gone on with where it stopped, once it may be.
func TestForbiddenLogIsGoneOnWith(t *testing.T) {
	b := newBench(t)
	b.append("access.log", line(1, b.now))
	b.change = func(o *Options) { o.From = FromStart }
	b.start()
	b.change = nil
	b.step(time.Second)
	b.counted(1)
	b.kill()
	check(t, os.Chmod(b.path("access.log"), 0))
	b.append("access.log", line(1, b.now))
	for range 2 { // started, and started again
		b.asNobody(func() {
			b.start()
			b.step(time.Second)
		})
		b.wantSaid("shadow: access.log: permission denied; it is followed as soon as shadow may read it\n")
		b.kill()
	}
	b.asNobody(func() {
		b.start()
		b.step(10 * time.Second)
	})
	check(t, os.Chmod(b.path("access.log"), 0o644))
	b.step(time.Second)
	b.counted(2)
	b.stop()
}

// A named pipe that comes later is followed, and does not hold up the tail until it has a writer.
func TestPipeThatComesLater(t *testing.T) {
	b := newBench(t)
	b.start()
	check(t, syscall.Mkfifo(b.path("access.log"), 0o644))
	b.step(time.Second)
	writer, err := os.OpenFile(b.path("access.log"), os.O_WRONLY, 0)
	check(t, err)
	_, err = writer.WriteString(line(1, b.now))
	check(t, err)
	for range 100 {
		if b.step(time.Second); b.Lines == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.counted(1)
	check(t, writer.Close())
}
