package logfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Born returns when an open file was made, in nanoseconds since 1970, 0 where that is not known.
func Born(f *os.File) int64 {
	var s unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return s.Btime.Sec*1e9 + int64(s.Btime.Nsec)
}
