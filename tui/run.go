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

// The tail works in a goroutine of its own. Whichever of the two ends first, the screen goes before anything else
// happens. So the terminal is restored before the last lines are written, while the tail ends, and when it panics.

// Options say what to show, and where.
type Options struct {
	Title string
	Feed  *tail.Feed
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
	done := make(chan struct{})
	var worked error
	panicked := "" // with its stack
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
		}()
		worked = work(ctx)
	}()
	go func() {
		select {
		case <-ctx.Done():
		case <-done:
		}
		program.Quit()
	}()
	_, err := program.Run()
	failed := errors.Join(err, m.failed)
	o.Notes.release()
	cancel()
	<-done
	switch {
	case panicked != "":
		panic(panicked)
	case worked != nil || failed == nil:
		return worked
	}
	return fmt.Errorf("the screen: %w", failed)
}
