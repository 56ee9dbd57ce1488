package pipeline

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"shadow/internal/redis"
	"shadow/internal/textfile"
)

// Redis says where state is shared, and how.
type Redis struct {
	Addresses    []string // of one, or of the parts of a ring; none: state is not shared
	PasswordFile string
	Timeout      time.Duration
	MaxLag       time.Duration
}

// PasswordVariable holds the password of Redis where no file does: command lines can be read by everybody.
const PasswordVariable = "SHADOW_REDIS_PASSWORD"

// Connection returns what the flags say, for a host with a name of its own.
func (f *Redis) Connection(host string) (o redis.Options, err error) {
	if o.Address, err = redis.ParseAddress(f.Addresses...); err != nil {
		return o, Usage("--redis: %w", err)
	}
	o.Host, o.Timeout, o.Password = host, f.Timeout, os.Getenv(PasswordVariable)
	if f.PasswordFile != "" {
		text, err := textfile.Read(f.PasswordFile, textfile.Most)
		if err != nil {
			return o, Usage("--redis-password-file: %w", err)
		}
		o.Password = strings.TrimRight(string(text), "\r\n")
	}
	return o, nil
}

// A replay through Redis proves on a real log that the scripts decide as the limiters do. It uses keys of its own
// and removes them in the end, so it neither sees nor changes what tails count.

// sharing is the connection of a replay with Redis.
type sharing struct {
	redis   *redis.Conn
	limiter *redis.SharedLimiter

	roundTrips, failed, requests int
	took                         time.Duration
	err                          error // of the first trip that failed
}

// share prepares the connection of a replay with Redis, if there is to be one.
func (r *Replay) share() (*sharing, error) {
	if len(r.Addresses) == 0 {
		return nil, nil
	}
	options, err := r.Connection("replay-" + rand.Text())
	if err != nil {
		return nil, err
	}
	s := &sharing{redis: redis.Open(options)}
	s.limiter, err = redis.NewSharedLimiter(redis.SharedLimiterOptions{
		Redis: s.redis, Tables: r.Read.Tables, Policies: r.Policies, Lateness: r.Read.StepBack(),
		MaxLag: r.MaxLag, Watch: s.see, Temporary: true,
	})
	if err != nil {
		return nil, Usage("--redis: %w", err)
	}
	return s, nil
}

// see takes in a round trip.
func (s *sharing) see(trip redis.RoundTrip) {
	if trip.Restarted {
		return
	}
	s.roundTrips++
	s.requests += trip.Requests
	s.took += trip.Took
	if trip.Err != nil {
		s.failed++
		s.err = cmp.Or(s.err, trip.Err)
	}
}

// close ends the connection.
func (s *sharing) close() error { return errors.Join(s.limiter.Close(), s.redis.Close()) }

// tell says what people should know of it.
func (s *sharing) tell(l *Logs) {
	switch {
	case s.failed > 0:
		fmt.Fprintf(l.Err, "shadow: Redis did not answer %d of %d round trips, so that verdicts were reached here: "+
			"%v\n", s.failed, s.roundTrips, s.err)
	case l.Verbose:
		fmt.Fprintf(l.Err, "redis: %d round trips for %d requests in %v\n", s.roundTrips, s.requests,
			s.took.Round(time.Millisecond))
	}
}
