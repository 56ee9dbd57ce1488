package report

import (
	"fmt"
	"strings"
	"testing"

	"shadow/report/reporttest"
	"shadow/report/table"
)

// TestFiguresAreListed: docs/nightly.md lists what conditions may name, as figures.go declares it; -update rewrites
// the list.
func TestFiguresAreListed(t *testing.T) {
	var b strings.Builder
	for scope, title := range []string{
		Always:       "Of the policy and the logs:",
		WithEvidence: "Of browsers, with `--evidence` only:",
		WithHistory:  "Of what has changed, in `shadow report` only:",
	} {
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for _, f := range Figures() {
			if f.Scope == Scope(scope) {
				line := fmt.Sprintf("- `%s` (%s): %s", strings.Join(f.Names, "`, `"), f.Unit, f.Help)
				b.WriteString(strings.Join(table.Wrap(line, 118), "\n  ") + "\n")
			}
		}
	}
	reporttest.GoldenPart(t, "../docs/nightly.md", "figures", b.String()+"\n")
}
