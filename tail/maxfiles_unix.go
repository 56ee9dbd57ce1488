//go:build unix

package tail

import (
	"math"
	"syscall"
)

// maxFiles returns how many files the process may have open.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
