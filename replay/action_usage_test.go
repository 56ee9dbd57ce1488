package replay_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/replay"
)

// A slowTaken counts as the definition says, by looking at all requests of each client again and again.
func slowTaken(lines []line, refused []bool, length limit.Time) (requests, admitted, most int64) {
	for i, l := range lines {
		if l.warm || l.action != "/x" {
			continue
		}
		requests++
		if refused[i] {
			continue
		}
		admitted++
		last, n := l.at, int64(0)
		for j := range i + 1 { // one that came too late counts as if it came with the latest
			if own := lines[j]; !own.warm && own.client == l.client && own.action == "/x" && !refused[j] {
				last = max(last, own.at)
			}
		}
		latest := limit.Time(math.MinInt64)
		for j := range i + 1 {
			own := lines[j]
			if own.warm || own.client != l.client || own.action != "/x" || refused[j] {
				continue
			}
			if latest = max(latest, own.at); latest > last-length {
				n++
			}
		}
		most = max(most, n)
	}
	return requests, admitted, most
}

// However a log is cut, what is left of an action is what the definition says.
func TestTakenAgainstItsDefinition(t *testing.T) {
	policies := append(ownPolicies(t), sharedPolicies(t)...)
	idle := idleTimes(policies, lateness)
	testneeds.Rapid(t, func(rt *rapid.T) {
		lines := drawLog(rt, idle[request.ByClient])
		b := newBenchOf(t, lateness, policies)
		asked := rapid.SampledFrom([]string{"x", "/x"}).Draw(rt, "asked")
		isX := func(l line) bool { return l.action == "/x" }
		for i := range lines { // until the first of /x, that is what /x means
			if asked == "/x" && slices.ContainsFunc(lines, isX) && !isX(lines[i]) {
				lines[i].action = "/x/…"
			}
		}
		taken := replay.NewActionUsage(asked, b.tables, policies)
		b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Observer: taken})
		for _, batch := range cutLog(rt, lines) {
			check(t, b.engine.Judge(withClues(b.batch(batch), b.tables)))
		}
		taken.Finish()
		for i, p := range policies {
			all, _ := verdictsOf(lines, p, idle)
			got := taken.Policies[i]
			for length, most := range map[limit.Time]replay.Streak{limit.Hour: got.Hour, limit.Day: got.Day} {
				if requests, admitted, want := slowTaken(lines, all, length); got.Requests != requests || got.Admitted != admitted || most.Requests != want {
					rt.Fatalf("%s: %d of %d admitted, at most %d in %d s; want %d of %d and %d", p.Name, got.Admitted, got.Requests, most.Requests,
						length/limit.Second, admitted, requests, want)
				}
			}
		}
	})
}
