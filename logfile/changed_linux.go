package logfile

import (
	"io/fs"
	"syscall"
)

// changedAt is when a file's inode last changed, in nanoseconds since 1970, 0 where that is not known.
func changedAt(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return syscall.TimespecToNsec(s.Ctim)
	}
	return 0
}
