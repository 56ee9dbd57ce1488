package share

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The tests talk to real Redis servers, which they start and stop themselves.

// A server is a redis-server that a test has started.
type server struct {
	t      *testing.T
	socket string // "" for one with a port
	port   int
	args   []string
	cmd    *exec.Cmd

	program string // "": redis-server
}

// needs skips the test without a program; where everything must be there it fails.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: run scripts/install-test-deps", program)
	}
	t.Skipf("%s is missing", program)
}

// startServer starts a server on a socket, with more arguments as in redis.conf.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	needs(t, "redis-server")
	dir, err := os.MkdirTemp("", "shadow") // t.TempDir makes names that are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{t: t, socket: filepath.Join(dir, "redis.sock")}
	s.args = append([]string{"--port", "0", "--unixsocket", s.socket, "--dir", dir, "--save", "", "--appendonly", "no"}, args...)
	s.start()
	return s
}

// startTCP starts a server on a free port.
func startTCP(t *testing.T, args ...string) *server {
	t.Helper()
	needs(t, "redis-server")
	s := &server{t: t, port: freePort(t)}
	s.args = append([]string{"--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}, args...)
	s.start()
	return s
}

func freePort(t *testing.T) int {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port < 55000 { // a node of a cluster takes port + 10000 as well
			return port
		}
	}
}

// start starts the server, again perhaps, and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(cmp.Or(s.program, "redis-server"), s.args...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.kill)
	c := s.client()
	defer c.Close()
	for range 200 {
		if c.Ping(context.Background()).Err() == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatal("redis-server does not answer")
}

// kill ends the server at once.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

// client is a plain client, to look at what is in there.
func (s *server) client() *redis.Client {
	if s.socket == "" {
		return redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", s.port), Protocol: 2, MaxRetries: -1})
	}
	return redis.NewClient(&redis.Options{Network: "unix", Addr: s.socket, Protocol: 2, MaxRetries: -1})
}

// address is what --redis takes.
func (s *server) address() string {
	if s.socket == "" {
		return fmt.Sprintf("redis://127.0.0.1:%d", s.port)
	}
	return "unix://" + s.socket
}

// open opens the server as a host.
func (s *server) open(host string) *Redis {
	s.t.Helper()
	a, err := ParseAddress(s.address())
	if err != nil {
		s.t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: host, Timeout: 10 * time.Second})
	s.t.Cleanup(func() { r.Close() })
	return r
}

// startSentinel starts a sentinel that watches a master and needs nobody's agreement.
func startSentinel(t *testing.T, master *server) *server {
	t.Helper()
	s := &server{t: t, port: freePort(t), program: "redis-sentinel"}
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor shadowmaster 127.0.0.1 %d 1\n"+
		"sentinel down-after-milliseconds shadowmaster 500\nsentinel failover-timeout shadowmaster 3000\n", s.port, master.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{config}
	s.start()
	return s
}
