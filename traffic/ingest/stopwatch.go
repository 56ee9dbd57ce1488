package ingest

import "time"

// A stopwatch adds up the time that stages take, if it has a clock.
type stopwatch struct {
	now  func() time.Time // nil: off
	last time.Time
}

func (w *stopwatch) start() {
	if w.now != nil {
		w.last = w.now()
	}
}

// lap adds the time since the last lap to a stage.
func (w *stopwatch) lap(stage *time.Duration) {
	if w.now != nil {
		now := w.now()
		*stage += now.Sub(w.last)
		w.last = now
	}
}

// StageTimes is how long the stages of reading took, summed over all goroutines.
type StageTimes struct {
	Read    time.Duration // getting blocks, decompression included
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
