package window

import (
	"fmt"

	"shadow/limit"
)

// The rate-based rule of AWS WAF, approximated: aws~:N/W
//
// Known: the evaluation window W is 1, 2, 5 or 10 minutes, N at least 10. About every 10 s the rule counts what came in
// the last W, blocked or not, and blocks all of which it counted more than N, until it counts fewer. From there to the
// servers it takes a while: the delay is usually below 30 s, or 30 to 50 s, and may be minutes.
//
//	docs.aws.amazon.com/waf/latest/APIReference/API_RateBasedStatement.html                            windows, every 10 s, at least 10
//	docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html      usually below 30 s
//	docs.aws.amazon.com/waf/latest/developerguide/waf-rate-limiting-options.html                       usually 30 to 50 s
//
// Unknown: when the checks are, and how late their findings take effect. Variants are limiters for other values of
// these. Not in the range: recent requests count for more than older ones, by an unpublished rule, and only the 10,000
// worst clients are blocked.
//
// State: as of the polled window.

// AWS is a rate-based rule of AWS WAF in its middle assumption: a check every 10 s that takes effect 10 s later.
type AWS struct {
	*polled
	spec limit.Spec
}

// awsMiddle and awsOthers are the assumptions; the reaction takes from the delay to delay + every.
var (
	awsMiddle = poll{every: 10 * limit.Second, delay: 10 * limit.Second}
	awsOthers = []poll{
		{every: 10 * limit.Second},
		{every: 10 * limit.Second, delay: 10 * limit.Second, phase: 5 * limit.Second},
		{every: 10 * limit.Second, delay: 20 * limit.Second},
		{every: 20 * limit.Second, delay: 30 * limit.Second},
	}
)

// NewAWS makes the rule that spec describes: aws~:N/W, without options.
func NewAWS(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	if err := offers(spec, "AWS WAF", limit.Minute, 2*limit.Minute, 5*limit.Minute, 10*limit.Minute); err != nil {
		return nil, err
	}
	if spec.Count < 10 || spec.Count >= limit.MaxRing {
		return nil, fmt.Errorf("limit %q: the limit of a rate-based rule is at least 10, and here less than %d", spec, limit.MaxRing)
	}
	w := newPolled(spec, awsMiddle, true)
	return AWS{&w, spec}, nil
}

// Variants implements limit.Approximation.
func (w AWS) Variants() []limit.Limiter {
	var variants []limit.Limiter
	for _, p := range awsOthers {
		other := newPolled(w.spec, p, true)
		variants = append(variants, variant{&other, "aws~ that checks " + p.String()})
	}
	return variants
}

// String returns when the checks are.
func (p poll) String() string {
	text := "every " + limit.FormatPeriod(p.every)
	if p.phase > 0 {
		text += ", from " + limit.FormatPeriod(p.phase) + " on"
	}
	return text + ", in force " + later(p.delay)
}

// Semantics implements limit.Describer.
func (w AWS) Semantics() string {
	return "AWS WAF's rate-based rule, approximated: " + w.polled.Semantics() +
		"; not known: when it looks, how late it acts, how much more recent requests count"
}
