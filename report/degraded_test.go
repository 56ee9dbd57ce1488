package report

import (
	"strings"
	"testing"

	"shadow/report/history"
	"shadow/report/reporttest"
)

// A report says how much of it is degraded, and nothing where nothing is.
func TestDegradedText(t *testing.T) {
	if text := degradedText([]Policy{{Policy: "a", Totals: history.Totals{Requests: 5}}}); text != "" {
		t.Errorf("told of nothing: %s", text)
	}
	var many []Policy
	for _, name := range strings.Split("abcdefgh", "") {
		many = append(many, Policy{Policy: name, Totals: history.Totals{Requests: 2000, Refused: 1}, Degraded: 1000, DegradedRefused: 1})
	}
	many[1].Degraded = 0
	text := degradedText(many)
	if !strings.HasSuffix(text, "together: of a 1,000 of 2,000 requests (50.00 %) and 1 of 1 refusal; of c 1,000 of 2,000 requests (50.00 %) and 1 of 1 refusal; "+
		"of d 1,000 of 2,000 requests (50.00 %) and 1 of 1 refusal; of e 1,000 of 2,000 requests (50.00 %) and 1 of 1 refusal; "+
		"of f 1,000 of 2,000 requests (50.00 %) and 1 of 1 refusal; and 2 more policies") {
		t.Error(text)
	}
}

// Whatever the format, it is there: tables have a warning, and what programs read has figures too.
func TestDegradedInAllFormats(t *testing.T) {
	m := New(reporttest.Made(), townOptions)
	for format, want := range map[string]string{
		"table": "degraded while Redis was away", "markdown": "degraded while Redis was away", "json": `"degraded_refused": 60`, "csv": ",1041,60,,",
	} {
		if text := write(t, m, format); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", format, want, text)
		}
	}
}
