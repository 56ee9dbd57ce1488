package html

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/internal/traffic"
	"shadow/internal/traffic/ingest"
	"shadow/internal/traffic/match"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/document"
	"shadow/report/history"
)

var townOptions = report.Options{
	Version: "1.2.3", Command: "shadow replay access.log* --limit 6/30s", Database: "shadow.db", Run: "7",
	Warnings: []string{"access.log.1.gz: ended early: truncated gzip"},
}

// evilTexts are texts that would do something if they came into a page as anything but text.
var evilTexts = []string{
	`<script>window.owned=1</script>`,
	`"><img src=x onerror=window.owned=1>`,
	`</script><script>window.owned=1</script>`,
	`'-window.owned=1-'`,
	`{{.Data}}<!--`,
	"\u2028window.owned=1\u2029",
	`javascript:window.owned=1`,
	`</style><svg onload=window.owned=1>`,
	`]]>&lt;b&gt;`,
}

// evilLog has such texts as client, path, referer and agent, some people, and lines that are none.
func evilLog(clients, rounds int) string {
	var b strings.Builder
	for round := range rounds {
		stamp := fmt.Sprintf("02/Mar/2026:10:%02d:%02d +0000", round/6%60, round%6*10)
		for i := range clients {
			text := strings.ReplaceAll(evilTexts[i%len(evilTexts)], `"`, `\x22`)
			word := strings.ReplaceAll(text, " ", "+")
			fmt.Fprintf(&b, "192.0.2.%d - %s%d [%s] \"GET /%s/%d HTTP/1.1\" 200 512 \"%s\" \"%s\"\n", i%250, word, i, stamp, word, i, text, text)
			if i%3 == 0 && (round+i)%4 == 0 {
				fmt.Fprintf(&b, "198.51.100.%d - person%d [%s] \"GET /page HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\"\n", i%250, i, stamp)
			}
		}
		if round%5 == 0 {
			b.WriteString("no line at all " + evilTexts[round%len(evilTexts)] + "\n")
		}
	}
	return b.String()
}

// evilPage is such a log as a page, judged and swept, with all that a page can have. Its clients are users.
func evilPage(t testing.TB, logged string, top int) *Document {
	t.Helper()
	path := filepath.Join(t.TempDir(), "<b>access.log")
	if err := os.WriteFile(path, []byte(logged), 0o600); err != nil {
		t.Fatal(err)
	}
	judged := judgedFile(t, path)
	known := make(who.Identities, judged.Clients.Len())
	for id := range known {
		known[id] = who.Identity(id % int(who.Count))
	}
	judged.Who = &who.Register{Identities: known, Reasons: func(int32) []string { return evilTexts }}
	m := report.New(judged, report.Options{
		Top: top, Version: "1.2.3", Command: "shadow replay " + evilTexts[2], Warnings: evilTexts, Database: evilTexts[0], Run: "7",
		Identities: true,
	})
	m.History = &history.History{NewActions: 1, TopNewActions: []history.NewAction{{Action: evilTexts[3]}}}
	for i := range m.Policies {
		m.Policies[i].Policy = evilTexts[i%len(evilTexts)]
		evil := history.Policy{Policy: m.Policies[i].Policy}
		for _, text := range evilTexts {
			evil.TopNewlyHit = append(evil.TopNewlyHit, history.Mover{Client: text, Class: text})
		}
		m.History.Policies = append(m.History.Policies, evil)
	}
	p := NewReplay(m)
	p.Curves = &Curves{Result: sweptFile(t, path)}
	p.Curves.Action = evilTexts[0]
	p.Times = timesOf(limit.Time(m.Input.Span.First), []int64{9, 8, 7, 11, 8, 9}, []int64{1, 0, 5, 9, 0, 2}, []int64{1, 0, 5, 9, 0, 2})
	return p
}

// timesOf counts requests, and what each policy refuses, minute by minute.
func timesOf(begin limit.Time, requests []int64, refused ...[]int64) *OverTime {
	o := NewOverTime(nil, len(refused))
	o.Requests = new(replay.Stretches)
	for i, n := range requests {
		at := begin + limit.Time(i)*limit.Minute
		o.Requests.Add(at, n)
		for policy := range refused {
			o.Add(policy, at, refused[policy][i])
		}
	}
	return o
}

// townReplay is the page of a replay.
func townReplay(res *replay.Result) *Document { return NewReplay(report.New(res, townOptions)) }

func byUser(t testing.TB) ingest.Options {
	t.Helper()
	users, err := match.ParseClientRule("user", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := traffic.NewTables()
	actions, err := match.NewActions(nil, tables.Actions)
	if err != nil {
		t.Fatal(err)
	}
	return ingest.Options{Tables: tables, Clients: users, Actions: actions, Lateness: 20 * limit.Minute}
}

func readerOf(t testing.TB, path string, o ingest.Options) *ingest.Reader {
	t.Helper()
	r, err := ingest.NewReader(context.Background(), []string{path}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func judgedFile(t testing.TB, path string) *replay.Result {
	t.Helper()
	o := byUser(t)
	r := readerOf(t, path, o)
	var policies []policy.Policy
	for _, text := range []string{"token:2/1m", "nginx:3r/m,burst=2"} {
		specs, err := limit.ParseAll(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.New(specs[0], request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	engine := replay.New(replay.Options{Tables: o.Tables, Policies: policies, Lateness: o.Lateness})
	if err := engine.Run(r); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return engine.Result(r.Stats())
}

func sweptFile(t testing.TB, path string) *sweep.Result {
	t.Helper()
	o := byUser(t)
	r := readerOf(t, path, o)
	s := sweep.New(sweep.Options{
		Tables: o.Tables, Lateness: o.Lateness, Kinds: []sweep.Kind{sweep.Window, sweep.Fixed, sweep.WindowAll, sweep.Token},
		Periods: sweep.DefaultPeriods(), Rates: sweep.DefaultRates(request.ByClient), Bursts: sweep.DefaultBursts(),
	})
	for b, err := r.Next(); err != io.EOF; b, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		s.Take(b)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return s.Result(r.Stats())
}

// sweptPage is the page of a sweep, on which nothing is judged.
func sweptPage(res *sweep.Result) *Document {
	head := report.NewHead(&res.Stats, report.NewPopulation(&res.Tallies.Clients, nil), report.Options{})
	text := func(w *document.Writer) { head.Begin(w, "Every limit at once") }
	return &Document{Head: &head, Text: text, Curves: &Curves{Result: res}}
}
