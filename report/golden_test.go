package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var townOptions = Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.duckdb", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

// TestGolden compares whole reports with the files in testdata; -update rewrites them.
func TestGolden(t *testing.T) {
	at := func(width int) Options {
		o := townOptions
		o.Width = width
		return o
	}
	for _, c := range []struct {
		file, format string
		model        *Model
	}{
		{"town.txt", "table", New(town(), townOptions)},
		{"town-80.txt", "table", New(town(), at(80))},
		{"town-100.txt", "table", New(town(), at(100))},
		{"town-160.txt", "table", New(town(), at(160))},
		{"town.json", "json", New(town(), townOptions)},
		{"town.csv", "csv", New(town(), townOptions)},
		{"town.md", "markdown", New(town(), townOptions)},
		{"sweep.txt", "table", New(townOfMany(), at(100))},
		{"sweep-page.txt", "table", New(townOfMany(), townOptions)},
		{"sweep.md", "markdown", New(townOfMany(), townOptions)},
		{"site.txt", "table", New(site(), at(100))},
		{"made.txt", "table", New(made(), at(100))},
		{"made.json", "json", New(made(), at(100))},
		{"made.csv", "csv", New(made(), at(100))},
		{"made.md", "markdown", New(made(), at(100))},
		{"band.txt", "table", New(bandedTown(), at(100))},
		{"band.md", "markdown", New(bandedTown(), townOptions)},
		{"band.json", "json", New(bandedTown(), townOptions)},
		{"band.csv", "csv", New(bandedTown(), townOptions)},
		{"peaceful.txt", "table", New(peaceful(), Options{Width: 100})},
		{"empty.txt", "table", New(empty(), Options{Width: 100})},
		{"empty.json", "json", New(empty(), Options{})},
		{"empty.csv", "csv", New(empty(), Options{})},
		{"empty.md", "markdown", New(empty(), Options{})},
	} {
		t.Run(c.file, func(t *testing.T) { golden(t, c.file, write(t, described(c.model), c.format)) })
	}
}

// described gives the policies texts that do not change with the limiters' own.
func described(m *Model) *Model {
	for i := range m.Policies {
		p := &m.Policies[i]
		for j := range p.Parts {
			p.Parts[j].Semantics = "a bucket of 6, refilled evenly by 6 in 30 s, full at first; a refused request takes nothing out"
			p.Parts[j].Nginx = "rate=12r/m burst=5 nodelay (nginx counts in milliseconds)"
		}
		p.Semantics = strings.Join(p.meanings(), "; ")
		p.Nginx = strings.Join(p.told(func(part *Part) string { return part.Nginx }), "; ")
	}
	return m
}

func write(t testing.TB, m *Model, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), rewrite it with -update:\n%s", path, diff)
	}
}

// sweep is the town under twelve limits: more than --top.
func townOfMany() *replay.Result {
	res := town()
	for len(res.Policies) < 12 {
		res.Policies = append(res.Policies, res.Policies[:2]...)
	}
	return res
}

// site is the town under a limit for the whole site, in a log without agents and within one day.
func site() *replay.Result {
	res := town()
	res.Stats.HasAgents, res.Stats.HasUpstream = false, false
	res.Stats.LastAt = res.Stats.FirstAt + limit.Hour
	res.Stats.Resolution = limit.Second
	res.Policies[1].Policy.Parts[0].By = policy.BySite
	return res
}

// made is the town under policies that are made of more than one limit for all requests: a client's limits for logins and
// for all, inside the site's, and an approximation; then a limit that keeps nobody waiting, though it could.
func made() *replay.Result {
	res := town()
	first, second := &res.Policies[0], &res.Policies[1]
	login := policy.Part{
		Spec: limit.Spec{Algorithm: "token", Count: 5, Period: 5 * limit.Minute}, Match: 1, Count: 2,
		MatchText: "action login", CountText: "action login, status 401 or 403",
	}
	site := policy.Part{Spec: limit.Spec{Algorithm: "nginx", Count: 100, Period: limit.Second, Options: "burst=200"}, By: policy.BySite}
	first.Policy = policy.Policy{Name: "login|<b>", Parts: []policy.Part{login, first.Policy.Parts[0], site}}
	first.Degraded = replay.Degraded{Requests: 1_041, Refused: 60}
	first.Delays = &replay.Delays{Requests: 1234, Total: 321 * limit.Second, P50: 180 * limit.Millisecond, P99: 1_999_001}
	second.Policy.Parts[0].Spec.Algorithm = "cloudflare~"
	second.Policy.Name = second.Policy.Text()
	second.Range = &replay.Range{Refused: [2]int64{39_000, 41_360}, ClientsHit: [2]int64{9, 9}} // told, though it has no length
	res.Policies = append(res.Policies, replay.PolicyTally{
		Policy:   onePart(limit.Spec{Algorithm: "nginx", Count: 6, Period: limit.Second}, policy.ByClient),
		Requests: first.Requests, ByAction: make([]int64, len(first.ByAction)), Delays: &replay.Delays{},
		Degraded: replay.Degraded{Requests: 1},
	})
	return res
}

// peaceful is the town under a limit that nobody meets.
func peaceful() *replay.Result {
	res := town()
	t := res.Policies[0]
	t.Refused, t.Hits, t.ByAction = 0, replay.Hits{}, make([]int64, len(t.ByAction))
	t.WorstMinute, t.WorstMinuteRefused, t.BytesSaved, t.UpstreamSaved = 0, 0, 0, 0
	res.Policies = []replay.PolicyTally{t}
	return res
}

// empty is an empty file.
func empty() *replay.Result {
	res := nobody()
	res.Stats.Inputs = []traffic.InputStats{{Name: "empty.log"}}
	res.Policies = []replay.PolicyTally{{Policy: onePart(limit.Spec{Algorithm: "token", Count: 6, Period: 30 * limit.Second}, policy.ByClient)}}
	return res
}
