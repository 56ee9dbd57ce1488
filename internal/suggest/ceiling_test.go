package suggest

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"shadow/bucket"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/servers"
	"shadow/internal/sweep"
	"shadow/internal/testneeds"
	"shadow/limit"
)

// greedy returns what a limiter admits in less than a time to a client that asks at every microsecond at which anything
// may come free: the slow and obvious twin of Admits.
func greedy(t *rapid.T, s sweep.Shape, n int64, start, time limit.Time) (admitted int64) {
	policies, err := policy.ParseLimits([]string{s.Limit(n)}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	limiter, state := policies[0].Parts[0].Limiter, new(limit.State)
	for now := start; now < start+time; {
		wait := limiter.Wait(state, now)
		if wait == 0 {
			limiter.Charge(state, now, false)
			admitted++
		}
		now += wait
	}
	return admitted
}

// No client is left more, and one that begins at the right moment is left as much.
func TestAdmitsWhatTheGreedyGet(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		per := limit.Time(rapid.Int64Range(2, 60).Draw(rt, "per")) * limit.Second
		s := sweep.Shape{Kind: rapid.SampledFrom([]sweep.Kind{sweep.Token, sweep.Window, sweep.Fixed}).Draw(rt, "kind"), Per: per}
		s.Rate = sweep.Rate{Count: rapid.Int64Range(1, 20).Draw(rt, "count"), Per: per}
		n, time := rapid.Int64Range(1, 30).Draw(rt, "n"), limit.Time(rapid.Int64Range(1, 200).Draw(rt, "time"))*limit.Second
		want := greedy(rt, s, n, 0, time)
		if s.Kind == sweep.Fixed { // the best moment is just before a window ends
			want = greedy(rt, s, n, per-1, time)
		}
		if got := Admits(s, n, time); got != want {
			rt.Fatalf("%s admits %d in %d s, want %d", s.Limit(n), got, time/limit.Second, want)
		}
		start := limit.Time(rapid.Int64Range(0, int64(per)).Draw(rt, "start"))
		if got := greedy(rt, s, n, start, time); got > Admits(s, n, time) {
			rt.Fatalf("%s admits %d from %d on", s.Limit(n), got, start)
		}
	})
}

// Who falls silent until Traefik forgets is admitted so much: a burst at the end of a second, then what comes in the first
// second of each cycle. It is never less than what the greedy get, and one more where a request is delayed.
func TestAdmitsWhatTheForgottenGet(t *testing.T) {
	for _, c := range []struct {
		count int64
		per   limit.Time
		n     int64
	}{{1, limit.Second, 93}, {5, limit.Second, 7}, {10, limit.Minute, 20}, {1, limit.Minute, 3}, {100, limit.Second, 1}} {
		s := sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: c.count, Per: c.per}}
		text := limit.Spec{Algorithm: "traefik", Count: c.count, Period: c.per, Options: "burst=" + strconv.FormatInt(c.n, 10)}.String()
		policies, err := policy.ParseLimits([]string{text}, request.ByClient)
		if err != nil {
			t.Fatal(err)
		}
		limiter, state := policies[0].Parts[0].Limiter, new(limit.State)
		every, _ := limiter.(*bucket.Traefik).Cycle()
		start := limit.Second - 1
		want := int64(0)
		for now := start; now < start+limit.Minute; {
			if wait := limiter.Wait(state, now); wait > 0 {
				now += wait
			} else {
				limiter.Charge(state, now, false)
				want++
			}
			if now%every >= limit.Second || now == start && want == c.n {
				now += every - now%every
			}
		}
		most := Admits(s, c.n, limit.Minute)
		if got := admits(text, s, c.n, limit.Minute); got < max(want, most) || got > max(want, most)+1 {
			t.Errorf("%s admits %d, want %d, and %d to who is never silent", text, got, want, most)
		}
	}
}

func TestAdmitsDoesNotOverflow(t *testing.T) {
	for _, s := range []sweep.Shape{
		{Kind: sweep.Window, Per: 1}, {Kind: sweep.Fixed, Per: 1}, {Kind: sweep.Token, Rate: sweep.Rate{Count: math.MaxInt64, Per: 1}},
	} {
		if got := Admits(s, math.MaxInt64, limit.Day); got != math.MaxInt64 {
			t.Errorf("%v: %d", s, got)
		}
	}
}

// The ceilings are in order of what they admit in a day, and nginx has some of their rates.
func TestBounds(t *testing.T) {
	server, err := servers.Named("nginx")
	if err != nil {
		t.Fatal(err)
	}
	market := MarketOf(server, func(sweep.Shape) bool { return true })
	last, nginx := int64(0), 0
	for _, b := range ceilings() {
		day := Admits(b.Shape, b.N, limit.Day)
		if day < last {
			t.Errorf("%s admits less than the one before", b.Limit())
		}
		if slices.Contains(market.Shapes(), b.Shape) {
			nginx++
		}
		last = day
	}
	if nginx == 0 {
		t.Error("nginx has none")
	}
}
