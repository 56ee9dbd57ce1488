//go:build unix

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errLocked is that somebody else has a lock.
var errLocked = errors.New("locked")

// lockFile locks a file or a folder against everybody who locks it so, until it is closed. Some file systems know no
// such locks, and then there is none.
func lockFile(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return nil
}

// lockDatabase locks a database as DuckDB does, until this process closes the file, by whatever handle.
func lockDatabase(f *os.File) error {
	whole := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &whole)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errLocked
	}
	if err != nil {
		return fmt.Errorf("cannot be locked: %w", err)
	}
	return nil
}

// sameOwner gives a file to the owner of another, so that a database that root shrinks is still its owner's.
func sameOwner(path string, of fs.FileInfo) error {
	owner, ok := of.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
