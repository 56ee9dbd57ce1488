package cputime

import (
	"syscall"
	"time"
)

// ThreadIsExact reports whether Thread is CPU time.
const ThreadIsExact = true

// Thread returns how long the calling thread has kept a processor busy.
func Thread() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
