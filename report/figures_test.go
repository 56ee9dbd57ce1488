package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shadow/report/reporttest"
	"shadow/report/table"
)

// TestFiguresAreListed: docs/nightly.md lists what conditions may name, as figures.go declares it; -update rewrites
// the list. Of families of five and more names that differ in a class or identity the first and last stand for all.
func TestFiguresAreListed(t *testing.T) {
	var b strings.Builder
	for scope, title := range []string{
		Always:         "Of the policy and the logs:",
		WithIdentities: "By [who the clients are](evidence.md), where that is known:",
		WithHistory:    "Of what has changed; in `diff` and `migrate` the base run is A:",
		WithRuns:       "In `shadow report` only:",
	} {
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for _, f := range Figures() {
			if f.Scope == Scope(scope) {
				names := "`" + strings.Join(f.Names, "`, `") + "`"
				if n := len(f.Names); n >= 5 && strings.Contains(f.Names[0], "_") {
					names = "`" + f.Names[0] + "` … `" + f.Names[n-1] + "`"
				}
				line := fmt.Sprintf("- %s (%s): %s", names, f.Unit, f.Help)
				b.WriteString(strings.Join(table.Wrap(line, 118), "\n  ") + "\n")
			}
		}
	}
	reporttest.GoldenPart(t, "../docs/nightly.md", "figures", b.String()+"\n")
}

// A name in a condition means one thing.
func TestFiguresHaveNamesOfTheirOwn(t *testing.T) {
	names := ConditionNames()
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("%d names for %d figures: %q", len(unique), len(names), names)
	}
}
