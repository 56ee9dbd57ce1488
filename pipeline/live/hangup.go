package live

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// hangups passes on each SIGHUP, by which a tail goes on in a new file of would-blocks. The system sends the same
// signal when a terminal goes away: if gone says so, the context ends instead.
func hangups(ctx context.Context, gone func() bool) (next context.Context, reopen <-chan os.Signal, stop func()) {
	next, cancel := context.WithCancel(ctx)
	signals, passed := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-next.Done():
				return
			case s := <-signals:
				if gone() {
					cancel()
					return
				}
				select {
				case passed <- s:
				default: // one is waiting already
				}
			}
		}
	}()
	return next, passed, func() { signal.Stop(signals); cancel() }
}
