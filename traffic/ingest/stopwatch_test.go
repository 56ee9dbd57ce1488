package ingest

import (
	"testing"
	"time"
)

func TestStopwatch(t *testing.T) {
	seconds := int64(1_767_268_800)
	w := stopwatch{now: func() time.Time { seconds++; return time.Unix(seconds, 0) }}
	var parse, order time.Duration
	for range 3 {
		w.start()
		w.lap(&parse)
		w.lap(&order)
	}
	if parse != 3*time.Second || order != 3*time.Second {
		t.Errorf("3 laps of a second each are %v and %v", parse, order)
	}
}
