package replay_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// The bounds of limits held against each placement of a few requests.

const slack = limit.Second - limit.Microsecond

// placements calls do with requests at several moments of their spans each, in their order.
func placements(stamps []limit.Time, do func(at []limit.Time)) {
	at := make([]limit.Time, len(stamps))
	var place func(i int)
	place = func(i int) {
		if i == len(stamps) {
			do(at)
			return
		}
		for _, late := range []limit.Time{0, 250_000, 500_000, 750_000, slack} {
			at[i] = stamps[i] + late
			if i == 0 || at[i] >= at[i-1] {
				place(i + 1)
			}
		}
	}
	place(0)
}

// provenLimits have bounds that hold.
var provenLimits = []string{
	"token:2/3s", "token:1/1s", "token:3/2s,burst=2", "token:1/2s,burst=3", "gcra:1/1s,burst=1", "gcra:2/1s", "window:2/1s", "window:3/2s",
	"window:2/1500ms", "window:2/500ms", "window:2/2s,charge=all", "fixed:2/1s", "fixed:2/2s", "fixed:1/500ms", "fixed:2/1500ms",
	"nginx:1r/s,burst=1,nodelay", "nginx:2r/s", "nginx:30r/m,burst=2", "leaky:2/2s", "token:2/3s+window:3/2s", "gcra:1/1s,burst=1+fixed:3/2s",
}

// otherLimits have bounds that are not proven: in so many percent of random instances some placement is allowed to
// lie outside.
var otherLimits = map[string]int{
	"caddy:2/2s": 8, "haproxy:2/2s": 14, "haproxy:2/2s,charge=admitted": 20, "counter:2/2s": 3, "counter:2/2s,charge=all": 3, "token:2/2s,refill=step": 22, "token:1/1s,burst=2,debt": 3,
	"fixed:2/2s,align=first": 14, "token:1/1s,cooldown=3s": 4, "window:2/2s,step=1s": 7, "traefik:1/s,burst=2": 8, "envoy-local:2/2s": 3,
	"token:1/1s,burst=2,initial=1": 3,
}

// instance draws the stamps of a few requests, with request times or in whole seconds.
func instance(rng *rand.Rand) (stamps []limit.Time) {
	at, timed := limit.Time(1_767_268_800)*limit.Second, rng.IntN(2) == 0
	for range 2 + rng.IntN(5) {
		at += limit.Time(rng.IntN(3)*rng.IntN(2)) * limit.Second
		if timed {
			at += limit.Time(rng.IntN(2)*rng.IntN(4)) * 250_000
		}
		stamps = append(stamps, at)
	}
	return stamps
}

// An enclosure holds the bounds of a limit for some requests, and what the limit does to them wherever they came.
type enclosure struct {
	bounds, reached [2]int
	outside         []limit.Time // a placement outside of the bounds; nil: there is none
}

func enclose(t *testing.T, text string, stamps []limit.Time) (e enclosure) {
	exact, low, high := limitsOf(t, text)
	logged := refusedBy(exact, stamps)
	e.bounds = [2]int{min(refusedBy(low, stamps), logged), max(refusedBy(high, stamps), logged)}
	e.reached = [2]int{len(stamps), 0}
	placements(stamps, func(at []limit.Time) {
		n := refusedBy(exact, at)
		if n < e.bounds[0] || n > e.bounds[1] {
			e.outside = slices.Clone(at)
		}
		e.reached = [2]int{min(e.reached[0], n), max(e.reached[1], n)}
	})
	return e
}

// limitsOf returns the limits of a policy, and their bounds.
func limitsOf(t *testing.T, text string) (exact, low, high []limit.Limiter) {
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	check(t, err)
	for _, part := range policies[0].Parts {
		from, to := limit.Bounds(part.Limiter, slack)
		exact, low, high = append(exact, part.Limiter), append(low, from), append(high, to)
	}
	return exact, low, high
}

// refusedBy returns how many requests limits refuse that all have to admit one.
func refusedBy(all []limit.Limiter, at []limit.Time) (refused int) {
	states := make([]limit.State, len(all))
	for _, t := range at {
		full := false
		for i, l := range all {
			full = full || l.Wait(&states[i], t) > 0
		}
		for i, l := range all {
			l.Charge(&states[i], t, full)
		}
		if full {
			refused++
		}
	}
	for i := range states {
		states[i].Release()
	}
	return refused
}

func TestBoundsHoldEachPlacement(t *testing.T) {
	rng := testneeds.Rand(t, 0, 0)
	const instances = 150
	for _, text := range provenLimits {
		reached := [2]int{}
		for range instances {
			stamps := instance(rng)
			e := enclose(t, text, stamps)
			if e.outside != nil {
				t.Fatalf("%s refuses %v of %v that came at %v", text, e, stamps, e.outside)
			}
			for i := range reached {
				if e.reached[i] == e.bounds[i] {
					reached[i]++
				}
			}
		}
		t.Logf("%-30s of %d instances the low bound is reached in %d, the high one in %d", text, instances, reached[0], reached[1])
		if reached[1] < instances*3/4 || reached[0] < instances/3 {
			t.Errorf("%s: the bounds are reached in %v of %d instances only", text, reached, instances)
		}
	}
}

func TestBoundsOfOtherLimits(t *testing.T) {
	rng := testneeds.Rand(t, 0, 0)
	const instances = 300
	for text, most := range otherLimits {
		outside := 0
		for range instances {
			if enclose(t, text, instance(rng)).outside != nil {
				outside++
			}
		}
		t.Logf("%-30s outside in %d of %d instances", text, outside, instances)
		if 100*outside > most*instances {
			t.Errorf("%s: some placement lies outside in %d of %d instances", text, outside, instances)
		}
	}
}
