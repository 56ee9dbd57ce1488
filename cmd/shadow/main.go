// Command shadow answers what a rate limit should be, and who it would hit, from the access log that an operator has
// already. Flags come in; each command wires a pipeline of the packages beneath, and an exit code goes out.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"shadow/cmd/shadow/help"
	"shadow/pipeline"
)

// noOutput reports whether the program was started without a standard output.
var noOutput bool

func main() {
	runtime.MemProfileRate = 0 // which nobody looks at
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // a second Ctrl-C ends the program however busy it is
		<-ctx.Done()
		stop()
	}()
	err := execute(ctx)
	if text := complaint(ctx, err); text != "" {
		fmt.Fprintln(&pipeline.PatientWriter{Ctx: ctx, To: os.Stderr}, "shadow:", text)
	}
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
