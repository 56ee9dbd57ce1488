//go:build nostore || js

package redis

import (
	"context"
	"errors"
	"time"
)

// A build with the tag nostore is small, for routers and the like: it shares no limits.

var errNotBuilt = errors.New("this shadow was built without Redis (nostore): take the full one, or leave out --redis")

// Conn is never there.
type Conn struct {
	host    string
	clock   Clock
	timeout time.Duration
	servers servers
}

// Open makes a Conn that fails when it is used.
func Open(Options) *Conn { return &Conn{} }

// Close does nothing.
func (*Conn) Close() error { return nil }

// Ping fails.
func (*Conn) Ping(context.Context) error { return errNotBuilt }

// Judge fails.
func (*Conn) Judge(context.Context, []*Call) error { return errNotBuilt }

type tlsConfig struct{}

// readTLS takes the options of TLS, and looks at none.
func readTLS(take func(name string) string) (*tlsConfig, error) {
	for _, name := range []string{"server-name", "ca", "cert", "key"} {
		take(name)
	}
	return nil, nil
}

func withPort(host, _ string) string { return host }

func (*Conn) remove([]string) error { return errNotBuilt }

type script struct{}

func newScript(string) *script { return &script{} }
