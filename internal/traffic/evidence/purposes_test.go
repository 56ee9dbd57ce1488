package evidence

import (
	"fmt"
	"testing"

	"shadow/internal/testneeds"
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
		{"GET", "/", get | traffic.Checked},
		{"GET", "/healthz", get | traffic.Checked},
		{"HEAD", "/shop", head | traffic.Checked},
		{"GET", "/wp-login.php", get | traffic.TriedPassword},
		{"POST", "/wp-login.php", post | traffic.TriedPassword},
		{"POST", "/xmlrpc.php", post | traffic.TriedPassword | traffic.Ambiguous},
		{"HEAD", "/wp-login.php", head | traffic.Checked},
		{"GET", "/.env", get | traffic.Probed | traffic.Pried},
		{"HEAD", "/.env", head | traffic.Checked | traffic.Probed | traffic.Pried},
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
			finder.NewReader().Find(clues, []parse.Record{{Method: []byte(c.method), Path: []byte(c.path), Status: 200}})
			paged := c.method == "GET" || c.method == "HEAD" && purposes
			if got := clues[0]; got.Traits != want || (got.Page != 0) != paged {
				t.Errorf("%s %s, purposes %v: %b of page %d, want %b", c.method, c.path, purposes, got.Traits, got.Page, want)
			}
		}
	}
}

// What a target tells depends on what it was answered.
func TestExcused(t *testing.T) {
	const get = traffic.Stepped | traffic.Asked
	finder, err := NewClueFinder(ClueRules{Purposes: true})
	if err != nil {
		t.Fatal(err)
	}
	reader := finder.NewReader()
	for target, want := range map[string][2]traffic.Trait{ // answered 200 and 404
		"/.well-known/caldav":        {get, 0},
		"/.well-known/x?%3Cscript":   {get | traffic.Probed, get | traffic.Probed},
		"/search?q=%3Cscript%3E":     {get, get | traffic.Probed},
		"/search?sort=%3Cscript%3E":  {get | traffic.Probed, get | traffic.Probed},
		"/.git/config?q=%3Cscript%3": {get | traffic.Probed | traffic.Pried, get | traffic.Probed | traffic.Pried},
	} {
		for i, status := range []int32{200, 404} {
			clues := make([]traffic.Clue, 1)
			reader.Find(clues, []parse.Record{{Method: []byte("GET"), Path: []byte(target), Status: status}})
			if clues[0].Traits != want[i] {
				t.Errorf("%s, answered %d: %b, want %b", target, status, clues[0].Traits, want[i])
			}
		}
	}
}

// What a reader remembers changes nothing: it says of each request what one that has read nothing says.
func TestReaderRemembersRightly(t *testing.T) {
	methods := [][]byte{nil, {}, []byte("GET"), []byte("HEAD"), []byte("POST"), []byte("GOT")}
	hosts := []string{"", "shop.example", "www.shop.example:80", "other.example"}
	random := testneeds.Rand(t, 1, 2)
	for _, site := range [][]string{nil, {"shop.example"}} {
		finder, err := NewClueFinder(ClueRules{Purposes: true, Hosts: site})
		if err != nil {
			t.Fatal(err)
		}
		known, clues, want := finder.NewReader(), make([]traffic.Clue, 1), make([]traffic.Clue, 1)
		for range 5000 {
			page := []byte(fmt.Sprintf("/page/%d", random.IntN(40)) + []string{"", ".css", "?q=1", "#top", "/.git/config"}[random.IntN(5)])
			r := parse.Record{Method: methods[random.IntN(len(methods))], Path: page, Host: []byte(hosts[random.IntN(len(hosts))])}
			if random.IntN(3) > 0 {
				r.Referer = fmt.Appendf(nil, "https://%s/page/%d", hosts[random.IntN(len(hosts))], random.IntN(9))
			}
			known.Find(clues, []parse.Record{r})
			finder.NewReader().Find(want, []parse.Record{r})
			if clues[0] != want[0] {
				t.Fatalf("%q %q of %q from %q: %v, want %v", r.Method, r.Path, r.Host, r.Referer, clues[0], want[0])
			}
		}
	}
}
