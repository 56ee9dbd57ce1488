package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"

	"shadow/tail"
)

// The tail works in a goroutine of its own. Whichever of the two ends first, the screen goes before anything else happens: so
// the terminal is as it was when the last words are said, when the tail takes its time to end, and when it panics.

// Options say what to show, and where.
type Options struct {
	Title string
	Live  *tail.Live
	Notes *Notes // what the tail says
	Out   io.Writer
	Color bool
}

// Run shows a screen while work goes on, and returns what work does. It ends work when somebody presses q.
func Run(ctx context.Context, o Options, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Notes.pause()
	m := newModel(o)
	program := tea.NewProgram(m, tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithFPS(fps))
	w := start(ctx, work)
	go func() {
		select {
		case <-ctx.Done():
		case <-w.done:
		}
		program.Quit()
	}()
	_, err := program.Run()
	failed := errors.Join(err, m.failed)
	o.Notes.release()
	cancel()
	if err := w.wait(); err != nil || failed == nil {
		return err
	}
	return fmt.Errorf("the screen: %w", failed)
}

// A worker is a goroutine whose end, or panic, is somebody's concern.
type worker struct {
	done     chan struct{}
	err      error
	panicked any
	stack    []byte
}

func start(ctx context.Context, work func(context.Context) error) *worker {
	w := &worker{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer func() {
			if w.panicked = recover(); w.panicked != nil {
				w.stack = debug.Stack()
			}
		}()
		w.err = work(ctx)
	}()
	return w
}

// wait waits for the end, and panics if the worker did.
func (w *worker) wait() error {
	<-w.done
	if w.panicked != nil {
		panic(fmt.Sprintf("%v\n\n%s", w.panicked, w.stack))
	}
	return w.err
}
