package window

import (
	"fmt"
	"slices"
	"strings"

	"shadow/limit"
)

// What the presets that can only approximate have in common.

// A variant is a limiter with a text of what it assumes.
type variant struct {
	limit.Limiter
	assumes string
}

// Semantics implements limit.Describer.
func (v variant) Semantics() string { return v.assumes }

// Shape implements limit.Describer.
func (v variant) Shape() limit.Shape { return v.Limiter.(limit.Describer).Shape() }

// Level implements limit.Leveler.
func (v variant) Level(s *limit.State, t limit.Time) float64 {
	return v.Limiter.(limit.Leveler).Level(s, t)
}

// offers refuses a period that a service does not offer. periods are in ascending order.
func offers(spec limit.Spec, service string, periods ...limit.Time) error {
	if slices.Contains(periods, spec.Period) {
		return nil
	}
	texts := make([]string, len(periods))
	for i, p := range periods {
		texts[i] = limit.FormatPeriod(p)
	}
	return fmt.Errorf("limit %q: %s does not offer %s; want one of %s",
		spec, service, limit.FormatPeriod(spec.Period), strings.Join(texts, ", "))
}
