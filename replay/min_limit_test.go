package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/internal/traffic"
	"shadow/limit"
	"shadow/replay"
)

// of every algorithm a limit or two; their numbers are small, so that they refuse much.
var needy = []string{
	"token:2/10s", "token:1/10s,burst=3", "token:2/10s,burst=4,initial=1", "token:2/10s,refill=step", "token:2/10s,debt",
	"token:2/10s,cooldown=1m", "leaky:2/30s", "leaky:2/30s,drip=7s", "window:2/10s", "window:2/10s,charge=all",
	"window:4/1m,step=10s", "window:4/1m,step=10s,max=3", "fixed:2/10s", "fixed:2/10s,align=first", "counter:2/10s",
	"nginx:6r/m", "nginx:6r/m,burst=2,delay=1", "haproxy:2/10s", "caddy:2/10s", "gcra:6/1m,burst=1", "envoy:2/m",
	"envoy-local:2/10s", "traefik:2/10s,burst=2", "cloudflare~:2/10s", "aws~:10/1m",
}

// drawTimes returns moments of one client: bursts, regular and irregular stretches, pauses.
func drawTimes(t *rapid.T) (at []limit.Time) {
	now := limit.Time(rapid.IntRange(0, 100).Draw(t, "start")) * second
	steps := []limit.Time{0, 0, 0, 1, second, 3 * second, 5 * second, 10 * second, 31 * second, 2 * limit.Minute}
	for range rapid.IntRange(1, 40).Draw(t, "requests") {
		at = append(at, now)
		now += rapid.SampledFrom(steps).Draw(t, "step")
	}
	return at
}

// The number that a limit needs is the smallest that refuses nothing so far, and so is every larger one.
func TestNeedAgainstTryingAllNumbers(t *testing.T) {
	for _, text := range needy {
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		check(t, err)
		part := policies[0].Parts[0]
		_, is := part.Number()
		t.Run(text, func(t *testing.T) {
			testneeds.Rapid(t, func(rt *rapid.T) {
				at := drawTimes(rt)
				first := firstRefusals(rt, part, is, int64(len(at)+2)*2, at)
				g := gathered(t, policies, at)
				needing := g.MinLimit(part, len(at), lateness)
				for row := range at {
					got, found := needing.UpTo(int32(row), is)
					i := slices.IndexFunc(first, func(f int) bool { return f > row })
					if found != (i >= 0) || found && got != is+int64(i) {
						rt.Fatalf("up to request %d of %v: %d, %v; want %d", row, at, got, found, is+int64(i))
					}
					if i >= 0 && slices.ContainsFunc(first[i:], func(f int) bool { return f <= row }) {
						rt.Fatalf("a larger number than %d refuses one of the first %d of %v", is+int64(i), row+1, at)
					}
				}
			})
		})
	}
}

// firstRefusals are, for so many numbers from is on, the index of the first request that the limit refuses.
func firstRefusals(t *rapid.T, part policy.Part, is, n int64, at []limit.Time) (first []int) {
	for number := is; number < is+n; number++ {
		with, err := part.WithNumber(number)
		if err != nil {
			t.Fatal(err)
		}
		var s limit.State
		refused := slices.IndexFunc(at, func(now limit.Time) bool {
			full := with.Limiter.Wait(&s, now) > 0
			with.Limiter.Charge(&s, now, full)
			return full
		})
		if refused < 0 {
			refused = len(at)
		}
		first = append(first, refused)
	}
	return first
}

// gathered returns the requests of one client.
func gathered(t testing.TB, policies []policy.Policy, at []limit.Time) *replay.ClientLog {
	var lines []line
	for _, now := range at {
		lines = append(lines, line{at: now, client: "a"})
	}
	return observing(t, policies, [][]line{lines}, func(tables *traffic.Tables) *replay.ClientLog {
		return replay.NewClientLog(tables, replay.ClientName{Name: "a"}, len(policies))
	})
}

// The backlog of a token bucket without end is what its burst must hold: all by hand.
func TestNeedIsThePeakOfTheBacklog(t *testing.T) {
	for _, c := range []struct {
		limit string
		at    []limit.Time // seconds
		want  []int64      // up to each request
	}{
		{"token:1/10s", []limit.Time{0, 0, 13, 22, 23}, []int64{1, 2, 2, 2, 3}},
		{"token:2/10s", []limit.Time{0, 0, 0, 3, 12}, []int64{2, 2, 3, 4, 4}},
		{"window:2/10s", []limit.Time{0, 0, 0, 3, 12, 12}, []int64{2, 2, 3, 4, 4, 4}},
		{"nginx:6r/m", []limit.Time{0, 0, 5, 30}, []int64{0, 1, 2, 2}},
	} {
		policies, err := policy.ParseLimits([]string{c.limit}, request.ByClient)
		check(t, err)
		for i := range c.at {
			c.at[i] *= second
		}
		part := policies[0].Parts[0]
		_, is := part.Number()
		needing := gathered(t, policies, c.at).MinLimit(part, len(c.at), lateness)
		for row, want := range c.want {
			if got, _ := needing.UpTo(int32(row), is); got != want {
				t.Errorf("%s up to request %d of %v: %d, want %d", c.limit, row, c.at, got, want)
			}
		}
	}
}

// levels are the highest since the moment before, and what is left of them at the moment.
func TestLevelsOfATrail(t *testing.T) {
	policies, err := policy.ParseLimits([]string{"token:2/10s", "token:2/10s+window:9/1h"}, request.ByClient)
	check(t, err)
	at := []limit.Time{0, 0, 0, 6 * second, 20 * second}
	g := gathered(t, policies, at)
	// At 0, 5, 10, 15, 20 s: two of three are admitted, one drips away every 5 s; at 6 there is 0.8, and one more comes.
	want := []float64{2, 1, 1.8, 0, 1}
	if got := g.Follow(policies, 0, lateness, 5).Limits[0].Levels; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A refused request costs the window nothing.
	want = []float64{2, 2, 3, 3, 4}
	if got := g.Follow(policies, 1, lateness, 5).Limits[1].Levels; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
