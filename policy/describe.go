package policy

import (
	"cmp"
	"fmt"
	"strings"

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
	if p.Spec.Algorithm == "nginx" {
		return fmt.Sprintf("%s (%s)", nginxOwn(p.Spec), presetDeviation(p.Spec))
	}
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

// String is a limit of a policy in words: "token:5/1m by client, on action login, counting status 401".
func (p Part) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s", p.Spec, p.By)
	if p.MatchText != "" {
		b.WriteString(", on " + p.MatchText)
	}
	if p.Count != p.Match {
		b.WriteString(", counting " + cmp.Or(p.CountText, "every request"))
	}
	return b.String()
}
