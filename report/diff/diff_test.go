package diff

import (
	"bytes"
	"testing"

	"shadow/policy"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
	"shadow/traffic"
)

func diff(t *testing.T, o report.Options) *Report {
	res, c, _ := reporttest.Watched(t, func(tables *traffic.Tables, _ []policy.Policy) *replay.Comparison {
		return replay.NewComparison(tables)
	})
	return New(res, c, o)
}

// TestDiffAddsUp: classes, totals and policies tell the same.
func TestDiffAddsUp(t *testing.T) {
	d := diff(t, report.Options{})
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

// TestDiffsAreHarmlessAndDefined: docs/diff.md or docs/report.md names each key and column.
func TestDiffsAreHarmlessAndDefined(t *testing.T) {
	for _, format := range format.Outputs() {
		var b bytes.Buffer
		if err := diff(t, report.Options{Width: 100}).Write(&b, format); err != nil {
			t.Fatal(err)
		}
		reporttest.Harmless(t, format, b.String())
		if format == "json" {
			reporttest.DefinedIn(t, append(reporttest.JSONNames(t, b.Bytes()), csvHead...), "report", "diff")
		}
	}
}
