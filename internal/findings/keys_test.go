package findings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"shadow/internal/request"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/network"
	"shadow/internal/traffic/who"
)

// A client that claims a crawler with known addresses, from elsewhere, forges its name; of others that is unknown.
func TestForgedCrawlers(t *testing.T) {
	ranges := filepath.Join(t.TempDir(), "googlebot.json")
	if err := os.WriteFile(ranges, []byte(`{"prefixes": [{"ipv4Prefix": "66.249.64.0/19"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	crawlers, err := network.ReadCrawlers([]string{ranges})
	if err != nil {
		t.Fatal(err)
	}
	town := newStreet()
	town.o.Known = network.Known{Crawlers: crawlers}
	agents := town.o.Read.Tables.Agents
	for _, c := range []struct {
		agent, client string
		requests      int
	}{
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "66.249.66.1", 30},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "192.0.2.9", 12},
		{"Googlebot-Image/1.0", "192.0.2.8", 7},
		{"Googlebot-Image/1.0", "192.0.2.9", 1},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "192.0.2.7", 50},
		{"curl/8.5.0", "192.0.2.6", 400},
	} {
		town.send(c.client, "/", 0, c.requests, 200)
		for row := town.b.Len() - c.requests; row < town.b.Len(); row++ {
			town.b.Agent[row] = uint16(agents.ID([]byte(c.agent)))
		}
	}
	l := New(town.o)
	l.Take(town.b)
	found := l.Findings(&ingest.Stats{Counts: ingest.Counts{Parsed: 500}})
	i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == "forged_crawler" })
	const says = "20 (4.00 %) requests of 2 clients name Googlebot, Googlebot-Image and come from other addresses than it has"
	if i < 0 || found[i].Evidence != says || found[i].Share != 0.04 || found[i].Severity != Info {
		t.Errorf("%+v", found)
	}
	if names := l.members(1 << who.Disguised); !slices.Equal(names, []string{"192.0.2.8", "192.0.2.9"}) {
		t.Errorf("forgers are %q", names)
	}
	if town.o.Read.Clients, err = match.ParseClientRule("user", "", nil); err != nil {
		t.Fatal(err)
	}
	if f, found := look(town.o, ingest.Stats{Counts: ingest.Counts{Parsed: 500}}, town.b)["forged_crawler"]; found {
		t.Errorf("names of users have no network: %+v", f)
	}
}

// What limits count by is missing in some requests. That it is in none, or is only tried, is another package's warning.
func TestKeyMissing(t *testing.T) {
	session, tenant := request.Part{Kind: request.PartField, Name: "session"}, request.Part{Kind: request.PartField, Name: "tenant"}
	bySession, err := request.ParseKey("client+field:session")
	if err != nil {
		t.Fatal(err)
	}
	for lacking, want := range map[int]bool{0: false, 1: true, 9: true, 10: false} {
		for _, trial := range []bool{false, true} {
			town := newStreet()
			town.o.Keys, town.o.Read.Tables.Parts = []request.Key{bySession}, []request.Part{tenant, session}
			if trial {
				town.o.Read.Trial = new(ingest.Trial)
			}
			town.send("192.0.2.1", "/", 0, 10, 200)
			for i := range 10 {
				town.b.Values[0] = append(town.b.Values[0], traffic.NoValue) // nothing counts by it
				town.b.Values[1] = append(town.b.Values[1], int32(i))
				if i < lacking {
					town.b.Values[1][i] = traffic.NoValue
				}
			}
			f, found := look(town.o, ingest.Stats{Counts: ingest.Counts{Parsed: 10}}, town.b)["key_missing"]
			if found != (want && !trial) || found && f.Evidence != fmt.Sprintf("%d of 10 requests have no %s: where limits count by it, they count by their clients", lacking, session) {
				t.Errorf("%d of 10 lack it, tried %v: %+v", lacking, trial, f)
			}
		}
	}
}

// Where limits count by action, it is told which actions stand for several paths.
func TestFoldedPaths(t *testing.T) {
	town := newStreet()
	actions, err := match.NewActions(nil, town.o.Read.Tables.Actions)
	if err != nil {
		t.Fatal(err)
	}
	actions.NotePaths()
	town.o.Read.Actions, town.o.ByPath = actions, "--by client+path"
	m := actions.NewMatcher()
	for path, n := range map[string]int{"/item/1": 3, "/item/22": 1, "/item/333": 1, "/user/1/a": 2, "/user/2/a": 2, "/about": 4} {
		for range n {
			id := m.ID([]byte("GET"), []byte(path))
			town.send("192.0.2.1", town.o.Read.Tables.Actions.Name(id), 0, 1, 200)
		}
	}
	for _, keys := range [][]request.Key{{request.ByClient}, {request.ByClient, request.ByClientAction}} {
		town.o.Keys = keys
		f, found := look(town.o, ingest.Stats{Counts: ingest.Counts{Parsed: 13}}, town.b)["folded_paths"]
		want := "what counts by client+action counts several paths as one: 2 actions stand for 5 paths (/item/… for 3, /user/… for 2)"
		if len(keys) == 1 {
			want = ""
		}
		if found != (want != "") || f.Evidence != want || found && (f.Share != ShareOf(9, 13) || f.Remedy != "--by client+path") {
			t.Errorf("by %v: %+v", keys, f)
		}
	}
}
