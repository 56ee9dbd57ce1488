package redis

import (
	"context"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// A server that was started again, or that another one stands in for, may have lost what it was told. No command fails for
// that, but whoever talks to it has to connect again; so each new connection asks the server which run of it this is.

// nodes are the runs of servers that have been met.
type nodes struct {
	mu    sync.Mutex
	runs  map[string]bool
	fresh int // how often a run was met that was not known, but for the first time that Redis was reached
	known bool
}

// meet asks a server who it is. It must not fail a connection: a server that does not tell is taken for one that is known.
func (n *nodes) meet(ctx context.Context, c *redis.Conn) error {
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return nil //nolint:nilerr // not to know is no reason not to connect
	}
	role, _ := c.Info(ctx, "replication").Result()
	if field(role, "role") == "slave" {
		return nil
	}
	n.note(field(info, "run_id"))
	return nil
}

// note takes in the run of a server.
func (n *nodes) note(run string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if run == "" || n.runs[run] {
		return
	}
	if n.runs == nil {
		n.runs = map[string]bool{}
	}
	n.runs[run] = true
	if n.known {
		n.fresh++
	}
}

// settle says that all servers have been met, so that any other is a new one.
func (n *nodes) settle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = true
}

// restarts is how many new servers have been met since.
func (n *nodes) restarts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fresh
}

// field is the value of a line of INFO, "name:value".
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+":"); found {
			return value
		}
	}
	return ""
}
