//go:build unix

package logfile

import (
	"io/fs"
	"syscall"
)

// InodeOf is what a file is, whatever its names.
func InodeOf(info fs.FileInfo) (device, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino // Dev has fewer bits on some systems
	}
	return 0, 0
}
