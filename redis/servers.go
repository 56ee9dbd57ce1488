package redis

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// A server that was started again, or that another one stands in for, may have lost what it knew. No command fails for
// that, but whoever talks to it has to connect again. So each new connection asks the server for its run_id.

// servers are those that were met, by run_id.
type servers struct {
	mu       sync.Mutex
	runs     map[string]bool
	complete bool // all have been met, so any other is a new one
	restarts int  // new servers met since
}

// settle says that all servers have been met: those of earlier runs, if any are given.
func (s *servers) settle(runs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete = true
	if len(runs) > 0 {
		s.runs = map[string]bool{}
	}
	for _, run := range runs {
		s.runs[run] = true
	}
}

// met are the servers that were met.
func (s *servers) met() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.runs))
}

// restarted is how many new servers were met since.
func (s *servers) restarted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarts
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
