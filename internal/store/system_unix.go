//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// errLocked reports that another process has a lock.
var errLocked = errors.New("locked")

// lockFile locks a file or a folder against all others who lock it so, until it is closed. Some file systems know no
// such locks, and then there is none.
func lockFile(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return nil
}
