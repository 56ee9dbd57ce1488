package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A UsageError is a mistake in how a command was called.
type UsageError struct{ error }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.error }

// Usage makes an error one of how the command was called.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// BadFlag is an error of usage about the value of a flag, said once with the flag in front: --limit "6": has no period;
// want … Errors of the packages beneath open with what they are about, and often with the value as well; neither is
// said twice.
func BadFlag(name, value string, err error) error {
	text := err.Error()
	rest, named := strings.CutPrefix(text, name+" ")
	switch {
	case named:
		return Usage("--%s %s", name, rest)
	case strings.Contains(text, strconv.Quote(value)):
		return Usage("--%s: %s", name, text)
	}
	return Usage("--%s %q: %s", name, value, text)
}

// An UnreadableError says that more lines than --max-bad could not be read.
type UnreadableError struct{ share, most float64 } // in percent

func (e UnreadableError) Error() string {
	return fmt.Sprintf("%.2f%% of the lines could not be read, more than --max-bad %g%%: the report may mislead;"+
		" `shadow parse FILE` shows what they lack", e.share, e.most)
}

// A HeldError says that --fail-if conditions held, a line each.
type HeldError struct{ texts []string }

func (e HeldError) Error() string { return strings.Join(e.texts, "\n") }

// Ctrl-C must end the program at once, and a read from a quiet pipe ends when the pipe says something: such a read is
// not waited for. It dies with the process.

// ErrInterrupted is what a command returns that gave up because of a signal.
var ErrInterrupted = errors.New("interrupted; nothing was kept")

// interruptible does what may wait forever, and gives it up when ctx ends.
func interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return leftBehind(ctx, 0, ErrInterrupted, do)
}

// leftBehind does what may wait forever. A while after ctx has ended it is given up, with an error.
func leftBehind[T any](ctx context.Context, while time.Duration, late error, do func() (T, error)) (T, error) {
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
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(while):
		return *new(T), late
	}
}

// Whoever is to read what is written may not, and may stay all the same, as a pager does that nobody scrolls. Then it
// is waited for as long as need be; but once the program is told to end, not forever.

// lastWords is how long one write may take once the program is told to end.
const lastWords = time.Second

var errNotRead = errors.New("what is written is not read")

// A PatientWriter writes for as long as it takes, until Ctx ends.
type PatientWriter struct {
	Ctx context.Context
	To  io.Writer
}

func (w *PatientWriter) Write(p []byte) (int, error) {
	p = bytes.Clone(p) // a write that is left behind reads it later
	return leftBehind(w.Ctx, lastWords, errNotRead, func() (int, error) { return w.To.Write(p) })
}
