package policy

import (
	"fmt"

	"shadow/limit"
)

// Semantics is one line that says what the limit means: what it admits at once, and whether a refused request counts.
func (p Part) Semantics() string {
	if d, ok := p.Limiter.(limit.Describer); ok {
		return d.Semantics()
	}
	return p.Spec.String()
}

// Nearest is one line with the settings of nginx's limit_req that come closest to the limit, and how they deviate from
// it, or "none" with the reason.
func (p Part) Nearest() string {
	d, ok := p.Limiter.(limit.Describer)
	if !ok {
		return "none"
	}
	shape := d.Shape()
	setting, deviation := nginxFor(shape)
	switch {
	case setting == "":
		return "none: " + deviation
	case !shape.Kin:
		return fmt.Sprintf("none (closest: %s; %s)", setting, join(shape.Unlike, deviation))
	}
	return fmt.Sprintf("%s (%s)", setting, join(shape.Unlike, deviation, "nginx counts in milliseconds"))
}
