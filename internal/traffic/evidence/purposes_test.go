package evidence

import (
	"testing"

	"shadow/internal/traffic"
	"shadow/parse"
)

// What a target is for shows where it is asked for, and a look with HEAD sends no password.
func TestPurposesOfRequests(t *testing.T) {
	const get, post, head = traffic.Stepped | traffic.Asked, traffic.Stepped, traffic.Stepped | traffic.Peeked
	for _, c := range []struct {
		method, path string
		want         traffic.Trait
	}{
		{"GET", "/shop", get},
		{"POST", "/shop", post},
		{"HEAD", "/shop", head},
		{"GET", "/wp-login.php", get},
		{"POST", "/wp-login.php", post | traffic.TriedPassword},
		{"HEAD", "/wp-login.php", head},
		{"GET", "/.env", get | traffic.Probed | traffic.Pried},
		{"HEAD", "/.env", head | traffic.Probed | traffic.Pried},
		{"GET", "/cgi-bin/luci", get | traffic.Probed},
		{"POST", "/wp-cron.php", post | traffic.Worked},
	} {
		for _, purposes := range []bool{true, false} {
			finder, err := NewClueFinder(ClueRules{Purposes: purposes})
			if err != nil {
				t.Fatal(err)
			}
			clues, want := make([]traffic.Clue, 1), c.want
			if !purposes {
				want &= get
			}
			finder.Find(clues, []parse.Record{{Method: []byte(c.method), Path: []byte(c.path), Status: 200}})
			paged := c.method == "GET" || c.method == "HEAD" && purposes
			if got := clues[0]; got.Traits != want || (got.Page != 0) != paged {
				t.Errorf("%s %s, purposes %v: %b of page %d, want %b", c.method, c.path, purposes, got.Traits, got.Page, want)
			}
		}
	}
}
