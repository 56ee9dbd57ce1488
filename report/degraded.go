package report

import (
	"fmt"
	"strings"

	"shadow/report/format"
)

// Figures of hosts that share their limits are exact as long as all of them ask the same Redis. What was decided
// without it is in the figures as it was decided, so a report says how much that is.

// namedDegraded is how many policies are named; all of them have it in their figures.
const namedDegraded = 5

// degradedText says of which policies verdicts were degraded, "" if of none.
func degradedText(policies []Policy) string {
	var texts []string
	more := 0
	for i := range policies {
		p := &policies[i]
		switch {
		case p.Degraded == 0:
		case len(texts) == namedDegraded:
			more++
		default:
			texts = append(texts, fmt.Sprintf("of %s %s of %s (%s%%) and %s of %s", p.Policy, format.Thousands(p.Degraded), format.Count(p.Requests, "request"),
				format.Percent(format.PercentOf(p.Degraded, p.Requests)), format.Thousands(p.DegradedRefused), format.Count(p.Refused, "refusal")))
		}
	}
	if texts == nil {
		return ""
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more policies", more))
	}
	return "verdicts were degraded while Redis was away, or slower than the log grew, and the hosts that share a limit might have decided otherwise together: " +
		strings.Join(texts, "; ")
}
