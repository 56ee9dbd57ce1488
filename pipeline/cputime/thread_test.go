package pipeline

import (
	"runtime"
	"testing"
	"time"
)

// The clock of a thread runs while that works. Where it is CPU time, it stands while the thread sleeps.
func TestThreadTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	for began := time.Now(); threadTime()-start < 20*time.Millisecond; {
		if time.Since(began) > time.Minute {
			t.Fatalf("a busy thread has worked %v in a minute", threadTime()-start)
		}
	}
	start = threadTime()
	time.Sleep(200 * time.Millisecond)
	if slept := threadTime() - start; threadTimeIsCPU && slept > 100*time.Millisecond {
		t.Errorf("asleep for 200 ms, a thread has worked %v", slept)
	}
}
