//go:build !nostore

package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// Every script judges as its twin, the limiter, does: on random timelines, cut at random, of many keys at a time.

// twins are limits of every algorithm that can be shared, with numbers that make ticks of fractions and sums that are
// large.
var twins = map[string][]string{
	"token":       {"token:6/30s", "token:7/3s", "token:1/10s,burst=3", "token:997/24h", "token:100000/1m,burst=7", "token:3/1us", "token:100003/24h"},
	"debt":        {"token:6/30s,debt=6", "token:7/3s,debt=1", "token:5/1m,burst=2,debt=30"},
	"step":        {"token:6/30s,refill=step", "token:1/10s,refill=step", "token:60/1m,burst=3,refill=step"},
	"leaky":       {"leaky:6/30s", "leaky:7/3s", "leaky:5/1m,drip=7s", "leaky:997/1h", "leaky:3/1us", "leaky:11/13ms", "leaky:100003/24h"},
	"window":      {"window:6/30s", "window:1/10s", "window:3/1us", "window:25/1h"},
	"attempts":    {"window:6/30s,charge=all", "window:1/10s,charge=all", "window:25/1h,charge=all"},
	"fixed":       {"fixed:6/30s", "fixed:60/7s", "fixed:3/1us", "fixed:2/13ms"},
	"first":       {"fixed:6/30s,align=first", "fixed:60/7s,align=first", "fixed:3/1us,align=first"},
	"counter":     {"counter:6/30s", "counter:60/7s", "counter:3/11us", "counter:1/10s", "counter:100003/24h"},
	"all":         {"counter:6/30s,charge=all", "counter:60/7s,charge=all", "counter:1/10s,charge=all"},
	"nginx":       {"nginx:10r/s", "nginx:10r/m,burst=5", "nginx:1r/m,burst=3,nodelay", "nginx:7r/s,burst=20,delay=8"},
	"haproxy":     {"haproxy:20/10s", "haproxy:6/999ms", "haproxy:1/1ms", "haproxy:5/1m", "haproxy:5/1m,expire=20s"},
	"gpc0":        {"haproxy:8/10s,charge=admitted", "haproxy:6/999ms,charge=admitted", "haproxy:1/1ms,charge=admitted", "haproxy:2/3ms,charge=admitted", "haproxy:5/1m,charge=admitted,expire=20s"},
	"caddy":       {"caddy:6/30s", "caddy:1/10s"},
	"gcra":        {"gcra:60/1m,burst=5", "gcra:7/3s", "gcra:1000/1s,burst=3"},
	"envoy":       {"envoy:6/1m", "envoy:2/1s"},
	"envoy-local": {"envoy-local:6/30s", "envoy-local:2/50ms,burst=9", "envoy-local:60/1m,burst=3"},
	"traefik":     {"traefik:100/1s,burst=50", "traefik:6/1m,burst=3", "traefik:1/93s", "traefik:7/3s,burst=2"},
}

const twinRequests = 200_000 // of each

func TestTwins(t *testing.T) {
	s := startServer(t)
	for name, limits := range twins {
		t.Run(name, func(t *testing.T) {
			for _, text := range limits {
				limits = append(limits, text+",cooldown=20s", text+",cooldown=3s/extend")
			}
			want := twinRequests
			if testing.Short() {
				want /= 10
			}
			r := s.open(t.Name())
			judged, refused := 0, 0
			for seed := uint64(0); judged < want; seed++ {
				rng := testneeds.Rand(t, seed, 1)
				text := limits[int(seed)%len(limits)]
				n, no := compareTwins(t, r, parseLimit(t, text), rng, fmt.Sprint(name, seed))
				judged, refused = judged+n, refused+no
			}
			t.Logf("%d requests, %d refused", judged, refused)
			if refused < judged/20 || refused > judged*19/20 {
				t.Errorf("%d of %d refused: that proves little", refused, judged)
			}
		})
	}
}

func parseLimit(t testing.TB, text string) *policy.Part {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	return &policies[0].Parts[0]
}

// openEnded are terms under which no key resets.
var openEnded = Terms{Lateness: reach / 4, Idle: reach, MaxLag: time.Hour}

// compareTwins judges random timelines by a limiter and its script. It returns how many requests there were, and how many
// were refused.
func compareTwins(t *testing.T, r *Conn, part *policy.Part, rng *rand.Rand, name string) (judged, refused int) {
	t.Helper()
	shared, err := NewLimit(name, part, openEnded)
	if err != nil {
		t.Fatal(err)
	}
	const keys, rounds = 20, 5
	var states [keys]limit.State
	var clocks [keys]limit.Time
	var lacks [keys]bool // whether Redis has missed something
	var places [keys]limit.Time
	for i := range clocks {
		clocks[i] = randomStart(rng, part.Spec)
		places[i] = clocks[i]
	}
	for round := range rounds {
		missed := round%3 == 1 // Redis is not asked
		var calls []*Call
		for key := range keys {
			c := &Call{Limit: shared, Key: fmt.Sprint(key), Alone: lacks[key]}
			if !missed && lacks[key] {
				c.Memory = &states[key] // Redis now gets what it has missed
			}
			for range rng.IntN(60) {
				c.At = append(c.At, clocks[key])
				places[key] = max(places[key]+1, clocks[key])
				c.Places = append(c.Places, places[key])
				clocks[key] += randomStep(rng, part.Spec)
			}
			if len(c.At) > 0 {
				lacks[key] = missed
				calls = append(calls, c)
			}
		}
		if missed {
			for _, c := range calls {
				judgeLocally(part.Limiter, &states[index(c)], c.At)
			}
			continue
		}
		if err := r.Judge(context.Background(), calls); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			state := &states[index(c)]
			before := state.Clone()
			want, late := judgeLocally(part.Limiter, state, c.At)
			if !slices.Equal(c.Refused, want) || !slices.Equal(c.Delayed, late) {
				t.Fatalf("%s, key %s: the script differs\nfrom %+v\nat      %v\nscript  %v %v\nlimiter %v %v",
					part.Spec, c.Key, before, c.At, c.Refused, c.Delayed, want, late)
			}
			judged, refused = judged+len(c.At), refused+len(want)
		}
	}
	return judged, refused
}

// index returns the index of the call's key.
func index(c *Call) (i int) {
	fmt.Sscan(c.Key, &i)
	return i
}

func judgeLocally(l limit.Limiter, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	if d, ok := l.(limit.Delayer); ok {
		return d.RefuseAndDelay(nil, nil, s, at)
	}
	return l.Refuse(nil, s, at), nil
}

// randomStart is before, around or long after the epoch, or where no time of a log should be.
func randomStart(r *rand.Rand, spec limit.Spec) limit.Time {
	around := limit.Time(r.Int64N(int64(4*spec.Period))) - 2*spec.Period
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return -1_700_000_000*limit.Second + around
	case 2:
		return 200_000_000_000*limit.Second + around // year 8307: more than 2⁵³ µs
	case 3:
		return around
	}
	return 1_700_000_000*limit.Second + around
}

// randomStep is the time to the next request: on and beside the boundaries of the limit, pauses, steps back.
func randomStep(r *rand.Rand, spec limit.Spec) limit.Time {
	interval := max(1, spec.Period/limit.Time(spec.Count))
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return limit.Time(r.IntN(3))
	case 5:
		return interval + limit.Time(r.IntN(3)) - 1
	case 6, 7:
		return limit.Time(r.Int64N(int64(2 * interval)))
	case 8:
		return max(0, spec.Period+limit.Time(r.IntN(3))-1)
	case 9:
		return -limit.Time(r.Int64N(int64(2 * interval)))
	case 10:
		return limit.Time(r.Int64N(int64(spec.Period)))
	}
	return limit.Time(r.Int64N(int64(4*spec.Period))) / limit.Time(1+r.IntN(20))
}
