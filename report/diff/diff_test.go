package diff

import (
	"bytes"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/traffic"
	"shadow/internal/traffic/who"
	"shadow/replay"
	"shadow/report"
	"shadow/report/format"
	"shadow/report/reporttest"
)

func diff(t *testing.T, o report.Options) *Report {
	res, c, _ := reporttest.Watched(t, func(tables *traffic.Tables, _ []policy.Policy) *replay.Comparison {
		return replay.NewComparison(tables)
	})
	res.Who = reporttest.Told(who.Person, who.Attacker)
	return New(res, c, o)
}

// TestDiffByIdentity: each client counts as what it is, wherever it stands; without identities there are none.
func TestDiffByIdentity(t *testing.T) {
	d := diff(t, report.Options{Identities: true, Width: 200})
	person, attacker := d.ByIdentity[who.Person], d.ByIdentity[who.Attacker]
	if requests := together(person.Requests, attacker.Requests); requests != d.Requests {
		t.Errorf("identities add up to %+v, want %+v", requests, d.Requests)
	}
	if clients := together(person.Clients, attacker.Clients); clients != d.Clients {
		t.Errorf("identities add up to %+v, want %+v", clients, d.Clients)
	}
	if want := (Change{OnlyA: 1, OnlyB: 3, Neither: 2}); person.Requests != want {
		t.Errorf("of the person %+v, want %+v", person.Requests, want)
	}
	for _, c := range d.TopMovers {
		want := "person"
		if c.Client == "192.0.2.1" {
			want = "attacker"
		}
		if c.Identity == nil || c.Identity.Identity != want || len(c.Identity.Reasons) != 1 {
			t.Errorf("%s is %+v", c.Client, c.Identity)
		}
	}
	var b bytes.Buffer
	if err := d.Write(&b, "table"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"people  attackers", "identity"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	b.Reset()
	if err := d.Write(&b, "csv"); err != nil || !strings.Contains(b.String(), ",identity,people,,,,6,1,3,2,1,3,0,2,") {
		t.Errorf("%v: %s", err, b.String())
	}
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
