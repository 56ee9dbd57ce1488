package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"shadow/redis"
	"shadow/replay"
)

// A replay through Redis proves on a real log that the scripts decide as the limiters do. It uses keys that nobody else
// has and removes them in the end, so it neither sees nor changes what tails count.

// sharing is the connection of a replay with Redis; nil if there is none.
type sharing struct {
	redis   *redis.Conn
	limiter *redis.SharedLimiter
	trips   trips
}

// share prepares the connection of a replay with Redis, if there is to be one.
func (r *replayRun) share() (*sharing, error) {
	if !r.inUse() {
		return nil, nil
	}
	options, err := r.connection("replay-" + rand.Text())
	if err != nil {
		return nil, err
	}
	s := &sharing{redis: redis.Open(options)}
	s.limiter, err = redis.NewSharedLimiter(redis.SharedLimiterOptions{
		Redis: s.redis, Tables: r.reading.Tables, Policies: r.policies, Lateness: r.reading.Lateness,
		MaxLag: r.maxLag, Watch: s.trips.see, Temporary: true,
	})
	if err != nil {
		return nil, usage("--redis: %w", err)
	}
	return s, nil
}

// reach is the error of a Redis that cannot be reached.
func (s *sharing) reach(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.redis.Ping(ctx)
}

// remote is what the engine is to ask.
func (s *sharing) remote() replay.Remote {
	if s == nil {
		return nil
	}
	return s.limiter
}

// close ends the connection.
func (s *sharing) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.limiter.Close(), s.redis.Close())
}

// tell says what people should know of it.
func (s *sharing) tell(r *replayRun) {
	switch {
	case s == nil:
	case s.trips.failed > 0:
		fmt.Fprintf(r.cmd.ErrOrStderr(), "shadow: Redis did not answer %d of %d round trips, so that verdicts were reached here: %v\n",
			s.trips.failed, s.trips.n, s.trips.err)
	case r.verbose:
		fmt.Fprintln(r.cmd.ErrOrStderr(), &s.trips)
	}
}
