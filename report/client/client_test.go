package client

import (
	"bytes"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/limit"
	"shadow/replay"
	"shadow/report"
	"shadow/report/explain"
	"shadow/report/reporttest"
)

func account(t *testing.T) *Account {
	res, g, policies := reporttest.Watched(t, func(tables *traffic.Tables, policies []policy.Policy) *replay.ClientLog {
		return replay.NewClientLog(tables, replay.ClientName{Name: reporttest.Evil}, len(policies))
	})
	res.Who = reporttest.Told(who.Office, who.Attacker)
	return New(res, Source{
		ClientLog: g, Policies: policies, Lateness: limit.Hour, Moments: 5,
		Lines: map[int32]LogLine{2: {File: reporttest.Evil, Line: 3, Text: reporttest.Evil}},
	}, report.Options{})
}

// TestAccount: what is told of the first client, by hand. It comes at 0 0 0 12 13 40; 192.0.2.1 comes at 3.
func TestAccount(t *testing.T) {
	a := account(t)
	if a.Requests != 6 || a.Span.Seconds != 40 || len(a.Timeline) != 5 || a.Timeline[0] != 3 || a.Timeline[2] != 2 || a.Timeline[4] != 1 {
		t.Errorf("%d requests in %g s, %v", a.Requests, a.Span.Seconds, a.Timeline)
	}
	if is := a.Identity; is == nil || is.Identity != "office" || len(is.Reasons) != 1 {
		t.Errorf("it is %+v", is)
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

// TestAccountsAreHarmlessAndDefined: docs/explain.md or docs/report.md names each key.
func TestAccountsAreHarmlessAndDefined(t *testing.T) {
	for _, format := range explain.CalcFormats() {
		var b bytes.Buffer
		if err := account(t).Write(&b, format, true); err != nil {
			t.Fatal(err)
		}
		reporttest.Harmless(t, format, b.String())
		if format == "json" {
			reporttest.DefinedIn(t, reporttest.JSONNames(t, b.Bytes()), "report", "explain")
		}
	}
}
