//go:build unix

package tail

import (
	"io/fs"
	"syscall"
)

// nonBlocking opens a named pipe without waiting for somebody who writes to it.
const nonBlocking = syscall.O_NONBLOCK

// isDeleted reports whether a file has no name any more.
func isDeleted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
