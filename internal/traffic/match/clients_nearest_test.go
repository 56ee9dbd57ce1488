package match

import (
	"slices"
	"testing"

	"shadow/internal/traffic/intern"
)

// Who mistypes a client is shown those that were likely meant.
func TestNearestClients(t *testing.T) {
	clients := intern.NewDict()
	for _, name := range []string{"192.0.2.9", "192.0.3.1", "198.51.100.7", "2001:db8::/64", "2001:db8:1::7", "alice", "Alicent", "bob"} {
		clients.ID([]byte(name))
	}
	for name, want := range map[string][]string{
		"192.0.2.8":     {"192.0.2.9", "192.0.3.1"},
		"192.0.2.0/24":  {"192.0.2.9", "192.0.3.1"},
		"2001:db8::1":   {"2001:db8::/64", "2001:db8:1::7"},
		"ALICE":         {"alice", "Alicent"},
		"bobb":          {"bob"},
		"somebody else": {},
	} {
		if got := NearestClients(clients, name, 2); !slices.Equal(got, want) {
			t.Errorf("nearest to %s are %q, want %q", name, got, want)
		}
	}
}
