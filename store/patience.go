package store

import (
	"context"
	"errors"
	"time"
)

// A tail has the file open for a moment every few seconds, and so has whoever asks it something. Neither should have to
// know of the other: whoever opens the file waits for a while when another process has it open.

// patience is for how long, and breath how long between two attempts.
var patience = 2 * time.Second

const breath = 50 * time.Millisecond

// patiently opens something, again and again as long as another process is in the way.
func patiently[T any](ctx context.Context, open func() (T, error)) (T, error) {
	for deadline := time.Now().Add(patience); ; {
		opened, err := open()
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return opened, err
		}
		select {
		case <-ctx.Done():
			return opened, err
		case <-time.After(breath):
		}
	}
}
