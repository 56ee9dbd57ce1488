package replay_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// The examples of combinations in docs/limits.md, by timelines and, with the second limit by the site, request by request.
func TestCombinationsOfPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testneeds.Root(t), "docs", "limits.md"))
	check(t, err)
	played := 0
	for _, block := range strings.Split(string(text), "\nlimits ")[1:] {
		lines := strings.SplitN(block, "\n", 4)
		var times []limit.Time
		for _, field := range strings.Fields(strings.TrimPrefix(lines[1], "at")) {
			seconds, err := strconv.Atoi(field)
			check(t, err)
			times = append(times, limit.Time(seconds)*second)
		}
		want := strings.Join(strings.Fields(strings.TrimPrefix(lines[2], "want")), " ")
		for _, crossed := range []bool{false, true} {
			policies := policiesOf(t, lines[0], request.ByClient)
			if crossed {
				policies[0].Parts[1].By = request.BySite
			}
			if got := verdictsIn(t, policies[0], times); got != want {
				t.Errorf("limits %s, crossed %v:\nat   %v\nwant %s\ngot  %s", lines[0], crossed, times, want, got)
			}
		}
		played++
	}
	if played < 4 {
		t.Errorf("%d examples", played)
	}
}

// verdictsIn returns the verdicts on one client, whose requests come in batches of their own.
func verdictsIn(t *testing.T, p policy.Policy, times []limit.Time) string {
	b := newBenchOf(t, lateness, []policy.Policy{p})
	var all []string
	var before int64
	for _, when := range times {
		b.judge(at("a", when))
		if now := b.result().Policies[0].Refused; now > before {
			all, before = append(all, "x"), now
		} else {
			all = append(all, ".")
		}
	}
	return strings.Join(all, " ")
}

// A server judges one request of a client at a time, as its source does.
type server func(client string, t limit.Time) (refused bool)

// servers holds, by limits, how the programs that docs/limits.md names for them ask several limits. Limits are 2 per
// second and 5 per minute.
var servers = map[string]func() server{
	"envoy:2/s+envoy:5/m":                              func() server { return envoyService(false) },
	"together:envoy:2/s+envoy:5/m":                     func() server { return envoyService(true) },
	"each:fixed:2/s,align=first+fixed:5/m,align=first": unionOfLimiters,
	"in-turn:fixed:2/s+fixed:5/m":                      rackAttack,
	"caddy:2/s+caddy:5/m":                              caddyZones,
}

var twoLimits = []struct {
	n      int64
	length limit.Time
}{{2, limit.Second}, {5, limit.Minute}}

// envoyService decides as DoLimit of fixed_cache_impl.go with two descriptors and an empty local cache: a key is the
// client, the limit and the beginning of its unit.
func envoyService(stopWhenOverLimit bool) server {
	type key struct {
		client string
		limit  int
		begin  limit.Time
	}
	redis := map[key]int64{}
	return func(client string, t limit.Time) (over bool) {
		var keys []key
		anyNear, near := false, make([]bool, len(twoLimits))
		for i, l := range twoLimits {
			k := key{client, i, t / l.length * l.length}
			keys = append(keys, k)
			if stopWhenOverLimit && redis[k]+1 > l.n { // IsOverLimitThresholdReached, after a GET
				near[i], anyNear = true, true
			}
		}
		for i, k := range keys {
			hits := int64(1) // getHitsAddend
			if stopWhenOverLimit && anyNear && !near[i] {
				hits = 0
			}
			redis[k] += hits
			over = over || redis[k] > twoLimits[i].n
		}
		return over
	}
}

// unionOfLimiters decides as RateLimiterUnion of rate-limiter-flexible: each limiter consumes a point, whose first in a
// while opens its window; what any rejects is rejected.
func unionOfLimiters() server {
	type record struct {
		consumed int64
		expires  limit.Time
	}
	records := make([]map[string]*record, len(twoLimits))
	for i := range records {
		records[i] = map[string]*record{}
	}
	return func(client string, t limit.Time) (rejected bool) {
		for i, l := range twoLimits {
			r := records[i][client]
			if r == nil || t >= r.expires {
				r = &record{expires: t + l.length}
				records[i][client] = r
			}
			r.consumed++
			rejected = rejected || r.consumed > l.n
		}
		return rejected
	}
}

// rackAttack decides as configuration.rb, throttled?: "@throttles.any?", which stops at the first; each counts in its
// period of the epoch.
func rackAttack() server {
	type key struct {
		client string
		limit  int
		period limit.Time
	}
	cache := map[key]int64{}
	return func(client string, t limit.Time) bool {
		for i, l := range twoLimits {
			k := key{client, i, t / l.length}
			if cache[k]++; cache[k] > l.n {
				return true
			}
		}
		return false
	}
}

// caddyZones decides as ServeHTTP of caddy-ratelimit: zones in their order, "if dur := limiter.When(); dur > 0" ends
// it.
func caddyZones() server {
	rings := make([]map[string][]limit.Time, len(twoLimits)) // oldest first
	for i := range rings {
		rings[i] = map[string][]limit.Time{}
	}
	return func(client string, t limit.Time) bool {
		for i, l := range twoLimits {
			ring := rings[i][client]
			if int64(len(ring)) < l.n {
				rings[i][client] = append(ring, t)
			} else if t-ring[0] > l.length {
				rings[i][client] = append(ring[1:len(ring):len(ring)], t)
			} else if l.length-(t-ring[0]) > 0 { // When
				return true
			}
		}
		return false
	}
}

// Policies of several limits decide as the servers that they stand for, whether keys are judged by timelines or request by
// request.
func TestCombinationsAreThoseOfServers(t *testing.T) {
	for text, start := range servers {
		t.Run(text, func(t *testing.T) {
			for seed := range uint64(60) {
				r := testneeds.Rand(t, seed, 13)
				judge := start()
				var lines []line
				want, now := int64(0), limit.Time(1_800_000_000)*second
				for range 400 {
					now += []limit.Time{0, 0, 0, 1, 300_000, second, second, 7 * second, limit.Minute}[r.IntN(9)]
					l := line{at: now, client: drawn[r.IntN(3)], action: "/x", agent: "-", status: 200}
					if judge(l.client, l.at) {
						want++
					}
					lines = append(lines, l)
				}
				policies := policiesOf(t, text, request.ByClient)
				crossed := policies[0]
				crossed.Parts = append(crossed.Parts[:2:2], policiesOf(t, "token:1000000/s", request.BySite)[0].Parts...) // never full
				b := newBenchOf(t, lateness, append(policies, crossed))
				for len(lines) > 0 {
					n := 1 + r.IntN(len(lines))
					for n < len(lines) && lines[n].at == lines[n-1].at {
						n++
					}
					b.judge(lines[:n])
					lines = lines[n:]
				}
				result := b.result()
				for i, way := range []string{"by timelines", "request by request"} {
					if got := result.Policies[i].Refused; got != want {
						t.Fatalf("seed %d, %s: refused %d, the server refuses %d", seed, way, got, want)
					}
				}
				if want == 0 || want == 400 {
					t.Errorf("seed %d: the server refuses %d", seed, want)
				}
			}
		})
	}
}
