//go:build !nostore

package redis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"shadow/internal/redis/redistest"
)

// The tests talk to real Redis servers.

// A server is one that a test has started.
type server struct {
	*redistest.Server
	t testing.TB
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return &server{redistest.Start(t, args...), t}
}

func startTCP(t testing.TB, args ...string) *server {
	t.Helper()
	return &server{redistest.StartTCP(t, args...), t}
}

// client is a plain client, to look at what is in there.
func (s *server) client() *redis.Client {
	if s.Socket == "" {
		return redis.NewClient(&redis.Options{Addr: s.HostPort(), Protocol: 2, MaxRetries: -1})
	}
	return redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket, Protocol: 2, MaxRetries: -1})
}

// open opens the server as a host that waits for longer than a busy machine keeps it waiting: a server that is gone fails a
// command at once.
func (s *server) open(host string) *Conn {
	s.t.Helper()
	return s.openWithin(host, 10*time.Second)
}

// openWithin opens the server as a host that waits at most that long, as for one that is there and does not answer.
func (s *server) openWithin(host string, timeout time.Duration) *Conn {
	s.t.Helper()
	a, err := ParseAddress(s.Address())
	if err != nil {
		s.t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: host, Timeout: timeout})
	s.t.Cleanup(func() { r.Close() })
	return r
}
