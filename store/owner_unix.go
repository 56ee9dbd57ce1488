//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file to whom another belongs, so that a database that root shrinks is still its owner's.
func sameOwner(path string, of fs.FileInfo) error {
	owner, ok := of.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
