package window

import (
	"fmt"

	"shadow/limit"
)

// Cloudflare's rate limiting rules, approximated: cloudflare~:N/P
//
// Known: a rule counts the requests of a client in a period from a list, in each data centre apart, and acts on those
// beyond N, or on all for a mitigation timeout (here the option cooldown). The counters slide: a share of the previous
// period and the present one. Counting is behind by "up to a few seconds".
//
//	developers.cloudflare.com/waf/rate-limiting-rules/parameters/      periods, timeouts, what throttling does
//	developers.cloudflare.com/waf/rate-limiting-rules/request-rate/    counters, data centres
//	developers.cloudflare.com/waf/rate-limiting-rules/                 periods offered, the delay
//	blog.cloudflare.com/counting-things-a-lot-of-different-things/     the sliding counter, in 2017
//
// Unknown: where periods begin; whether a refused request counts (the charts of throttling look as if not); how late
// the counters are; whether they still slide as in 2017. Variants are limiters for each of these. Not in the range: a
// client that reaches several data centres has a counter in each, and no log tells; so the original may admit more.
//
// State: as of the counter.

// Cloudflare is a rate limiting rule of Cloudflare in its middle assumption: a counter on the epoch's grid, never late,
// in which refused requests do not count.
type Cloudflare struct {
	*Counter
	spec limit.Spec
}

// cloudflareLate is the interval at which counters that are behind are read.
const cloudflareLate = 3 * limit.Second

// NewCloudflare makes the rule that spec describes: cloudflare~:N/P, without options.
func NewCloudflare(spec limit.Spec) (limit.Limiter, error) {
	if err := spec.Args().Err(); err != nil {
		return nil, err
	}
	const s = limit.Second
	if err := offers(spec, "Cloudflare", 10*s, 15*s, 20*s, 30*s, 40*s, 45*s, 60*s, 90*s, 120*s, 180*s, 240*s, 300*s, 480*s,
		600*s, 900*s, 1200*s, 1800*s, 2400*s, 3600*s, 65535*s, 86400*s); err != nil {
		return nil, err
	}
	if _, err := rolling(spec); err != nil {
		return nil, err
	}
	return Cloudflare{newCounter(spec, 0, false), spec}, nil
}

// Variants implements limit.Approximation.
func (w Cloudflare) Variants() []limit.Limiter {
	exact, _ := rolling(w.spec) // NewCloudflare has asked already
	late := newPolled(w.spec, poll{every: cloudflareLate}, false)
	return []limit.Limiter{
		variant{newCounter(w.spec, w.spec.Period/2, false), "cloudflare~ with periods that begin half a period later"},
		variant{newCounter(w.spec, 0, true), "cloudflare~ in which refused requests count"},
		variant{&exact, "cloudflare~ that counts exactly, in a rolling window"},
		variant{&late, fmt.Sprintf("cloudflare~ that counts exactly, and looks every %s only", limit.FormatPeriod(cloudflareLate))},
	}
}

// Semantics implements limit.Describer.
func (w Cloudflare) Semantics() string {
	return "Cloudflare's rate limiting rule in one data centre, approximated: " + w.Counter.Semantics() +
		"; not known: where windows begin, whether refused requests count, how late counters are"
}
