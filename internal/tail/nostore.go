//go:build nostore

package tail

import (
	"errors"
	"net/http"
	"time"

	"shadow/internal/store/duck"
	"shadow/replay"
)

// A build with the tag nostore has no server in it: Go's, and what Prometheus reads, take five megabytes. It keeps no batches
// for a database, either.

func encode(*replay.Addition) ([]byte, error) { return nil, duck.ErrNotBuilt }

func decode([]byte) (*replay.Addition, error) { return nil, duck.ErrNotBuilt }

// Listen fails.
func (*Metrics) Listen(string, string, *RedisMetrics, string, http.Handler) (at string, stop func(), err error) {
	return "", nil, errors.New("this shadow was built without metrics (nostore): take the full one, or leave out --listen")
}

// RedisMetrics are of no Redis.
type RedisMetrics struct{}

// NewRedisMetrics returns RedisMetrics that count nothing.
func NewRedisMetrics() *RedisMetrics { return nil }

// See does nothing.
func (*RedisMetrics) See(time.Duration, error) {}

// Reach does nothing.
func (*RedisMetrics) Reach(error) {}

// Away is never.
func (*RedisMetrics) Away() (since time.Time) { return since }
