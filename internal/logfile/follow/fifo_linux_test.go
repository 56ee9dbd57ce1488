package follow

import (
	"os"
	"syscall"
	"testing"
	"time"

	"shadow/internal/logfile"
)

// inTime fails the test unless something is done within seconds: opening a named pipe may take forever.
func inTime(t *testing.T, do func()) {
	t.Helper()
	stuck := time.AfterFunc(20*time.Second, func() { panic("the tail waits for a pipe") })
	do()
	stuck.Stop()
}

// comes waits until so many lines have been read: they come through a goroutine.
func (b *bench) comes(want int64) {
	b.t.Helper()
	for range 200 {
		if b.step(time.Second); b.Lines >= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.counted(want)
}

// send writes to a pipe as one who opens and closes it for each line.
func (b *bench) send(text string) {
	b.t.Helper()
	w, err := os.OpenFile(b.path("access.log"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	check(b.t, err)
	_, err = w.WriteString(text)
	check(b.t, err)
	check(b.t, w.Close())
}

// A log that is replaced by a named pipe is read to its end, and the pipe after that.
func TestLogIsReplacedByPipe(t *testing.T) {
	b := newBench(t)
	b.start()
	b.append("access.log", line(1, b.now))
	b.step(time.Second)
	b.append("access.log", line(2, b.now))
	b.rename("access.log", "access.log.1")
	check(t, syscall.Mkfifo(b.path("access.log"), 0o644))
	inTime(t, func() {
		b.step(time.Second)
		b.counted(2)
		b.append("access.log.1", line(2, b.now))
		b.send(line(3, b.now))
		b.comes(4)
		b.send(line(3, b.now))
		b.comes(5)
		b.step(2 * linger)
		b.step(2 * linger)
		if n := len(b.set.logs[0].files); n != 1 {
			t.Errorf("%d files are open", n)
		}
		b.stop()
		check(t, os.Remove(b.path("access.log"))) // the old one has a reader still
		check(t, syscall.Mkfifo(b.path("access.log"), 0o644))
		b.start() // with a checkpoint of the file that was there before
		b.step(time.Second)
		b.send(line(3, b.now))
		b.comes(6)
		b.stop()
	})
}

// A pipe that may be read and not be written does not end with its writers either.
func TestPipeThatMayNotBeWritten(t *testing.T) {
	b := newBench(t)
	check(t, syscall.Mkfifo(b.path("access.log"), 0o600))
	check(t, os.Chmod(b.path("access.log"), 0o444))
	inTime(t, func() {
		b.asNobody(func() {
			b.start()
			b.step(time.Second)
		})
		check(t, os.Chmod(b.path("access.log"), 0o644))
		for n := range int64(3) {
			b.send(line(1, b.now))
			b.comes(n + 1)
		}
	})
}

// A file that is replaced by a pipe between looking and opening is not waited for, nor is one that may not be opened.
func TestOpeningDoesNotWait(t *testing.T) {
	b := newBench(t)
	check(t, syscall.Mkfifo(b.path("access.log"), 0o644))
	inTime(t, func() {
		if _, err := openPlain(b.path("access.log"), logfile.Place{}, time.Now); err != errNoFile {
			t.Errorf("%v", err)
		}
	})
	check(t, os.Chmod(b.path("access.log"), 0))
	inTime(t, func() {
		b.asNobody(func() {
			b.start()
			b.step(time.Second)
		})
		b.heard()
		check(t, os.Chmod(b.path("access.log"), 0o644))
		b.step(time.Second)
		b.wantSaid("shadow: access.log: is followed now\n")
		b.send(line(1, b.now))
		b.comes(1)
		b.stop()
	})
}
