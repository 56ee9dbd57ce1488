// Package commands has the commands of the program: flags come in, each command wires a pipeline of the packages beneath,
// and an exit code goes out.
package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"shadow/internal/commands/help"
	"shadow/internal/pipeline"
)

// noOutput reports whether the program was started without a standard output.
var noOutput bool

// Run runs the command that the program was called with, and ends the program.
func Run(of Release) {
	release = of
	runtime.MemProfileRate = 0 // no profile of memory is ever written
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	ended := make(chan struct{})
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the program however busy it is
		endAnyway(ctx, ended)
	}()
	err := execute(ctx)
	close(ended)
	end(ctx, err)
}

// patience bounds the time in which a command may end by itself, once it is told to and stores nothing.
const patience = time.Second / 2

// endAnyway ends a command that a signal does not reach: it reads a configuration or its included files, opens a named
// pipe, plays a limit, judges half a million requests at once. All of that would have to look at its context, and much
// of it belongs to libraries; and nothing is lost with it, as a run is stored as a whole. That is waited for.
func endAnyway(ctx context.Context, ended <-chan struct{}) {
	end(ctx, pipeline.Abandon(ctx, func() {
		select {
		case <-ended:
			select {} // the program is about to end
		case <-time.After(patience):
		}
	}))
}

// end says what went wrong, and ends the program.
func end(ctx context.Context, err error) {
	if text := complaint(ctx, err); text != "" {
		fmt.Fprintln(&pipeline.PatientWriter{Ctx: ctx, To: os.Stderr}, "shadow:", text)
	}
	pipeline.RemoveParts()
	os.Exit(exitCode(ctx, err))
}

// execute runs the command that was called.
func execute(ctx context.Context) error {
	if noOutput {
		return pipeline.Usage("standard output is closed, so that no answer can be read: > FILE keeps it, > /dev/null drops it")
	}
	root := newRoot()
	helpFailed := help.Watch(root)
	return cmp.Or(root.ExecuteContext(ctx), helpFailed())
}
