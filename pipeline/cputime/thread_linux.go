package pipeline

import (
	"syscall"
	"time"
)

// threadTimeIsCPU reports whether threadTime is CPU time.
const threadTimeIsCPU = true

// threadTime is how long the calling thread has kept a processor busy.
func threadTime() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
