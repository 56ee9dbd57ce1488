package tail

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// Whoever may connect to --listen must not be able to take the file descriptors that the tail reads its logs with. There is
// room for a few connections. When there are too many, the one goes that has been without a request for longest; so
// somebody who leaves connections open does not keep out whoever asks.

// maxConnections is how many there are at most. A process with few file descriptors has room for less.
const maxConnections = 64

// A boundedListener accepts connections, and closes others for them.
type boundedListener struct {
	net.Listener
	max   int
	mu    sync.Mutex
	open  map[net.Conn]bool
	quiet []net.Conn // those of open that have no request, in the order in which they became so
}

func newBoundedListener(l net.Listener) *boundedListener {
	return &boundedListener{Listener: l, max: max(2, min(maxConnections, maxFiles()/8)), open: map[net.Conn]bool{}}
}

// Accept returns the next connection, for which there is room.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.admit(c) {
			return c, nil
		}
		c.Close() //nolint:errcheck // it is given up
	}
}

// admit makes room for a connection. It reports false if all others have a request.
func (l *boundedListener) admit(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		if len(l.quiet) == 0 {
			return false
		}
		oldest := l.quiet[0]
		l.forget(oldest)
		oldest.Close() //nolint:errcheck // it is given up
	}
	l.open[c] = true
	l.quiet = append(l.quiet, c)
	return true
}

// note is the ConnState of the server.
func (l *boundedListener) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[c] {
		return
	}
	switch state {
	case http.StateActive:
		l.quiet = without(l.quiet, c)
	case http.StateIdle:
		l.quiet = append(l.quiet, c)
	case http.StateClosed, http.StateHijacked:
		l.forget(c)
	}
}

func (l *boundedListener) forget(c net.Conn) {
	delete(l.open, c)
	l.quiet = without(l.quiet, c)
}

func without(all []net.Conn, c net.Conn) []net.Conn {
	return slices.DeleteFunc(all, func(other net.Conn) bool { return other == c })
}
