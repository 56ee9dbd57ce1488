package redis

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Conn is up until a batch fails. Then nobody waits for it: it is pinged in the background, less and less often, and when
// it answers the next batch goes there. Only a batch that succeeds makes the pauses short again, so that a server that
// answers pings and nothing else is not asked all the time.

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
)

// health is whether it makes sense to ask Redis.
type health struct {
	ping func(context.Context) error

	mu     sync.Mutex
	down   bool
	pause  time.Duration
	stop   context.CancelFunc // of the pinging; nil: none
	done   chan struct{}
	closed bool
}

// up reports whether to ask Redis.
func (h *health) up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.down
}

// succeeded notes that a batch was answered as a whole.
func (h *health) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause = 0
}

// failed notes that a batch was not, and begins to ping.
func (h *health) failed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down || h.closed {
		return
	}
	h.down = true
	h.pause = min(max(shortestPause, 2*h.pause), longestPause)
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.done = stop, make(chan struct{})
	go h.wait(ctx, h.pause, h.done)
}

// wait pings until there is an answer.
func (h *health) wait(ctx context.Context, pause time.Duration, done chan struct{}) {
	defer close(done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)): // so that hosts do not come back all at once
		}
		if h.ping(ctx) == nil {
			break
		}
		pause = min(2*pause, longestPause)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = false
	h.stop()
}

// close ends the pinging.
func (h *health) close() {
	h.mu.Lock()
	h.closed = true
	stop, done := h.stop, h.done
	h.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}
