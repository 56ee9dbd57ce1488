//go:build unix

package logfile

import (
	"io/fs"
	"syscall"
)

// inode is what a file is, whatever its names.
type inode struct{ device, number uint64 }

// fileKey is the same for all names of a file.
func fileKey(name string, info fs.FileInfo) any {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return inode{uint64(s.Dev), uint64(s.Ino)}
	}
	return name
}

// InodeOf is what a file is, whatever its names.
func InodeOf(info fs.FileInfo) (device, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino // Dev has fewer bits on some systems
	}
	return 0, 0
}
