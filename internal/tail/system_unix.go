//go:build unix

package tail

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
	"time"
)

// A lock keeps a second tail away from a file that one writes. It goes with the process. Its file stays, and says who has had it
// last.
type lock struct{ file *os.File }

// takeLock takes the lock of a file. what says what the file is.
func takeLock(what, name string) (*lock, error) {
	f, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := keepAway(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s %s: %w", what, name, err)
	}
	return &lock{f}, nil
}

// keepAway locks an open file, whatever its name, until it is closed.
func keepAway(f *os.File) error {
	for patience := time.Second; ; patience -= 50 * time.Millisecond {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return nil
		}
		if patience <= 0 {
			return errors.New("another tail writes it: give each tail a file of its own")
		}
		time.Sleep(50 * time.Millisecond) // one that is being killed lets go of it soon
	}
}

// owner is who has had the lock last, "" if that is not known.
func (l *lock) owner() string {
	text, _ := io.ReadAll(io.NewSectionReader(l.file, 0, 1<<16)) // what cannot be read is not known
	first, _, _ := strings.Cut(string(text), "\n")
	return first
}

// own notes who has the lock. It takes no room on a disk where a tail has been noted before.
func (l *lock) own(by string) error {
	text := by + "\n"
	if _, err := l.file.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(text)))
}

func (l *lock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}

// maxFiles returns how many files the process may have open.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
