package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// Whoever is to read what is written may not, and may stay all the same, as a pager does that nobody scrolls. Then it
// is waited for as long as need be; but once the program is told to end, not forever.

// lastWords is how long one write may take once the program is told to end.
const lastWords = time.Second

var errNotRead = errors.New("what is written is not read")

// A PatientWriter writes for as long as it takes, until ctx ends.
type PatientWriter struct {
	Ctx context.Context
	To  io.Writer
}

func (w *PatientWriter) Write(p []byte) (int, error) {
	type outcome struct {
		n   int
		err error
	}
	done := make(chan outcome, 1)
	p = bytes.Clone(p)
	go func() { // where it can be left behind
		n, err := w.To.Write(p)
		done <- outcome{n, err}
	}()
	select {
	case o := <-done:
		return o.n, o.err
	case <-w.Ctx.Done():
	}
	select {
	case o := <-done:
		return o.n, o.err
	case <-time.After(lastWords):
		return 0, errNotRead
	}
}
