//go:build unix

package logfile

import (
	"io/fs"
	"syscall"
)

// nonblock has a pipe be opened at once or not at all.
const nonblock = syscall.O_NONBLOCK

// NodeOf returns the Node of a file.
func NodeOf(info fs.FileInfo) (n Node) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		n = Node{Device: uint64(s.Dev), Inode: s.Ino} // Dev has fewer bits on some systems
	}
	return n
}

// IsDeleted reports whether an open file has no name any more, where the system can tell.
func IsDeleted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
