package html

import (
	"strings"
	"testing"

	"shadow/internal/sweep"
	"shadow/report"
	"shadow/report/reporttest"
)

// The summary tells who is hit by what clients are, where that is known, and else by what they claim.
func TestIdentitiesOnPage(t *testing.T) {
	for _, c := range []struct {
		page      string
		has, lack []string
	}{
		{
			pageText(t, NewReplay(report.New(reporttest.Witnessed(), report.Options{Identities: true}))),
			[]string{"hits 0 of 1 client that behaves like a person", ">attackers hit</th>"},
			[]string{">browsers hit</th>", ">programs hit</th>"},
		},
		{
			pageText(t, townReplay(reporttest.Town())),
			[]string{">browsers hit</th>"},
			[]string{">people hit</th>", ">attackers hit</th>"},
		},
	} {
		for _, want := range c.has {
			if !strings.Contains(c.page, want) {
				t.Errorf("no %q on the page", want)
			}
		}
		for _, bad := range c.lack {
			if strings.Contains(c.page, bad) {
				t.Errorf("%q on the page", bad)
			}
		}
	}
}

// The slider has the doubted as a class of their own, where it is known who the clients are.
func TestDoubtedOnPage(t *testing.T) {
	r := reporttest.SweptTown(30)
	if text := pageText(t, sweptPage(r)); strings.Contains(text, `{"identity":"doubted"`) ||
		!strings.Contains(text, "it is not known who the clients are") {
		t.Error("the page divides what is not known")
	}
	r.Hidden = &sweep.Doubted{Requests: 900, Clients: 300}
	text := pageText(t, sweptPage(r))
	for _, want := range []string{`{"identity":"doubted"`, "300 of 1,000 that claim to be one do not"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s on the page", want)
		}
	}
}
