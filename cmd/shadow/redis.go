package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"shadow/redis"
)

// redisFlags say where state is shared, and how.
type redisFlags struct {
	addresses []string
	password  string // the name of a file
	timeout   time.Duration
	maxLag    time.Duration
}

// The password comes from a file or from here: command lines can be read by everybody.
const passwordVariable = "SHADOW_REDIS_PASSWORD"

func (f *redisFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.addresses, "redis", nil, "keep what limits remember in Redis at this `address`: redis://HOST (rediss:// for TLS), redis+cluster://HOST, redis+sentinel://HOST/MASTER or unix:///PATH; several of the first kind make a ring")
	flags.StringVar(&f.password, "redis-password-file", "", "read the password of Redis from `file` (default: the variable "+passwordVariable+")")
	flags.DurationVar(&f.timeout, "redis-timeout", time.Second, "for how long (`time`) to wait for Redis before deciding locally")
	flags.DurationVar(&f.maxLag, "max-lag", time.Hour, "for how long (`time`) Redis keeps a key beyond what the limit remembers, for hosts that lag behind")
	needs(cmd, []string{"redis"}, "redis-password-file", "redis-timeout", "max-lag")
}

// inUse reports whether state is to be shared.
func (f *redisFlags) inUse() bool { return len(f.addresses) > 0 }

// connection is what the flags say, for a host with a name of its own.
func (f *redisFlags) connection(host string) (o redis.Options, err error) {
	if o.Address, err = redis.ParseAddress(f.addresses...); err != nil {
		return o, usage("--redis: %w", err)
	}
	if f.timeout <= 0 || f.maxLag < 0 {
		return o, usage("--redis-timeout must be longer than nothing, and --max-lag not negative")
	}
	if o.Password, err = f.secret(); err != nil {
		return o, usage("--redis-password-file: %w", err)
	}
	o.Host, o.Timeout = host, f.timeout
	return o, nil
}

// secret is the password, without the end of its line.
func (f *redisFlags) secret() (string, error) {
	if f.password == "" {
		return os.Getenv(passwordVariable), nil
	}
	text, err := os.ReadFile(f.password)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// trips counts round trips to Redis.
type trips struct {
	n, failed int
	requests  int
	took      time.Duration
	err       error // of the first that failed
}

// see takes in a round trip.
func (t *trips) see(trip redis.RoundTrip) {
	t.n++
	t.requests += trip.Requests
	t.took += trip.Took
	if trip.Err != nil {
		t.failed++
		if t.err == nil {
			t.err = trip.Err
		}
	}
}

// String is for people who ask what was done.
func (t *trips) String() string {
	return fmt.Sprintf("redis: %d round trips for %d requests in %v", t.n, t.requests, t.took.Round(time.Millisecond))
}
