//go:build !nostore

package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Conn is one or more servers that keep the state of limits. It is safe for concurrent use.
type Conn struct {
	client  redis.UniversalClient
	host    string
	clock   Clock
	timeout time.Duration
	servers servers
}

// silent keeps the library from writing to standard error; what matters comes back as an error.
type silent struct{}

func init() { redis.SetLogger(silent{}) }

func (silent) Printf(context.Context, string, ...any) {}

// Open makes a Conn. No server need be there yet.
//
// The client must not repeat commands on its own account: Judge says what becomes of a call whose answer is lost.
func Open(o Options) *Conn {
	r := &Conn{host: o.Host, clock: o.Clock, timeout: cmp.Or(o.Timeout, time.Second)}
	a := &o.Address
	u := &redis.UniversalOptions{
		Addrs: a.hosts, DB: a.database, MasterName: a.master, IsClusterMode: a.topology == cluster,
		Username: a.user, Password: o.Password, SentinelPassword: o.Password, TLSConfig: a.tls,
		ClientName: "shadow", Protocol: 2, DisableIdentity: true, OnConnect: r.servers.identify,
		MaxRetries: -1, MaxRedirects: 3, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: r.timeout, ReadTimeout: r.timeout, WriteTimeout: r.timeout, PoolTimeout: r.timeout,
	}
	if a.topology != ring {
		r.client = redis.NewUniversalClient(u)
		return r
	}
	shards := map[string]string{}
	for _, host := range u.Addrs {
		shards[host] = host
	}
	r.client = redis.NewRing(&redis.RingOptions{
		Addrs: shards, DB: u.DB, Username: u.Username, Password: u.Password, TLSConfig: u.TLSConfig, ClientName: u.ClientName,
		Protocol: u.Protocol, DisableIdentity: u.DisableIdentity, OnConnect: u.OnConnect, MaxRetries: u.MaxRetries,
		ContextTimeoutEnabled: true, DialTimeout: u.DialTimeout, ReadTimeout: u.ReadTimeout,
		WriteTimeout: u.WriteTimeout, PoolTimeout: u.PoolTimeout,
		// A key stays where it is also while its server is gone: moved, it would begin from nothing, and begin again from what
		// it was when the server is back.
		HeartbeatFn: func(context.Context, *redis.Client) bool { return true },
	})
	return r
}

// Close ends all connections.
func (r *Conn) Close() error { return r.client.Close() }

// each has something done with every server that keeps keys.
func (r *Conn) each(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	switch c := r.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, do)
	case *redis.Ring:
		return c.ForEachShard(ctx, do)
	default:
		return do(ctx, c.(*redis.Client))
	}
}

// Ping returns why Redis cannot be reached, or nil.
func (r *Conn) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err := r.each(ctx, func(ctx context.Context, c *redis.Client) error { return c.Ping(ctx).Err() })
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// remove removes keys, some thousand at a time.
func (r *Conn) remove(keys []string) error {
	for some := range slices.Chunk(keys, mostAtOnce) {
		ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
		pipe := r.client.Pipeline()
		for _, key := range some {
			pipe.Unlink(ctx, key)
		}
		_, err := pipe.Exec(ctx)
		cancel()
		if err != nil {
			return fmt.Errorf("redis: %w", err)
		}
	}
	return nil
}

// Judge sends the calls in one round trip, at most one of each key and limit, and notes the answers in them. A call
// whose answer was lost, or whose script the server does not have, is sent once more.
func (r *Conn) Judge(ctx context.Context, calls []*Call) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	failed := r.send(ctx, calls)
	if len(failed) > 0 && ctx.Err() == nil && r.mend(ctx, failed) {
		failed = r.send(ctx, failed)
	}
	if len(failed) > 0 {
		return fmt.Errorf("redis: %w", failed[0].Err)
	}
	return nil
}

// send sends calls once and returns those that failed.
func (r *Conn) send(ctx context.Context, calls []*Call) (failed []*Call) {
	pipe := r.client.Pipeline()
	commands := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		commands[i] = pipe.EvalSha(ctx, c.Limit.script.Hash(), []string{c.Limit.key(c.Key)}, c.arguments(r.host, r.clock)...)
	}
	_, _ = pipe.Exec(ctx) // each command has its error
	for i, c := range calls {
		if c.Err = c.receive(commands[i].Slice()); c.Err != nil && c.Err != errForgotten {
			failed = append(failed, c)
		}
	}
	return failed
}

// mend reports whether it makes sense to send calls again, having loaded the scripts that servers lack.
func (r *Conn) mend(ctx context.Context, failed []*Call) bool {
	missing := map[*script]bool{}
	for _, c := range failed {
		switch {
		case redis.HasErrorPrefix(c.Err, "NOSCRIPT"):
			missing[c.Limit.script] = true
		case !lost(c.Err):
			return false
		}
	}
	for script := range missing {
		load := func(ctx context.Context, c *redis.Client) error { return script.Load(ctx, c).Err() }
		if r.each(ctx, load) != nil {
			return false
		}
	}
	return true
}

// lost reports whether an error means that the connection ended, so that another one may do better at once.
func lost(err error) bool {
	var network net.Error
	if errors.As(err, &network) {
		return !network.Timeout()
	}
	text := err.Error()
	return errors.Is(err, net.ErrClosed) || strings.HasSuffix(text, "EOF") || strings.Contains(text, "connection reset")
}

// identify asks a server for its run. It must not fail a connection: a server that does not answer is taken for a
// known one.
func (s *servers) identify(ctx context.Context, c *redis.Conn) error {
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return nil // not to know is no reason not to connect
	}
	role, _ := c.Info(ctx, "replication").Result()
	run := field(info, "run_id")
	if run == "" || field(role, "role") == "slave" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.complete && !s.runs[run] {
		s.restarts++
	}
	if s.runs == nil {
		s.runs = map[string]bool{}
	}
	s.runs[run] = true
	return nil
}

type script = redis.Script

func newScript(text string) *script { return redis.NewScript(text) }
