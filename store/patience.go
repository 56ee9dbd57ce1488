package store

import (
	"context"
	"errors"
	"time"
)

// A tail has the file open for a moment every few seconds, and so has whoever asks it something. Neither should have to
// know of the other: whoever opens the file waits for a while when another process has it open.

// A Wait says what to do while another process has the file open. The zero value waits for a while, and says nothing.
type Wait struct {
	For  time.Duration    // at most; 0 is patience, less is not at all
	Tell func(busy error) // is called once, after quietWait, with who has it open; may be nil
}

// patience is for how long a process waits that was not told. breath is how long it waits between two attempts.
var patience = 2 * time.Second

const (
	quietWait = time.Second
	breath    = 50 * time.Millisecond
)

// patiently opens something, again and again while another process is in the way.
func patiently[T any](ctx context.Context, wait Wait, open func() (T, error)) (T, error) {
	begun, told := time.Now(), wait.Tell == nil
	if wait.For == 0 {
		wait.For = patience
	}
	for {
		opened, err := open()
		waited := time.Since(begun)
		if !errors.Is(err, ErrBusy) || waited >= wait.For {
			return opened, err
		}
		if !told && waited >= min(quietWait, wait.For/2) {
			told = true
			wait.Tell(err)
		}
		select {
		case <-ctx.Done():
			return opened, err
		case <-time.After(breath):
		}
	}
}
