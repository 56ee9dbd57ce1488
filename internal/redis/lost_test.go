//go:build !nostore

package redis

import (
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"shadow/internal/request"
)

// A flaky line carries a request to the server and now and then ends before the answer is back. Then the host cannot
// know whether the batch was charged; it was, and must not be again.
type flaky struct {
	listener net.Listener
	server   string
	loses    atomic.Bool // the next answer
	lost     atomic.Int64
}

func startFlaky(t *testing.T, s *server) *flaky {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(filepath.Dir(s.Socket), "flaky"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f := &flaky{listener: l, server: s.Socket}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.carry(c)
		}
	}()
	return f
}

func (f *flaky) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", f.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, client) }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if f.loses.CompareAndSwap(true, false) {
			f.lost.Add(1)
			time.Sleep(5 * time.Millisecond) // the server gets on with what it was sent
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	f := startFlaky(t, s)
	a, err := ParseAddress("unix://" + f.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := Open(Options{Address: a, Host: "h", Timeout: 5 * time.Second})
	defer r.Close()
	lose := map[int]func(*host){}
	for i := 5; i < 100; i += 5 {
		lose[i] = func(*host) { f.loses.Store(true) }
	}
	got, _ := trouble(t, r, limits(t, request.ByClient, ofEach...), lose)
	wantDegraded(t, got, false)
	if n := f.lost.Load(); n < 10 {
		t.Errorf("only %d answers were lost", n)
	}
}
