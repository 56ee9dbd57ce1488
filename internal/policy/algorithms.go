package policy

import (
	"fmt"
	"slices"
	"strings"

	"shadow/bucket"
	"shadow/conn"
	"shadow/internal/mapped"
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
	Example string // a limit, as help shows it
}

// Algorithms are all that there are, in the order in which reports show them. The first is meant by a limit that has
// options and names no algorithm.
var Algorithms = []Algorithm{
	{
		"token", bucket.NewToken, "burst=N, initial=N, refill=even|step|interval, debt[=N]",
		"token bucket, refilled evenly or in steps", true, "token:6/30s,burst=10",
	},
	{"leaky", leaky.New, "drip=PERIOD", "leaky bucket, drained on ticks", true, "leaky:6/30s,drip=30s"},
	{
		"window", window.New, "charge=admitted|all, max=N, step=PERIOD",
		"exact rolling window, or one recalculated in steps", true, "window:10000/24h",
	},
	{"fixed", window.NewFixed, "align=epoch|first", "fixed windows, counted from nothing", false, "fixed:60/m"},
	{
		"counter", window.NewCounter, "charge=admitted|all, round=no|nearest|down",
		"sliding estimate from two fixed windows", false, "counter:60/m",
	},
	{
		"nginx", leaky.NewNginx, "burst=N, delay=N, nodelay, max=N",
		"limit_req of nginx, with its delays", false, "nginx:10r/s,burst=20,delay=8",
	},
	{
		"haproxy", window.NewHAProxy, "charge=admitted|all, expire=PERIOD",
		"http_req_rate of HAProxy, two counters", false, "haproxy:20/10s",
	},
	{
		"conn", conn.New, "queue=N, wait=PERIOD",
		"requests under way at once, as limit_conn of nginx; with a queue", false, "conn:8",
	},
	{"caddy", window.NewCaddy, "", "rate_limit of Caddy, a rolling window", false, "caddy:6/30s"},
	{
		"gcra", bucket.NewGCRA, "burst=N",
		"generic cell rate algorithm, as throttled and redis-cell", false, "gcra:60/m,burst=5",
	},
	{"envoy", window.NewEnvoy, "", "the global rate limit service of Envoy", false, "envoy:60/m"},
	{
		"envoy-local", bucket.NewEnvoyLocal, "burst=N",
		"local rate limit of Envoy up to 1.30, filled by a timer", false, "envoy-local:6/30s,burst=10",
	},
	{
		"traefik", bucket.NewTraefik, "burst=N",
		"RateLimit of Traefik, with its delays", false, "traefik:100/s,burst=50",
	},
	{
		"fail2ban", window.NewFail2ban, "bantime=PERIOD",
		"a jail of fail2ban: maxretry in findtime", false, "fail2ban:5/10m,bantime=1h",
	},
	{
		"mod-evasive", window.NewEvasive, "block=PERIOD",
		"mod_evasive of Apache, by client or page", false, "mod-evasive:50/1s,block=10s",
	},
	{
		"vsthrottle", bucket.NewVsthrottle, "",
		"vsthrottle of Varnish, in whole tokens", false, "vsthrottle:15/10s",
	},
	{
		"symfony-sliding", window.NewSymfony, "",
		"sliding window of Symfony, opened by a request", false, "symfony-sliding:100/1m",
	},
	{
		"cloudflare~", window.NewCloudflare, "",
		"rate limiting rules of Cloudflare, approximated", false, "cloudflare~:60/m",
	},
	{"aws~", window.NewAWS, "", "rate-based rules of AWS WAF, approximated", false, "aws~:1000/5m"},
}

// algorithmOf returns the algorithm called name.
func algorithmOf(name string) (*Algorithm, error) {
	i := slices.IndexFunc(Algorithms, func(a Algorithm) bool { return a.Name == name })
	if i >= 0 {
		return &Algorithms[i], nil
	}
	names := mapped.Of(Algorithms, func(a Algorithm) string { return a.Name })
	return nil, fmt.Errorf("unknown algorithm %q%s; there are %s; shadow limits has the names of libraries and servers",
		name, limit.Hint(name, append(presetNames(), names...)), strings.Join(names, ", "))
}

// LimitNames returns the names that limits may have before the colon: algorithms, libraries and servers.
func LimitNames() (names []string) {
	names = mapped.Add(names, Algorithms, func(a Algorithm) string { return a.Name })
	return append(names, presetNames()...)
}

func presetNames() []string { return mapped.Of(Presets, func(p Preset) string { return p.Name }) }
