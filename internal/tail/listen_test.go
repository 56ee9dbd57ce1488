//go:build !nostore

package tail

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// A connection that asks for nothing holds no end up, and is closed with it.
func TestListenStops(t *testing.T) {
	at, stop, err := new(Metrics).Listen("127.0.0.1:0", "test", nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	stop()
	_ = conn.SetReadDeadline(time.Now().Add(9 * time.Second))               // before the server itself gives the connection up
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) { // a reset is an end, too
		t.Error("the connection is open still:", err)
	}
}

// Of the quiet connections the one that is closed is forgotten, and the others keep their order.
func TestWithout(t *testing.T) {
	var all []net.Conn
	for range 3 {
		a, b := net.Pipe()
		t.Cleanup(func() { a.Close(); b.Close() })
		all = append(all, a)
	}
	first, gone, last := all[0], all[1], all[2]
	if left := without(all, gone); len(left) != 2 || left[0] != first || left[1] != last {
		t.Errorf("%d are left", len(left))
	}
}

// What a tail says is harmless for a terminal, also what Redis has sent.
func TestSayEscapes(t *testing.T) {
	var said strings.Builder
	(&Tail{options: Options{Err: &said}}).say("Redis: %v", errors.New("ERR \x1b[2J"))
	if got := said.String(); !strings.HasPrefix(got, "shadow: Redis: ERR ") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
