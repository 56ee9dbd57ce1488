package main

import (
	"context"
	"errors"
)

// Ctrl-C must end the program at once, and a read from a quiet pipe ends when the pipe says something: such a read is
// not waited for. It dies with the process.

// errInterrupted is what a command returns that gave up because of a signal.
var errInterrupted = errors.New("interrupted; nothing was kept")

// interruptible does what may wait for ever, and gives it up when ctx ends.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, errInterrupted
	}
}
