// Package redistest starts real Redis servers for tests, and makes trouble for them.
package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"shadow/internal/mapped"
	"shadow/internal/testneeds"
)

// A TB is what a server needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(do func())
}

// A Server is a redis-server, or a program of its kin, that a test has started. It ends with the test.
type Server struct {
	Socket string // "" for one with a port
	Port   int    // on 127.0.0.1
	Args   []string

	t       TB
	program string
	cmd     *exec.Cmd
}

// Start starts a server on a socket, with more arguments as in redis.conf.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	testneeds.Program(t, "redis-server")
	dir, err := os.MkdirTemp("", "shadow") // t.TempDir makes names that are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return StartAt(t, filepath.Join(dir, "redis.sock"), args...)
}

// StartAt starts a server on a socket of that name.
func StartAt(t TB, socket string, args ...string) *Server {
	t.Helper()
	s := &Server{Socket: socket, t: t, program: "redis-server"}
	s.Args = append([]string{"--port", "0", "--unixsocket", socket, "--dir", filepath.Dir(socket), "--save", ""}, args...)
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// StartTCP starts a server on a free port.
func StartTCP(t testing.TB, args ...string) *Server {
	t.Helper()
	testneeds.Program(t, "redis-server")
	s := &Server{Port: FreePort(t), t: t, program: "redis-server"}
	s.Args = append([]string{"--port", fmt.Sprint(s.Port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", ""}, args...)
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// StartSentinel starts a sentinel that watches a master, calls it shadowmaster, and needs no other's agreement.
func StartSentinel(t testing.TB, master *Server) *Server {
	t.Helper()
	testneeds.Program(t, "redis-sentinel")
	s := &Server{Port: FreePort(t), t: t, program: "redis-sentinel"}
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor shadowmaster 127.0.0.1 %d 1\n"+
		"sentinel down-after-milliseconds shadowmaster 500\nsentinel failover-timeout shadowmaster 3000\n", s.Port, master.Port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Args = []string{config}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// FreePort returns a port that no program listens on, nor on the one 10,000 above it, which a node of a cluster takes
// as well. Both lie below those that systems give to connections, so that none takes them before the server does.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 11_000 + rand.IntN(10_000)
		if isFree(port) && isFree(port+10_000) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Start starts the server, again perhaps, and waits until it answers. It knows nothing of what it knew before.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, s.Args...)
	err := s.cmd.Start()
	for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if s.ask("PING").Err() == nil {
			return
		}
	}
	s.t.Fatalf("%s does not answer: %v", s.program, err)
}

// Kill ends the server at once.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.Signal(sigCont)
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}

// Signal sends the server a signal.
func (s *Server) Signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

// Do has the server do what takes no answer.
func (s *Server) Do(command string) {
	s.t.Helper()
	if err := s.ask(command).Err(); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
}

// ask returns what the server answers to a command, for which it may take its time.
func (s *Server) ask(command string) *redis.Cmd {
	o := &redis.Options{
		Addr: s.HostPort(), Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1, ReadTimeout: -1,
	}
	if s.Socket != "" {
		o.Network, o.Addr = "unix", s.Socket
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	return c.Do(context.Background(), mapped.Of(strings.Fields(command), func(word string) any { return word })...)
}

// HostPort is where a server with a port listens.
func (s *Server) HostPort() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// Address returns the value of --redis for the server.
func (s *Server) Address() string {
	if s.Socket == "" {
		return "redis://" + s.HostPort()
	}
	return "unix://" + s.Socket
}
