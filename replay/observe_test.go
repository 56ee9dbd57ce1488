package replay_test

import (
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

// verdictsOf returns the model's verdicts on lines, one by one.
func verdictsOf(lines []line, p policy.Policy, idle map[request.Key]limit.Time) (refused []bool, delays []limit.Time) {
	memories := make([]map[string]*memory, len(p.Parts))
	for _, l := range lines {
		r, d := judgeLine(&l, p, memories, idle)
		refused, delays = append(refused, r), append(delays, d)
	}
	return refused, delays
}

// observing judges batches for an observer that make makes.
func observing[T replay.Observer](t testing.TB, policies []policy.Policy, batches [][]line, observe func(*traffic.Tables) T) T {
	b := newBenchOf(t, lateness, policies)
	observer := observe(b.tables)
	b.engine = replay.New(replay.Options{Tables: b.tables, Policies: policies, Lateness: lateness, Observer: observer})
	b.judge(batches...)
	return observer
}

// ownPolicies returns policies of all kinds that tell of one client alone: by client, by client and action, several
// limits, scopes, delays, a cooldown.
func ownPolicies(t testing.TB) []policy.Policy {
	policies, err := policy.ParseLimits([]string{
		"token:3/20s", "window:2/10s+leaky:3/1m", "nginx:6r/m,burst=3",
		"each:window:2/10s+leaky:3/1m", "in-turn:window:2/10s,charge=all+token:3/1m+window:3/1m,charge=all", "fixed:2/10s,cooldown=20s",
	}, request.ByClient)
	check(t, err)
	others, err := policy.ParseLimits([]string{"token:2/20s", "window:2/30s+token:4/1m"}, request.ByClientAction)
	check(t, err)
	policies = append(policies, others...)
	scoped := policy.Policy{Name: "scoped", Parts: slices.Concat(slices.Clone(policies[1].Parts), slices.Clone(others[0].Parts))}
	scoped.Parts[0].Match, scoped.Parts[0].Count = 1, 1
	scoped.Parts[1].Match, scoped.Parts[1].Count = 2, 3
	counting := policy.Policy{Name: "counting", Parts: slices.Clone(others[0].Parts)} // counts all, refuses some
	counting.Parts[0].Match = 2
	return append(policies, scoped, counting)
}

// sharedPolicies returns policies by which clients share a key.
func sharedPolicies(t testing.TB) []policy.Policy {
	policies, err := policy.ParseLimits([]string{"token:3/20s"}, request.BySite)
	check(t, err)
	own, err := policy.ParseLimits([]string{"window:2/10s"}, request.ByClient)
	check(t, err)
	both := slices.Concat(own[0].Parts, policies[0].Parts)
	return append(policies, policy.Policy{Name: "both", Parts: both}, policy.Policy{Name: "each", Parts: both, Combine: policy.Each},
		policy.Policy{Name: "in turn", Parts: slices.Concat(both, own[0].Parts), Combine: policy.InTurn})
}

// Request by request, whatever the log and however it is cut, a client log holds what the model decides; and a timeline knows
// a limit without room just where the policy refuses.
func TestClientLogAgainstModel(t *testing.T) {
	policies := append(ownPolicies(t), sharedPolicies(t)...)
	idle := idleTimes(policies, lateness)
	testneeds.Rapid(t, func(rt *rapid.T) {
		lines := drawLog(rt, idle[request.ByClient])
		client := rapid.SampledFrom([]string{"a", "b", "nobody"}).Draw(rt, "whose")
		g := observing(t, policies, cutLog(rt, lines), func(tables *traffic.Tables) *replay.ClientLog {
			return replay.NewClientLog(tables, replay.ClientName{Name: client}, len(policies))
		})
		for i, p := range policies {
			refused, delays := verdictsOf(lines, p, idle)
			timeline := g.Follow(policies, i, lateness, 10)
			row, warm := 0, 0
			for j, l := range lines {
				if l.client != client {
					continue
				}
				if l.warm {
					warm++
				}
				if g.Batch.At[row] != l.at || g.Batch.Status[row] != l.status || g.Outcomes[i].Refused[row] != refused[j] || g.Outcomes[i].Delayed[row] != delays[j] {
					rt.Fatalf("%s: request %d of %s differs from the model's", p.Name, row, client)
				}
				if len(p.Keys()) == 1 && !p.Parts[0].By.Shared() && fullAt(timeline, row) != refused[j] {
					rt.Fatalf("%s: request %d of %s: refused %v, but a limit without room: %v", p.Name, row, client, refused[j], !refused[j])
				}
				row++
			}
			if row != g.Batch.Len() || warm != g.Warm {
				rt.Fatalf("%d requests, %d of them warm; want %d and %d", g.Batch.Len(), g.Warm, row, warm)
			}
		}
	})
}

// fullAt reports whether some limit had no room for a request.
func fullAt(timeline *replay.ClientTimeline, row int) bool {
	return slices.ContainsFunc(timeline.Limits, func(l replay.LimitTimeline) bool { return l.Wait != nil && l.Wait[row] > 0 })
}

// A comparison counts what two replays, one for each policy, would tell request by request.
func TestComparisonAgainstTwoReplays(t *testing.T) {
	policies := append(ownPolicies(t), sharedPolicies(t)...)
	testneeds.Rapid(t, func(rt *rapid.T) {
		two := []policy.Policy{rapid.SampledFrom(policies).Draw(rt, "a"), rapid.SampledFrom(policies).Draw(rt, "b")}
		idle := idleTimes(two, lateness)
		lines := drawLog(rt, idle[two[0].Parts[0].By])
		batches := cutLog(rt, lines)
		var tables *traffic.Tables
		c := observing(t, two, batches, func(of *traffic.Tables) *replay.Comparison {
			tables = of
			return replay.NewComparison(of)
		})
		a, _ := verdictsOf(lines, two[0], idle)
		b, _ := verdictsOf(lines, two[1], idle)
		var all replay.Sides
		clients, actions := map[string]replay.Sides{}, map[string]replay.Sides{}
		requests := int64(0)
		for i, l := range lines {
			if l.warm {
				continue
			}
			requests++
			for _, s := range []func(replay.Sides){
				func(s replay.Sides) { all = plus(all, s) },
				func(s replay.Sides) { clients[l.client] = plus(clients[l.client], s) },
				func(s replay.Sides) { actions[l.action] = plus(actions[l.action], s) },
			} {
				s(sides(a[i], b[i]))
			}
		}
		if c.Refused != all || c.Requests != requests {
			rt.Fatalf("%+v of %d, want %+v of %d", c.Refused, c.Requests, all, requests)
		}
		for id := range int32(c.Clients.Len()) {
			if name := tables.Clients.Name(id); *c.Clients.At(id) != clients[name] {
				rt.Fatalf("client %s: %+v, want %+v", name, *c.Clients.At(id), clients[name])
			}
		}
		for id, s := range c.Actions {
			if name := tables.Actions.Name(int32(id)); s != actions[name] {
				rt.Fatalf("action %s: %+v, want %+v", name, s, actions[name])
			}
		}
	})
}

func sides(a, b bool) (s replay.Sides) {
	switch {
	case a && b:
		s.Both = 1
	case a:
		s.OnlyA = 1
	case b:
		s.OnlyB = 1
	}
	return s
}

func plus(x, y replay.Sides) replay.Sides {
	return replay.Sides{OnlyA: x.OnlyA + y.OnlyA, OnlyB: x.OnlyB + y.OnlyB, Both: x.Both + y.Both}
}
