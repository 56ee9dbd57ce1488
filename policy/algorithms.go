package policy

import (
	"fmt"
	"strings"

	"shadow/bucket"
	"shadow/leaky"
	"shadow/limit"
	"shadow/window"
)

// An Algorithm is a kind of limiter that limits may name.
type Algorithm struct {
	Name    string // as written before the colon
	New     func(limit.Spec) (limit.Limiter, error)
	Options string // as help shows them
	Summary string // one line
	Bare    bool   // whether a limit without algorithm and options means this one too
}

// Algorithms are all that there are, in the order in which reports show them. The first is meant by a limit that has
// options and names no algorithm.
var Algorithms = []Algorithm{
	{"token", bucket.NewToken, "burst=N, initial=N, refill=even|step, debt[=N]", "token bucket, refilled evenly or in steps", true},
	{"leaky", leaky.New, "drip=PERIOD", "leaky bucket, drained on ticks", true},
	{"window", window.New, "charge=admitted|all, max=N, step=PERIOD", "exact rolling window, or one recalculated in steps", true},
	{"fixed", window.NewFixed, "align=epoch|first", "fixed windows, counted from nothing", false},
	{"counter", window.NewCounter, "charge=admitted|all", "sliding estimate from two fixed windows", false},
	{"nginx", leaky.NewNginx, "burst=N, delay=N, nodelay", "limit_req of nginx, with its delays", false},
	{"haproxy", window.NewHAProxy, "", "http_req_rate of HAProxy, two counters", false},
	{"caddy", window.NewCaddy, "", "rate_limit of Caddy, a rolling window", false},
	{"gcra", bucket.NewGCRA, "burst=N", "generic cell rate algorithm, as throttled and redis-cell", false},
	{"envoy", window.NewEnvoy, "", "the global rate limit service of Envoy", false},
	{"envoy-local", bucket.NewEnvoyLocal, "burst=N", "local rate limit of Envoy up to 1.30, filled by a timer", false},
	{"traefik", bucket.NewTraefik, "burst=N", "RateLimit of Traefik, with its delays", false},
	{"cloudflare~", window.NewCloudflare, "", "rate limiting rules of Cloudflare, approximated", false},
	{"aws~", window.NewAWS, "", "rate-based rules of AWS WAF, approximated", false},
}

// find returns the algorithm called name.
func find(name string) (*Algorithm, error) {
	names := make([]string, len(Algorithms))
	for i := range Algorithms {
		if Algorithms[i].Name == name {
			return &Algorithms[i], nil
		}
		names[i] = Algorithms[i].Name
	}
	hint := ""
	if near := limit.Nearest(name, names); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return nil, fmt.Errorf("unknown algorithm %q%s; there are %s", name, hint, strings.Join(names, ", "))
}
