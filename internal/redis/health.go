package redis

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Redis is up until a batch fails. Then no batch waits for it: it is pinged in the background, less and less often, and
// when it answers the next batch goes there. Only a batch that succeeds makes the pauses short again, so that a server
// that answers pings and nothing else is not asked all the time.

const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
)

// health says whether it makes sense to ask Redis.
type health struct {
	ping  func(context.Context) error
	down  atomic.Bool
	pause time.Duration // before the first ping after the last failure; 0: none since a batch was answered as a whole

	pings   context.Context // ends with close
	stop    context.CancelFunc
	pinging sync.WaitGroup
}

func newHealth(ping func(context.Context) error) *health {
	h := &health{ping: ping}
	h.pings, h.stop = context.WithCancel(context.Background())
	return h
}

// up reports whether to ask Redis.
func (h *health) up() bool { return !h.down.Load() }

// failed notes that a batch was not, and begins to ping.
func (h *health) failed() {
	if h.down.Swap(true) {
		return
	}
	h.pause = min(max(shortestPause, 2*h.pause), longestPause)
	pause := h.pause
	h.pinging.Go(func() {
		for {
			select {
			case <-h.pings.Done():
				return
			case <-time.After(pause/2 + rand.N(pause)): // so that hosts do not come back all at once
			}
			if h.ping(h.pings) == nil {
				h.down.Store(false)
				return
			}
			pause = min(2*pause, longestPause)
		}
	})
}

// close ends the pinging.
func (h *health) close() {
	h.stop()
	h.pinging.Wait()
}
