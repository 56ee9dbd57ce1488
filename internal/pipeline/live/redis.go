package live

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"shadow/internal/escape"
	"shadow/internal/pipeline"
	"shadow/internal/redis"
	"shadow/internal/tail"
	"shadow/limit"
)

// A tail with Redis counts together with the tails of other hosts. It never waits for Redis for long: where there is no
// answer it goes on by itself, says so once, and again when Redis is back.

// A sharedTail is the connection of a tail with Redis.
type sharedTail struct {
	options redis.Options
	limiter redis.SharedLimiterOptions
	err     io.Writer
	metrics *tail.RedisMetrics

	open *redis.SharedLimiter
	down bool // whether Redis did not answer when it was last asked
}

// share has the tail judge with Redis, if it is to. It verifies all that can be without asking a server.
func (f *Tail) share(o *tail.Options) (*sharedTail, error) {
	if len(f.Addresses) == 0 {
		return nil, nil
	}
	s := &sharedTail{err: o.Err, metrics: tail.NewRedisMetrics()}
	var err error
	if s.options, err = f.Connection(""); err != nil {
		return nil, err
	}
	s.options.Clock = f.Clock
	s.limiter = redis.SharedLimiterOptions{
		Tables: o.Read.Tables, Policies: o.Policies, MaxLag: f.MaxLag, Watch: s.see,
		// Who lags behind another host is no log that begins again.
		Lateness: max(o.Read.StepBack(), limit.Time(f.MaxLag.Microseconds())),
	}
	o.NewRemote = s.connect
	if o.Feed != nil {
		o.Feed.Redis = s.metrics
	}
	return s, nil
}

// connect goes on counting where a checkpoint says, or begins under a new name.
func (s *sharedTail) connect(saved json.RawMessage, behind func() bool) (tail.Remote, error) {
	from, err := redis.ReadSaved(saved)
	if err != nil {
		return nil, err
	}
	if s.options.Host = from.Host; from.Host == "" {
		name, err := os.Hostname()
		if err != nil {
			name = "host"
		}
		s.options.Host = name + "-" + rand.Text() // no host has counted under that
	}
	s.limiter.From, s.limiter.Behind = from, behind
	s.limiter.Redis = redis.Open(s.options)
	if s.open, err = redis.NewSharedLimiter(s.limiter); err != nil {
		return nil, pipeline.Usage("--redis: %w", err)
	}
	err = s.limiter.Redis.Ping(context.Background())
	s.metrics.Reach(err)
	s.tell(err)
	return s.open, nil
}

// see takes in a round trip.
func (s *sharedTail) see(trip redis.RoundTrip) {
	if trip.Restarted {
		fmt.Fprintln(s.err, "shadow: Redis is another one, or was restarted, and may know nothing: verdicts are degraded for a while")
		return
	}
	s.metrics.See(trip.Took, trip.Err)
	s.tell(trip.Err)
}

// tell says when Redis stops answering, and when it answers again.
func (s *sharedTail) tell(err error) {
	switch {
	case err != nil && !s.down:
		fmt.Fprintf(s.err, "shadow: Redis does not answer, so that verdicts are reached here until it does: %s\n", escape.Visible(err.Error()))
	case err == nil && s.down:
		fmt.Fprintln(s.err, "shadow: Redis answers again")
	}
	s.down = err != nil
}

// close ends the connection.
func (s *sharedTail) close() error {
	if s == nil || s.limiter.Redis == nil {
		return nil
	}
	var err error
	if s.open != nil {
		err = s.open.Close()
	}
	return errors.Join(err, s.limiter.Redis.Close())
}
