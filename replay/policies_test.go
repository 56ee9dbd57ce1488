package replay_test

import (
	"reflect"
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

// drawLimiter draws a limiter, of any algorithm that there is among others. Most remember a key for a minute at most.
func drawLimiter(t *rapid.T) limit.Limiter {
	n := int64(rapid.IntRange(1, 6).Draw(t, "n"))
	per := rapid.SampledFrom([]limit.Time{second, 5 * second, 10 * second}).Draw(t, "per")
	switch rapid.IntRange(0, 5).Draw(t, "limiter") {
	case 0:
		return spite{n, per}
	case 1:
		return grudge{per}
	case 2:
		return queue{n, per / 5}
	}
	algorithm := countsTimes()[rapid.IntRange(0, len(policy.Algorithms)-2).Draw(t, "algorithm")]
	spec := limit.Spec{Algorithm: algorithm.Name, Count: n, Period: per}
	if rapid.Bool().Draw(t, "cools") {
		spec.Options = rapid.SampledFrom([]string{"cooldown=3s", "cooldown=9s/extend"}).Draw(t, "cooldown")
	}
	p, err := policy.New(spec, request.ByClient)
	if err != nil { // some servers know few periods, and no small counts
		spec.Count, spec.Period = 10+n, limit.Minute
		p, err = policy.New(spec, request.ByClient)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l := p.Parts[0].Limiter; l.Horizon() < limit.Never {
		return l
	}
	return grudge{per} // logs are drawn with pauses about as long as a limiter remembers
}

// drawPolicy draws a policy of several limits: by one key or by several, for all requests or with scopes.
func drawPolicy(t *rapid.T) (p policy.Policy) {
	by := rapid.SampledFrom(keysJudged).Draw(t, "by")
	p.Combine = policy.Combine(rapid.IntRange(0, 2).Draw(t, "combine"))
	keys, scoped := rapid.Bool().Draw(t, "several keys"), rapid.IntRange(0, 3).Draw(t, "scopes")
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		part := policy.Part{By: by, Limiter: drawLimiter(t)}
		if keys {
			part.By = rapid.SampledFrom(keysJudged).Draw(t, "by")
		}
		part.Match = policy.Scope(rapid.IntRange(0, scoped).Draw(t, "match"))
		part.Count = part.Match
		if rapid.Bool().Draw(t, "counts others") {
			part.Count = policy.Scope(rapid.IntRange(0, scoped).Draw(t, "count"))
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}

// Whatever a policy is made of, the engine decides as the model, which knows no timelines.
func TestPoliciesAgainstModel(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		policies := rapid.SliceOfN(rapid.Custom(drawPolicy), 1, 4).Draw(rt, "policies")
		idle := idleTimes(policies, lateness)
		lines := drawLog(rt, lateness+limit.Minute)
		tiers := rapid.Bool().Draw(rt, "tiers")
		for i := range lines {
			if tiers { // each client is in one
				lines[i].marks = 1 << slices.Index(drawn, lines[i].client)
			}
		}
		b := newBenchOf(t, lateness, policies)
		b.judge(cutLog(rt, lines)...)
		r := b.result()
		for i, p := range policies {
			if got, want := b.booked(r, i), modelled(lines, p, idle); !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s: %#v:\n%+v, want\n%+v", p.Combine, p.Parts, got, want)
			}
		}
	})
}

// A client's limit inside the site's: 2 per 10 s each, 3 per 10 s together. What the client's limit refuses takes nothing
// from the others, and what the site's refuses takes nothing from the client.
func TestClientInsideSite(t *testing.T) {
	parts := slices.Concat(policiesOf(t, "window:2/10s", request.ByClient), policiesOf(t, "window:3/10s", request.BySite))
	b := newBenchOf(t, lateness, []policy.Policy{{Parts: []policy.Part{parts[0].Parts[0], parts[1].Parts[0]}}})
	b.judge(slices.Concat(
		at("a", 0, 1*second, 2*second), // the third is too many for the client
		at("b", 3*second, 4*second),    // the second for the site
		at("c", 5*second, 10*second),   // at 10 s the site has room again
		at("b", 10*second, 11*second),  // and again at 11 s; b had one only
	))
	if got, want := b.verdicts(), "a@2s b@4s b@10s c@5s"; got != want {
		t.Errorf("refused %q, want %q", got, want)
	}
}

// Two logins may fail in 10 s, then all logins are refused for 30 s: the first refusal begins it, though it is not
// counted as its answer was not 401. Of requests that are counted and not refused, one without room begins it, too. A
// limit does so in whichever way it combines with others.
func TestCooldownOfOtherRequests(t *testing.T) {
	part := policiesOf(t, "window:2/10s,cooldown=30s", request.ByClient)[0].Parts[0]
	part.Match, part.Count = 1, 2
	const login, failed = 1, 2
	for _, c := range []struct {
		what  string
		marks []uint64
		want  string
	}{
		{"a login", []uint64{login | failed, login | failed, login, login, login, login}, "a@2s a@31s"},
		{"a failure elsewhere", []uint64{login | failed, login | failed, failed, login, login, login}, "a@31s"},
	} {
		lines := at("a", 0, second, 2*second, 31*second, 32*second, 33*second)
		for i := range lines {
			lines[i].marks = c.marks[i]
		}
		policies := []policy.Policy{{Parts: []policy.Part{part}}}
		for _, policies[0].Combine = range []policy.Combine{policy.InTurn, policy.Each, policy.Together} {
			b := newBenchOf(t, lateness, policies)
			b.judge(lines)
			if got := b.verdicts(); got != c.want {
				t.Errorf("%s, %s: refused %q, want %q", c.what, policies[0].Combine, got, c.want)
			}
		}
		g := observing(t, policies, [][]line{lines}, func(tables *traffic.Tables) *replay.ClientLog {
			return replay.NewClientLog(tables, replay.ClientName{Name: "a"}, 1)
		})
		if wait := g.Follow(policies, 0, lateness, 2).Limits[0].Wait; wait[3] != second {
			t.Errorf("%s: waits %d", c.what, wait)
		}
	}
}

// Of an approximation the lowest and the highest are told that it comes to; of a policy with two, of all four cases.
func TestRanges(t *testing.T) {
	window := func(text string) limit.Limiter { return policiesOf(t, text, request.ByClient)[0].Parts[0].Limiter }
	site := func(text string) limit.Limiter { return policiesOf(t, text, request.BySite)[0].Parts[0].Limiter }
	one := policy.Part{Limiter: guess{window("window:3/1m"), window("window:2/1m"), window("window:4/1m")}}
	other := policy.Part{By: request.BySite, Limiter: guess{site("window:6/1m"), site("window:7/1m"), site("window:3/1m")}}
	b := newBenchOf(t, lateness, []policy.Policy{{Parts: []policy.Part{one}}, {Parts: []policy.Part{one, other}}, {Parts: policiesOf(t, "window:3/1m", "")[0].Parts}})
	b.judge(slices.Concat(at("a", 0, 1, 2, 3), at("b", 4, 5, 6, 7), at("c", 8, 9, 10)))
	r := b.result()
	if p := r.Policies[0]; p.Refused != 2 || p.Range.Refused != [2]int64{0, 5} || p.Range.ClientsHit != [2]int64{0, 3} {
		t.Errorf("one approximation: %d, %+v", p.Refused, p.Range)
	}
	for client, want := range [][2]int64{{0, 2}, {0, 2}, {0, 1}} {
		if got := r.Policies[0].Range.Of(int32(client)); got != want {
			t.Errorf("client %d: %v, want %v", client, got, want)
		}
	}
	if p := r.Policies[1]; p.Refused != 5 || p.Range.Refused != [2]int64{4, 8} || p.Range.ClientsHit != [2]int64{2, 3} {
		t.Errorf("two approximations: %d, %+v", p.Refused, p.Range)
	}
	if p := r.Policies[2]; p.Range != nil || len(r.Policies) != 3 {
		t.Errorf("none: %+v, %d policies", p.Range, len(r.Policies))
	}
	for _, e := range b.events {
		if e.policy > 2 {
			t.Errorf("a variant has an event: %+v", e)
		}
	}
}
