package main

import (
	"context"
	"errors"
	"io"
	"time"
)

// Whoever is to read standard output may not, and may stay all the same, as a pager does that has been scrolled back. The
// tail waits for it as long as need be. But when it is told to end, it must not wait for ever.

// lastWords is how long one write may take once the tail is told to end.
const lastWords = time.Second

var errNotRead = errors.New("standard output is not read")

// A patientWriter writes for as long as it takes, until ctx ends. It is not used any more after an error.
type patientWriter struct {
	ctx context.Context
	to  io.Writer
}

func (w *patientWriter) Write(p []byte) (int, error) {
	type outcome struct {
		n   int
		err error
	}
	done := make(chan outcome, 1)
	go func() { // where it can be left behind
		n, err := w.to.Write(p)
		done <- outcome{n, err}
	}()
	select {
	case o := <-done:
		return o.n, o.err
	case <-w.ctx.Done():
	}
	select {
	case o := <-done:
		return o.n, o.err
	case <-time.After(lastWords):
		return 0, errNotRead
	}
}
