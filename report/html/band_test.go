package html

import (
	"strings"
	"testing"

	"shadow/report/reporttest"
)

// The page has the ranges as columns of the candidates.
func TestBandOnPage(t *testing.T) {
	var page strings.Builder
	if err := townReplay(reporttest.BandedTown()).Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"refused, band", "clients hit, band", "37,232–38,176", "least–most, wherever in its second"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// The page warns of verdicts that were degraded.
func TestDegradedOnPage(t *testing.T) {
	if !strings.Contains(pageText(t, townReplay(reporttest.Made())), "degraded while Redis was away") {
		t.Error("the page says nothing of it")
	}
}
