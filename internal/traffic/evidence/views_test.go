package evidence

import (
	"fmt"
	"strings"
	"testing"

	"shadow/internal/traffic"
	"shadow/limit"
)

// The example of Viewing, and what stands at its edges: requests are "time status path from", /x.css being a file.
func TestViewings(t *testing.T) {
	pages := map[string]uint16{"-": 0, "/": 1, "/shop": 2, "/cart": 3}
	var viewed Summary
	names := []string{"new", "same", "maybe", "late", "late same", "file"}
	for _, c := range []struct{ request, want string }{
		{"0 200 / -", "new"},
		{"0 200 x.css /", "file"},
		{"5 200 /shop /", "maybe"},
		{"5 200 x.css /shop", "late+file"},
		{"40 200 /shop -", ""}, // the page at hand refreshes itself
		{"41 404 /cart -", ""},
		{"42 200 /cart -", "new"},
		{"42 200 / -", "same"},
		{"52 200 x.css -", "file"},
		{"53 200 x.css -", ""}, // too long after the page
		{"60 200 /shop /", "maybe"},
		{"61 200 x.css /", ""},
		{"61 200 /cart /shop", "late+maybe"},
		{"61 200 x.css /cart", "late+file"},
		{"70 200 /shop /cart", "maybe"},
		{"70 200 /cart /shop", "late+maybe"},
		{"70 200 x.css /cart", "late same+file"},
		{"80 304 / /cart", "maybe"},
		{"81 500 /shop /cart", ""},
	} {
		var at, status int
		f := strings.Fields(c.request)
		if _, err := fmt.Sscan(c.request, &at, &status); err != nil {
			t.Fatal(err)
		}
		clue := traffic.Clue{Traits: traffic.Stepped | traffic.Asked, Page: pages[f[2]], From: pages[f[3]]}
		if f[2] == "x.css" {
			clue = traffic.Clue{Traits: traffic.FetchedAsset, From: pages[f[3]]}
		}
		v := viewed.View(limit.Time(at)*limit.Second, uint16(status), clue)
		var got []string
		for _, i := range []int{0, 1, 3, 4, 2, 5} {
			if v.Has(1 << i) {
				got = append(got, names[i])
			}
		}
		if strings.Join(got, "+") != c.want {
			t.Errorf("%s: %q, want %q", c.request, got, c.want)
		}
	}
	if v := new(Summary).View(0, 200, traffic.Clue{Traits: traffic.FetchedAsset}); v != 0 {
		t.Errorf("a file without a page: %b", v)
	}
}
