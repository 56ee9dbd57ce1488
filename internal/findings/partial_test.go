package findings

import (
	"fmt"
	"testing"

	"shadow/internal/traffic"
	"shadow/internal/traffic/evidence"
	"shadow/internal/traffic/ingest"
	"shadow/limit"
)

// Where most pages of files were not asked for, and of many clients none, requests are missing.
func TestPartial(t *testing.T) {
	for name, c := range map[string]struct {
		clients, missing int // each with two pages; of so many clients they are missing
		first            bool
		span             limit.Time
		want             bool
	}{
		"a sample": {50, 35, false, limit.Hour, true}, "a whole log": {50, 34, false, limit.Hour, false},
		"few files": {49, 35, false, limit.Hour, false}, "a short log": {50, 50, false, 59 * limit.Minute, false},
		"referers of the first page": {50, 50, true, limit.Hour, false},
	} {
		town := newStreet()
		for i := range c.clients {
			client := fmt.Sprint("client ", i)
			for page := uint16(1); page <= 2; page++ {
				file := traffic.Clue{Traits: traffic.FetchedAsset, From: page}
				if c.first {
					file.From = evidence.FrontPage
				}
				town.send(client, "/", 0, 1, 200)
				town.b.Clues[town.b.Len()-1] = file
				if i >= c.missing {
					town.send(client, "/", 0, 1, 200) // a page is logged when it ends
					town.b.Clues[town.b.Len()-1].Page = page
				}
			}
		}
		s := ingest.Stats{Inputs: []ingest.InputStats{{Parsed: 1, SeenTo: c.span}}}
		if f, found := look(town.o, s, town.b)["partial"]; found != c.want || found && f.Severity != Warn {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
