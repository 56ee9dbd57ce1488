package ingest

import (
	"runtime"
	"time"
)

// A Stopwatch adds up the CPU time that stages take, if it has a clock. That is the clock of a thread, which the
// goroutine keeps from Start to Stop. Who waits takes no time.
type Stopwatch struct {
	Now  func() time.Duration // that this thread has worked; nil: off
	last time.Duration
}

// Start begins the first lap.
func (w *Stopwatch) Start() {
	if w.Now != nil {
		runtime.LockOSThread()
		w.last = w.Now()
	}
}

// Lap adds the time since the last lap to a stage.
func (w *Stopwatch) Lap(stage *time.Duration) {
	if w.Now != nil {
		now := w.Now()
		*stage += now - w.last
		w.last = now
	}
}

// Stop ends what Start has begun.
func (w *Stopwatch) Stop() {
	if w.Now != nil {
		runtime.UnlockOSThread()
	}
}

// StageTimes is the CPU time that the stages of reading took, summed over all goroutines.
type StageTimes struct {
	Read    time.Duration // getting blocks, but for decompression
	Parse   time.Duration
	Clients time.Duration
	Agents  time.Duration
	Actions time.Duration
	Order   time.Duration // putting requests in time order
}

func (t *StageTimes) add(u StageTimes) {
	t.Read += u.Read
	t.Parse += u.Parse
	t.Clients += u.Clients
	t.Agents += u.Agents
	t.Actions += u.Actions
	t.Order += u.Order
}
