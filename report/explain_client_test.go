package report

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/policy"
	"shadow/replay"
	"shadow/traffic"
)

// evil drives a terminal, a table and a spreadsheet.
const evil = "=1+1\x1b[2J|\u202e<b>\n"

// watched replays a made-up log of two clients by two policies, the second of which all share in part, for an observer.
func watched[T replay.Observer](t *testing.T, observe func(*traffic.Tables, []policy.Policy) T) (*replay.Result, T, []policy.Policy) {
	t.Helper()
	policies, err := policy.ParseLimits([]string{"token:2/10s", "nginx:6r/m,burst=2,delay=1"}, policy.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := policy.ParseLimits([]string{"window:3/1m"}, policy.BySite)
	if err != nil {
		t.Fatal(err)
	}
	policies[1].Parts = append(policies[1].Parts, shared[0].Parts...)
	policies[1].Name = evil
	tables := traffic.NewTables()
	b := new(traffic.Batch)
	for i, at := range []limit.Time{0, 0, 0, 3, 12, 13, 40} {
		b.At = append(b.At, at*limit.Second)
		b.Client = append(b.Client, tables.Clients.ID([]byte([]string{evil, "192.0.2.1"}[i%4/3])))
		b.Agent = append(b.Agent, uint16(tables.Agents.ID([]byte(evil))))
		b.Action = append(b.Action, uint16(tables.Actions.ID([]byte(evil))))
		b.Status = append(b.Status, 200)
		b.Bytes = append(b.Bytes, 1)
	}
	observer := observe(tables, policies)
	engine := replay.New(replay.Options{Tables: tables, Policies: policies, Lateness: limit.Hour, Observer: observer})
	if err := engine.Judge(b); err != nil {
		t.Fatal(err)
	}
	return engine.Result(traffic.Stats{HasAgents: true, LastAt: 40 * limit.Second, Resolution: limit.Second}), observer, policies
}

func account(t *testing.T) *Account {
	res, g, policies := watched(t, func(tables *traffic.Tables, policies []policy.Policy) *replay.Gathering {
		return replay.NewGathering(tables, replay.ClientName{Name: evil}, len(policies))
	})
	return NewAccount(res, Gathered{
		Gathering: g, Policies: policies, Lateness: limit.Hour, Moments: 5,
		Lines: map[int32]LogLine{2: {File: evil, Line: 3, Text: evil}},
	}, Options{})
}

func diff(t *testing.T, o Options) *Diff {
	res, c, _ := watched(t, func(tables *traffic.Tables, _ []policy.Policy) *replay.Comparison {
		return replay.NewComparison(tables)
	})
	return NewDiff(res, c, o)
}

// texts are what both write in every format.
func texts(t *testing.T) map[string]string {
	written := map[string]string{}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := diff(t, Options{Width: 100}).Write(&b, format); err != nil {
			t.Fatal(err)
		}
		written["diff "+format] = b.String()
	}
	for _, format := range CalcFormats() {
		var b bytes.Buffer
		if err := account(t).Write(&b, format, true); err != nil {
			t.Fatal(err)
		}
		written["account "+format] = b.String()
	}
	return written
}

func TestAccountsAndDiffsAreHarmless(t *testing.T) {
	for name, text := range texts(t) {
		if strings.ContainsAny(text, "\x1b\u202e\x00") {
			t.Errorf("%s lets a stranger drive the terminal:\n%q", name, text)
		}
		if strings.HasSuffix(name, "csv") && strings.Contains(text, ",=1+1") || strings.HasSuffix(name, "markdown") && strings.Contains(text, "<b>") {
			t.Errorf("%s lets a stranger write into it:\n%s", name, text)
		}
		if strings.HasSuffix(name, "json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON:\n%s", name, text)
		}
	}
}

// TestAccountsAndDiffsAreDefined: docs/explain.md and docs/diff.md name each key and column, or docs/report.md does.
func TestAccountsAndDiffsAreDefined(t *testing.T) {
	defined := map[string]bool{}
	for _, page := range []string{"report", "explain", "diff"} {
		text, err := os.ReadFile("../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
			defined[quoted[1]] = true
		}
	}
	names := append([]string{}, diffHead...)
	for name, text := range texts(t) {
		if strings.HasSuffix(name, "json") {
			for _, key := range regexp.MustCompile(`(?m)^ *"([a-z_]+)":`).FindAllStringSubmatch(text, -1) {
				names = append(names, key[1])
			}
		}
	}
	if len(names) < 80 {
		t.Fatalf("only %d names", len(names))
	}
	for _, name := range names {
		if !defined[name] {
			t.Errorf("no page defines `%s`", name)
		}
	}
}

// TestAccount: what is told of the first client, by hand. It comes at 0 0 0 12 13 40; 192.0.2.1 comes at 3.
func TestAccount(t *testing.T) {
	a := account(t)
	if a.Requests != 6 || a.Span.Seconds != 40 || len(a.Timeline) != 5 || a.Timeline[0] != 3 || a.Timeline[2] != 2 || a.Timeline[4] != 1 {
		t.Errorf("%d requests in %g s, %v", a.Requests, a.Span.Seconds, a.Timeline)
	}
	p := a.Policies[0]
	if p.Refused != 1 || p.Refusals[0].Time != 0 || *p.Refusals[0].Wait != 5 || *p.Refusals[0].Needs[0].To != 3 || *p.Limits[0].Needs != 3 {
		t.Errorf("token:2/10s: %+v", p)
	}
	if line := p.Refusals[0].Line; line == nil || line.Line != 3 {
		t.Errorf("the line of the refusal is %+v", line)
	}
	// nginx admits 3 at 0 and is free again; the window of the site has no room from 3 s on.
	p = a.Policies[1]
	if p.Refused != 3 || p.Refusals[0].Wait != nil || len(p.Refusals[0].By) != 1 || p.Refusals[0].By[0] != "window:3/1m" || !p.Limits[1].Shared || p.Limits[1].Needs != nil {
		t.Errorf("with a shared limit: %+v", p)
	}
	if l := p.Lockout; l.Requests != 3 || l.Seconds != 28 {
		t.Errorf("locked out: %+v", l)
	}
	if p.Delayed != 1 {
		t.Errorf("%d delayed, want 1", p.Delayed)
	}
}

// TestDiffAddsUp: classes, totals and policies tell the same.
func TestDiffAddsUp(t *testing.T) {
	d := diff(t, Options{})
	var requests, clients Change
	for _, c := range d.ByClass {
		requests, clients = together(requests, c.Requests), together(clients, c.Clients)
	}
	if requests != d.Requests || clients != d.Clients {
		t.Errorf("classes add up to %+v and %+v, want %+v and %+v", requests, clients, d.Requests, d.Clients)
	}
	if d.Requests.OnlyA+d.Requests.Both != d.A.Refused || d.Requests.OnlyB+d.Requests.Both != d.B.Refused || d.Clients.OnlyA+d.Clients.Both != d.A.ClientsHit {
		t.Errorf("%+v are not %d and %d", d.Requests, d.A.Refused, d.B.Refused)
	}
	if want := (Change{OnlyA: 1, OnlyB: 4, Neither: 2}); d.Requests != want {
		t.Errorf("%+v, want %+v", d.Requests, want)
	}
}

func together(x, y Change) Change {
	return Change{x.OnlyA + y.OnlyA, x.OnlyB + y.OnlyB, x.Both + y.Both, x.Neither + y.Neither}
}
