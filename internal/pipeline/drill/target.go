package drill

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"shadow/internal/pipeline"
)

// A server is the one that requests are sent to. Its name is resolved once, so that no request reaches an address that
// was not looked at.
type server struct {
	host, port string
	secure     bool
	address    netip.Addr // once it is found
	timeout    time.Duration
	header     string // that tells the client; "": the source of the connection does
}

// patience is the longest that a server may take to accept a connection, or to answer a request that it does not delay.
const patience = 10 * time.Second

// parseTarget reads a target.
func parseTarget(text string) (s server, err error) {
	u, err := url.Parse(text)
	plain := err == nil && u.Host != "" && u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" &&
		u.Fragment == ""
	switch {
	case text == "":
		return s, pipeline.Usage("which server? Say, for instance, --target http://127.0.0.1:8080")
	case !plain || u.Scheme != "http" && u.Scheme != "https":
		return s, pipeline.Usage("--target %q: want a server and no path, such as http://127.0.0.1:8080", text)
	}
	s.host, s.port, s.secure = u.Hostname(), u.Port(), u.Scheme == "https"
	if s.port == "" {
		s.port = s.usual()
	}
	return s, nil
}

// usual returns the port of servers that name none.
func (s *server) usual() string {
	if s.secure {
		return "443"
	}
	return "80"
}

// url returns the server as --target names it.
func (s *server) url() string {
	if s.secure {
		return "https://" + s.authority()
	}
	return "http://" + s.authority()
}

// authority returns what the header Host has.
func (s *server) authority() string {
	if s.port == s.usual() {
		return strings.TrimSuffix(net.JoinHostPort(s.host, ""), ":")
	}
	return net.JoinHostPort(s.host, s.port)
}

// find resolves the name, refuses a server that may be of others, and looks whether it is there.
func (s *server) find(ctx context.Context, mine, sources bool) error {
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", s.host)
	if err != nil {
		return fmt.Errorf("--target %s: %w", s.url(), err)
	}
	for _, a := range all {
		a = a.Unmap()
		// Of this machine or of a private network.
		near := a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
		if !near && !mine {
			return pipeline.Usage("--target %s is %s, an address on the public internet: --yes-it-is-mine sends requests "+
				"to it, which only its owner may do", s.url(), a)
		}
	}
	slices.SortStableFunc(all, func(x, y netip.Addr) int { // 127.0.0.1 before ::1
		return x.Unmap().BitLen() - y.Unmap().BitLen()
	})
	for _, a := range all {
		s.address = a.Unmap()
		conn, failed := s.dial(ctx, "")
		if failed == nil {
			conn.Close() //nolint:errcheck // nothing was sent
			return s.canTell(sources)
		}
		err = failed
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing listens at %s (connection refused): start the server with the limit, and then the "+
			"drill", s.url())
	}
	return fmt.Errorf("--target %s: %w", s.url(), err)
}

// canTell refuses addresses of clients that no connection can have.
func (s *server) canTell(sources bool) error {
	if sources && !(s.address.Is4() && s.address.IsLoopback()) {
		return pipeline.Usage("--client-source sends from 127.1.0.1, 127.1.0.2 …, which reach only a --target on "+
			"127.0.0.1, not %s", s.address)
	}
	return nil
}

// from returns the source address of a client, by its number.
func from(number int) string {
	const most = 254
	return fmt.Sprintf("127.%d.%d.%d", 1+number/most/256%most, number/most%256, 1+number%most)
}

// dial opens a connection. source may be "".
func (s *server) dial(ctx context.Context, source string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dialer := net.Dialer{}
	if source != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	to := net.JoinHostPort(s.address.String(), s.port)
	if s.secure {
		secure := tls.Dialer{NetDialer: &dialer, Config: &tls.Config{ServerName: s.host, NextProtos: []string{"http/1.1"}}}
		return secure.DialContext(ctx, "tcp", to)
	}
	return dialer.DialContext(ctx, "tcp", to)
}

// text returns a request as it is sent: the path as it was logged, and no body.
func (s *server) text(r *outgoing) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: shadow-drill\r\n", r.method, r.path, s.authority())
	if s.header != "" {
		fmt.Fprintf(&b, "%s: %s\r\n", s.header, r.client)
	}
	if r.method != "GET" && r.method != "HEAD" {
		b.WriteString("Content-Length: 0\r\n")
	}
	b.WriteString("Connection: close\r\n\r\n")
	return []byte(b.String())
}
