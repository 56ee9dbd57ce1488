package tui

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shadow/internal/tail"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// shop is a frame of a shop that has been watched for four minutes: traffic comes in waves, and the strictest of the
// policies refuses the more the busier it is.
func shop() *Frame {
	h := new(History)
	g := &tail.Snapshot{Begun: noon, Policies: []tail.Refused{{Name: "token:6/30s"}, {Name: "leaky:6/30s"}, {Name: "site: nginx:10r/s,burst=20"}}}
	for i := range 480 {
		next := *g
		next.At = noon.Add(time.Duration(i) * 500 * time.Millisecond)
		wave := 1 + math.Sin(float64(i)/50)
		came := int64(150 * wave * wave)
		next.Requests += came
		next.Policies = append([]tail.Refused(nil), g.Policies...)
		next.Policies[0].Refused += int64(float64(came) * 0.08 * wave)
		next.Policies[1].Refused += came / 50
		h.Take(&next)
		g = &next
	}
	g.Waiting, g.Logs, g.Late, g.Unreadable = 1234, 2, 3, 17
	g.Asked = tail.Query{Rows: 50}
	g.Clients = tail.List{Total: 6543, Names: 61, Found: 61, Top: []tail.Recent{
		{Name: "203.0.113.7", Refused: 4321, Class: "tool", Action: "/login", Last: g.At},
		{Name: "2001:db8:85a3:8d3:1319:8a2e:370:7348", Refused: 1234, Class: "browser", Action: "/search", Last: g.At.Add(-12 * time.Second)},
		{Name: "198.51.100.20", Refused: 1, Class: "crawler", Action: "GET /products/{id}/reviews", Last: g.At.Add(-3 * time.Minute)},
	}}
	g.Actions = tail.List{Total: 6543, Names: 2, Top: []tail.Recent{
		{Name: "/login", Refused: 4400, Last: g.At},
		{Name: "/search", Refused: 2143, Last: g.At.Add(-2 * time.Second)},
	}}
	return &Frame{Title: "/var/log/nginx/access.log", Snapshot: g, History: h, Now: g.At, Width: 100, Height: 24}
}

// shared is a shop whose limits other hosts share; Redis has been away for three minutes, and was an hour ago.
func shared() *Frame {
	f := shop()
	f.Snapshot.Redis = &tail.Redis{Away: f.Now.Add(-3 * time.Minute)}
	f.Snapshot.Policies[0].Degraded = f.Now.Add(-170 * time.Second)
	f.Snapshot.Policies[2].Degraded = f.Now.Add(-time.Hour)
	return f
}

// flood is a shop with more policies and clients than there is room for, and a tail that cannot keep up.
func flood() *Frame {
	f := shop()
	g := *f.Snapshot
	for i := len(g.Policies); i < 46; i++ {
		g.Policies = append(g.Policies, tail.Refused{Name: "window:" + string(rune('a'+i%26)) + "/30s", Refused: int64(i)})
	}
	g.LagBytes, g.Lag, g.Forgotten, g.Excluded = 123456789, 95*time.Second, 5, 6
	g.Clients.Lost = 4
	for i := range g.Clients.Top {
		g.Clients.Top[i].Missing = 4
	}
	g.Asked.Policy = 30
	f.Snapshot, f.Policy = &g, 30
	f.Note = "access.log: no such file"
	return f
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got+"\n", "\n")); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", name, diff)
	}
}
