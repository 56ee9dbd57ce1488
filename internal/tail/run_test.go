package tail

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"shadow/internal/logfile/follow"
)

// Would-blocks are reopened while there is more to read, not when all has been read.
func TestReopenWhileReading(t *testing.T) {
	b := newBench(t, "token:1/24h")
	b.append("access.log", strings.Repeat(line(1, b.now), 5*stepBytes/2/len(line(1, b.now))))
	b.change = func(o *Options) { o.From = follow.FromStart }
	b.start()
	check(t, os.Rename(b.path("would-blocks"), b.path("would-blocks.1")))
	reopen := make(chan os.Signal, 1)
	reopen <- syscall.SIGHUP
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b.tail.options.Now = func() time.Time { // which every step asks
		if unread, _ := b.tail.Lag(b.now); exists(b.path("would-blocks")) || unread == 0 {
			cancel()
		}
		return b.now
	}
	check(t, b.tail.Run(ctx, reopen))
	if unread, _ := b.tail.Lag(b.now); unread == 0 {
		t.Errorf("reopened when everything had been read")
	}
}
