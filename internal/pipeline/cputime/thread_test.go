package cputime

import (
	"runtime"
	"testing"
	"time"
)

// The clock of a thread runs while that works. Where it is CPU time, it stands while the thread sleeps.
func TestThreadTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := Thread()
	for began := time.Now(); Thread()-start < 20*time.Millisecond; {
		if time.Since(began) > time.Minute {
			t.Fatalf("a busy thread has worked %v in a minute", Thread()-start)
		}
	}
	start = Thread()
	time.Sleep(200 * time.Millisecond)
	if slept := Thread() - start; ThreadIsExact && slept > 100*time.Millisecond {
		t.Errorf("asleep for 200 ms, a thread has worked %v", slept)
	}
}
