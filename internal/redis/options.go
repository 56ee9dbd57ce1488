package redis

import "time"

// A Clock says whose time counts.
type Clock int64

// The clocks.
const (
	LogClock   Clock = iota // that of the log
	RedisClock              // that of the Redis server, at which it judges
)

// Options say how to reach Redis, and under which name.
type Options struct {
	Address  Address
	Password string // of Redis, and of the sentinels if there are any

	// Host names this host's numbering of requests. Where numbers begin again from nothing, it must be another name:
	// else Redis takes requests for ones that it has charged already.
	Host string

	Clock   Clock
	Timeout time.Duration // that a batch may take; 0: 1 s
}
