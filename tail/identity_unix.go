//go:build unix

package tail

import (
	"io/fs"
	"syscall"
)

// inodeOf is what a file is, whatever its names.
func inodeOf(info fs.FileInfo) (device, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino //nolint:unconvert // Dev is 32 bits wide on some systems
	}
	return 0, 0
}
