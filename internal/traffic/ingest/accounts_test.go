package ingest

import (
	"fmt"
	"strings"
	"testing"

	"shadow/parse"
	"shadow/parse/detect"
)

// Accounts are told where they are another unit than addresses, by a user or a field of that name, and not where each has
// an address of its own, where few requests have one, or where each request has another.
func TestAccountsIn(t *testing.T) {
	for name, c := range map[string]struct {
		account, address func(n int) int
		want             string // the field; "": none
		values, others   int
	}{
		"behind gateways":     {func(n int) int { return n % 12 }, func(n int) int { return n % 3 }, "x_api_key", 12, 3},
		"from many machines":  {func(n int) int { return n % 3 }, func(n int) int { return n % 12 }, "x_api_key", 3, 12},
		"one each":            {func(n int) int { return n % 12 }, func(n int) int { return n % 12 }, "", 0, 0},
		"another each time":   {func(n int) int { return n }, func(n int) int { return n % 3 }, "", 0, 0},
		"few":                 {func(n int) int { return n % 2 }, func(int) int { return 1 }, "", 0, 0},
		"mostly without one":  {func(n int) int { return map[bool]int{true: n % 7}[n%3 == 0] }, func(int) int { return 1 }, "", 0, 0},
		"mostly of one alone": {func(n int) int { return max(0, n-150) / 10 }, func(n int) int { return min(1, n/160) * (1 + n%2) }, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var json, text strings.Builder
			for n := range 200 {
				account := "-"
				if a := c.account(n); a > 0 || name != "mostly without one" {
					account = fmt.Sprint("k", a)
				}
				fmt.Fprintf(&json, `{"time":"2026-03-01T10:00:00Z","remote_addr":"192.0.2.%d","request":"GET / HTTP/1.1","status":200,"x_api_key":"%s","request_id":"%d"}`+"\n",
					c.address(n), account, n)
				fmt.Fprintf(&text, `192.0.2.%d - %s [01/Mar/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1`+"\n", c.address(n), account)
			}
			for field, sample := range map[string]string{"x_api_key": json.String(), "user": text.String()} {
				got, is := AccountsIn([]byte(sample), func(fields []string) (*parse.Format, error) {
					found, err := detect.Choice{Format: "auto", Options: parse.Options{Extra: fields}}.For([]byte(sample))
					return found.Format, err
				})
				want := Accounts{Field: field, Values: c.values, Shared: c.others}
				if c.want == "" {
					want = Accounts{}
				} else if c.values < c.others {
					want = Accounts{Field: field, Values: c.values, Spread: c.others}
				}
				if got != want || is != (c.want != "") {
					t.Errorf("%s: %+v, %v, want %+v", field, got, is, want)
				}
			}
		})
	}
}
