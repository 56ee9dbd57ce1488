//go:build !nostore && !js

package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Conn is one or more servers that keep the state of limits. It is safe for concurrent use.
type Conn struct {
	client     redis.UniversalClient
	host       string
	clock      Clock
	timeout    time.Duration
	servers    servers
	replicated bool // whether a replica may take over
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
	r.replicated = a.topology == cluster || a.topology == sentinel
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
	_, isCluster := r.client.(*redis.ClusterClient)
	var asked atomic.Bool
	err := r.each(ctx, func(ctx context.Context, c *redis.Client) error {
		if !isCluster {
			return c.Ping(ctx).Err()
		}
		asked.Store(true)
		text, err := c.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		return incomplete(text)
	})
	if err == nil && isCluster && !asked.Load() {
		err = incomplete("cluster_state:fail\ncluster_slots_ok:0") // no node has a slot, so there is no master to ask
	}
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// allSlots is the number of slots of a cluster. A key lies in one of them.
const allSlots = "16384"

// incomplete returns what is missing from a cluster, by the answer of CLUSTER INFO.
func incomplete(text string) error {
	fields := fieldsOf(text)
	if fields["cluster_state"] == "ok" && fields["cluster_slots_ok"] == allSlots {
		return nil
	}
	return fmt.Errorf("the cluster serves %s of %s slots, cluster_state:%s; "+
		"redis-cli --cluster check HOST:PORT says what is missing", fields["cluster_slots_ok"], allSlots, fields["cluster_state"])
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
	again, failed := r.send(ctx, calls)
	if len(again) > 0 && ctx.Err() == nil && r.mend(ctx, failed) {
		again, failed = r.send(ctx, again)
	}
	if len(again) > 0 {
		return fmt.Errorf("redis: %w", r.explain(failed[0].err))
	}
	return nil
}

// A failure says why a script has no answer.
type failure struct {
	script *script
	err    error
}

var infoScript = func() *script {
	text, err := scripts.ReadFile("scripts/info.lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return newScript(string(text))
}()

// send sends calls once and returns those without an answer, and why. Behind its calls each server is asked what
// servers.meet wants to know; without that an answer does not count.
func (r *Conn) send(ctx context.Context, calls []*Call) (again []*Call, failed []failure) {
	pipe := r.client.Pipeline()
	commands, owners := make([]*redis.Cmd, len(calls)), make([]*redis.Client, len(calls))
	keys := map[*redis.Client]string{}
	for i, c := range calls {
		key := c.Limit.key(c.Key)
		commands[i] = pipe.EvalSha(ctx, c.Limit.script.Hash(), []string{key}, c.arguments(r.host, r.clock)...)
		if r.replicated {
			owners[i] = r.master(ctx, key)
			keys[owners[i]] = key
		}
	}
	infos := map[*redis.Client]*redis.Cmd{}
	for owner, key := range keys {
		infos[owner] = pipe.EvalSha(ctx, infoScript.Hash(), []string{key}, infoFields...)
	}
	_, _ = pipe.Exec(ctx) // each command has its error
	unknown := map[*redis.Client]error{}
	for owner, command := range infos {
		text, err := command.Text()
		if err == nil {
			r.servers.meet(parseInfo(text), true)
			continue
		}
		unknown[owner], failed = err, append(failed, failure{infoScript, err})
	}
	for i, c := range calls {
		if c.Err = c.receive(commands[i].Slice()); c.Err != nil && c.Err != errForgotten {
			failed = append(failed, failure{c.Limit.script, c.Err})
			again = append(again, c)
		} else if err := unknown[owners[i]]; err != nil {
			c.Err, again = err, append(again, c)
		}
	}
	return again, failed
}

// master is the server that has a key, as far as is known; nil: the only one, or not known.
func (r *Conn) master(ctx context.Context, key string) *redis.Client {
	if c, is := r.client.(*redis.ClusterClient); is {
		if node, err := c.MasterForKey(ctx, key); err == nil {
			return node
		}
	}
	return nil
}

// mend reports whether it makes sense to send calls again, having loaded the scripts that servers lack, or found out
// which servers a cluster has now.
func (r *Conn) mend(ctx context.Context, failed []failure) bool {
	missing := map[*script]bool{}
	for _, f := range failed {
		switch {
		case redis.HasErrorPrefix(f.err, "NOSCRIPT"):
			missing[f.script] = true
		case !lost(f.err):
			return false
		}
	}
	return r.each(ctx, func(ctx context.Context, c *redis.Client) error {
		for script := range missing {
			if err := script.Load(ctx, c).Err(); err != nil {
				return err
			}
		}
		return nil
	}) == nil
}

// explain says what to do about an error that speaks of something else.
func (r *Conn) explain(err error) error {
	redirects := redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK")
	if _, is := r.client.(*redis.ClusterClient); redirects && !is {
		return fmt.Errorf("this server is a node of a cluster, so its address is redis+cluster://HOST: %w", err)
	}
	return err
}

// lost reports whether an error means that the connection ended, so that another one may do better at once.
func lost(err error) bool {
	if network, is := errors.AsType[net.Error](err); is {
		return !network.Timeout()
	}
	text := err.Error()
	return errors.Is(err, net.ErrClosed) || strings.HasSuffix(text, "EOF") || strings.Contains(text, "connection reset")
}

// identify asks a server who it is. It must not fail a connection: a server that does not answer is taken for a
// known one.
func (s *servers) identify(ctx context.Context, c *redis.Conn) error {
	if text, err := c.Info(ctx, "server").Result(); err == nil { // not to know is no reason not to connect
		replication, _ := c.Info(ctx, "replication").Result()
		s.meet(parseInfo(text+replication), false)
	}
	return nil
}

type script = redis.Script

func newScript(text string) *script { return redis.NewScript(text) }
