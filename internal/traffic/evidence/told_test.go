package evidence

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/parse"
)

// Identities are believed of clients that a trace has named, in words that are known; whatever a log calls identity else
// changes nothing.
func TestTold(t *testing.T) {
	finder, err := NewClueFinder(ClueRules{Identities: []string{"person", "own"}})
	if err != nil {
		t.Fatal(err)
	}
	const hash = "client-5f2a90c1d37be846"
	for _, c := range []struct {
		client, identity, route string
		want                    traffic.Trait
		from                    uint16
	}{
		{hash, "own", "/", traffic.Told | traffic.Stepped, 2},
		{hash, "person", "static", traffic.Told | traffic.FetchedAsset, 1},
		{hash, "alice", "/", traffic.Stepped, 0},
		{"198.51.100.7", "own", "/", 0, 0},
		{hash + "0", "own", "/", 0, 0},
		{"client-5F2A90C1D37BE846", "own", "/", 0, 0},
	} {
		clues := make([]traffic.Clue, 1)
		finder.NewReader().Find(clues, []parse.Record{{
			Client: []byte(c.client), Identity: []byte(c.identity), Route: []byte(c.route), Method: []byte("GET"),
		}})
		if got := clues[0]; got.Traits.Has(traffic.Told) != c.want.Has(traffic.Told) || got.From != c.from ||
			c.want != 0 && got.Traits != c.want {
			t.Errorf("%s, %s, %s: %+v, want %b from %d", c.client, c.identity, c.route, got, c.want, c.from)
		}
	}
}
