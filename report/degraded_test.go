package report

import (
	"strings"
	"testing"
)

// A report says how much of it is degraded, and nothing where nothing is.
func TestDegradedText(t *testing.T) {
	if text := degradedText([]Policy{{Policy: "a", Requests: 5}}); text != "" {
		t.Errorf("told of nothing: %s", text)
	}
	var many []Policy
	for _, name := range strings.Split("abcdefgh", "") {
		many = append(many, Policy{Policy: name, Requests: 2000, Refused: 1, Degraded: 1000, DegradedRefused: 1})
	}
	many[1].Degraded = 0
	text := degradedText(many)
	if !strings.HasSuffix(text, "together: of a 1,000 of 2,000 requests (50.00%) and 1 of 1 refusal; of c 1,000 of 2,000 requests (50.00%) and 1 of 1 refusal; "+
		"of d 1,000 of 2,000 requests (50.00%) and 1 of 1 refusal; of e 1,000 of 2,000 requests (50.00%) and 1 of 1 refusal; "+
		"of f 1,000 of 2,000 requests (50.00%) and 1 of 1 refusal; and 2 more policies") {
		t.Error(text)
	}
}

// Whatever the format, it is there: tables and pages have a warning, and what programs read has figures too.
func TestDegradedInAllFormats(t *testing.T) {
	m := New(made(), townOptions)
	for format, want := range map[string]string{
		"table": "degraded while Redis was away", "markdown": "degraded while Redis was away", "json": `"degraded_refused": 60`, "csv": ",1041,60,,\n",
	} {
		if text := write(t, m, format); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", format, want, text)
		}
	}
	var page strings.Builder
	if err := (&Page{Model: m}).Write(&page); err != nil || !strings.Contains(page.String(), "degraded while Redis was away") {
		t.Errorf("the page says nothing of it: %v", err)
	}
}

// Runs with degraded verdicts are told from others in the list.
func TestDegradedRuns(t *testing.T) {
	list := func(format string, runs ...Run) string {
		var b strings.Builder
		if err := WriteRuns(&b, format, 0, runs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole, part := Run{Run: 1, Policies: 1, Inputs: 1, Tail: "x"}, Run{Run: 2, Policies: 1, Degraded: 1234}
	if text := list("table", whole); strings.Contains(text, "degraded") || !strings.Contains(text, "1  tail") {
		t.Error(text)
	}
	if text := list("table", whole, part); !strings.Contains(text, "degraded") || !strings.Contains(text, "1,234") && !strings.Contains(text, "1234") {
		t.Error(text)
	}
	if text := list("json", part); !strings.Contains(text, `"degraded": 1234`) && !strings.Contains(text, `"degraded":1234`) {
		t.Error(text)
	}
}
