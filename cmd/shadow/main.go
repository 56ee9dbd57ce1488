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

func main() {
	runtime.MemProfileRate = 0 // which nobody looks at
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // a second Ctrl-C ends the program however busy it is
		<-ctx.Done()
		stop()
	}()
	root := newRoot()
	helpFailed := help.Watch(root)
	err := cmp.Or(root.ExecuteContext(ctx), helpFailed())
	if text := complaint(ctx, err); text != "" {
		fmt.Fprintln(&pipeline.PatientWriter{Ctx: ctx, To: os.Stderr}, "shadow:", text)
	}
	os.Exit(exitCode(ctx, err))
}
