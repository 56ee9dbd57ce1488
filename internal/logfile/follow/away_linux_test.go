package follow

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// A log whose name a directory or a named pipe had for a while is followed again, and so is what had come last before.
func TestNameIsTakenForAWhile(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
	} {
		for _, absent := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				b.following()
				b.rename("access.log", "access.log.1")
				check(t, take(b.path("access.log")))
				before := b.Lines
				inTime(t, func() {
					for range 3 {
						b.step(time.Second)
					}
					b.append("access.log.1", line(2, b.now))
					b.step(time.Second)
					b.counted(before + 1)
					check(t, os.Remove(b.path("access.log")))
					if absent {
						b.step(time.Second)
						b.step(time.Second)
					}
					b.append("access.log", line(3, b.now))
					b.step(time.Second)
					b.step(time.Second)
					b.append("access.log", line(3, b.now))
					b.step(time.Second)
					b.counted(before + 3)
					if n := b.set.Absent(); n > 0 {
						t.Errorf("%d logs are absent", n)
					}
					b.step(2 * linger)
					b.step(time.Second)
					if n := len(b.set.logs[0].files); n != 1 {
						t.Errorf("%d files are open", n)
					}
					b.restart(false)
					b.append("access.log", line(4, b.now))
					b.step(time.Second)
					b.counted(before + 4)
					b.stop()
				})
			})
		}
	}
}

// What is written to a named pipe that was deleted is read as long as it comes, and so is the file behind it from
// its start.
func TestPipeIsReplacedByLog(t *testing.T) {
	b := newBench(t)
	check(t, syscall.Mkfifo(b.path("access.log"), 0o644))
	b.append("access.log.1", line(1, b.now)) // from before
	inTime(t, func() {
		b.start()
		b.step(time.Second)
		w, err := os.OpenFile(b.path("access.log"), os.O_WRONLY, 0)
		check(t, err)
		defer w.Close()
		check(t, os.Remove(b.path("access.log")))
		b.append("access.log", line(2, b.now))
		b.step(time.Second)
		b.comes(1)
		_, err = w.WriteString(line(3, b.now) + "192.0.2.4 [1.000] curl")
		check(t, err)
		b.comes(2)
		b.step(2 * linger)
		b.comes(3)
		if _, err := w.WriteString("x"); err == nil {
			t.Error("the pipe is still open")
		}
		b.stop()
	})
}
