//go:build unix

package tail

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// A lock keeps a second tail away from a checkpoint. It goes with the process.
type lock struct{ file *os.File }

func takeLock(name string) (*lock, error) {
	f, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for patience := time.Second; ; patience -= 50 * time.Millisecond {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return &lock{f}, nil
		}
		if patience <= 0 {
			_ = f.Close()
			return nil, fmt.Errorf("checkpoint %s: another tail writes it", name)
		}
		time.Sleep(50 * time.Millisecond) // one that is being killed lets go of it soon
	}
}

func (l *lock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}
