package commands

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type bound struct {
	Key        string
	Requests   int64
	OfRequests int64 `json:"of_requests"`
	Clients    int64
	OfClients  int64 `json:"of_clients"`
}

// The bound of each key is the same figure, whichever command is asked: keys, with windows or a limit, or suggest.
func TestBoundsAgree(t *testing.T) {
	for _, log := range []string{"shop-combined.log", "nginx-timed.log", "vhosts.log", "rotated", "api.json"} {
		for name, q := range map[string]struct{ keys, suggest []string }{
			"as the site is":  {nil, nil},
			"other groups":    {[]string{"--target", "programs,crawlers", "--protect", "browsers,monitors"}, []string{"--target", "programs,crawlers", "--protect", "browsers=99.9%,monitors=99.9%"}},
			"one action":      {[]string{"--action", "/"}, []string{"--action", "/"}},
			"not all the log": {[]string{"--since", "2026-03-02T12:00:00Z"}, []string{"--since", "2026-03-02T12:00:00Z"}},
		} {
			if name == "one action" && log == "api.json" {
				continue // it has no front page
			}
			t.Run(log+", "+name, func(t *testing.T) {
				t.Parallel()
				suggested := readJSON[struct {
					Answer struct {
						Bound bound
						ByKey []bound `json:"bound_by_key"`
					}
				}](t, slices.Concat([]string{"suggest", log, "--details"}, q.suggest)...).Answer
				suggested.Bound.Key = "client"
				want := map[string]bound{}
				for _, b := range append(suggested.ByKey, suggested.Bound) {
					want[b.Key] = b
				}
				args := slices.Concat([]string{"keys", log, "--details"}, q.keys)
				type answer struct{ Bounds struct{ Keys []bound } }
				asked := readJSON[answer](t, args...).Bounds.Keys
				if len(asked) < 4 {
					t.Errorf("%d keys have a bound", len(asked))
				}
				usual := len(want)
				for _, got := range asked {
					if _, known := want[got.Key]; !known { // the log's own, which suggest does not try
						want[got.Key] = readJSON[answer](t, append(args, "--by", got.Key)...).Bounds.Keys[0]
					}
					if got != want[got.Key] {
						t.Errorf("%s: %+v by keys, %+v by suggest", got.Key, got, want[got.Key])
					}
				}
				if name == "as the site is" {
					limited := readJSON[answer](t, append(args, "--limit", "6/30s")...).Bounds.Keys
					if !reflect.DeepEqual(asked[:usual], limited) {
						t.Errorf("windows: %+v, one limit: %+v", asked, limited)
					}
				}
				shown := run(t, "../../sample-logs", append(args, "--output", "csv", "--quiet")...)
				rows, err := csv.NewReader(strings.NewReader(string(shown))).ReadAll()
				must(t, err)
				for _, row := range rows[1:] {
					b := want[row[slices.Index(rows[0], "key")]]
					at := slices.Index(rows[0], "bound_requests")
					if got, want := fmt.Sprint(row[at], row[at+1], row[at+3], row[at+4]), fmt.Sprint(fmt.Sprint(b.Requests), fmt.Sprint(b.OfRequests), fmt.Sprint(b.Clients), fmt.Sprint(b.OfClients)); got != want {
						t.Errorf("CSV has %s of %s, want %s", got, b.Key, want)
					}
				}
			})
		}
	}
}
