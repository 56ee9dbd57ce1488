package ingest

import (
	"testing"
	"time"
)

func TestStopwatch(t *testing.T) {
	var now time.Duration
	w := Stopwatch{Now: func() time.Duration { now += time.Second; return now }}
	var parse, order time.Duration
	for range 3 {
		w.Start()
		w.Lap(&parse)
		w.Lap(&order)
		w.Stop()
	}
	if parse != 3*time.Second || order != 3*time.Second {
		t.Errorf("3 laps of a second each are %v and %v", parse, order)
	}
}
