package calc

import (
	"testing"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

func explained(t *testing.T, text string) Explanation {
	t.Helper()
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		t.Fatal(err)
	}
	all := Explain(policies[0].Parts, 10)
	if len(all) != 1 {
		t.Fatalf("%s: %d explanations", text, len(all))
	}
	return all[0]
}

func TestExplain(t *testing.T) {
	e := explained(t, "token:6/30s,burst=10,initial=3")
	if e.Limit != "token:6/30s,burst=10,initial=3" || e.AtOnce != 10 || *e.Trial != (Trial{AtOnce: 3}) || e.Count != 1 || e.Per != 5*limit.Second ||
		e.Full != 50*limit.Second || len(e.Equivalents) != len(policy.Servers) || len(e.Clients) != 3 {
		t.Errorf("%+v", e)
	}
}

// Three clients at 15 requests a minute for 5 minutes: the steady one gets what the bucket holds and what flows in, the
// bursty one a full bucket each time.
func TestExplainClients(t *testing.T) {
	e := explained(t, "token:6/30s,burst=10")
	steady, bursty, random := e.Clients[0], e.Clients[1], e.Clients[2]
	if steady.Every != 4*limit.Second || steady.Requests != 75 || steady.Admitted != 69 || len(steady.Levels) != 10 {
		t.Errorf("%+v", steady)
	}
	if bursty.Burst != 15 || bursty.Every != limit.Minute || bursty.Requests != 75 || bursty.Admitted != 50 {
		t.Errorf("%+v", bursty)
	}
	if random.Requests != 75 || random.Admitted >= steady.Admitted || random.Admitted <= bursty.Admitted {
		t.Errorf("%+v", random)
	}
}

// An approximation is tried out under all its assumptions; what it refuses itself lies in the ranges.
func TestExplainApproximations(t *testing.T) {
	for text, want := range map[string]int{"cloudflare~:60/m": 4, "aws~:1000/5m": 4, "aws~:1000/5m,cooldown=1m": 4, "counter:60/m": 0} {
		e := explained(t, text)
		if len(e.Variants) != want {
			t.Errorf("%s: %d variants", text, len(e.Variants))
		}
		for _, v := range e.Variants {
			if v.Assumes == "" || v.Assumes == e.Means || v.Trial == nil || len(v.Refused) != len(e.Clients) {
				t.Errorf("%s: %+v", text, v)
			}
		}
		for i, c := range e.Clients {
			if want == 0 {
				if c.Range != nil {
					t.Errorf("%s is exact, and has the range %v", text, *c.Range)
				}
				continue
			}
			least, most := c.Refused, c.Refused
			for _, v := range e.Variants {
				least, most = min(least, v.Refused[i]), max(most, v.Refused[i])
			}
			if *c.Range != [2]int64{least, most} || i == 0 && least == most {
				t.Errorf("%s: %s: %v, want %d to %d", text, c.Name, *c.Range, least, most)
			}
		}
	}
}

// What is too large to try out is explained all the same.
func TestExplainExtremes(t *testing.T) {
	for _, text := range []string{
		"token:1000000000/us", "token:1/2540400h", "token:9000000000000000000/1us,burst=1", "token:3/7us", "leaky:1/1us",
		"token:6/30s,burst=1800000000000", "window:1/1us", "window:1/2540400h", "token:1000003/52w,burst=1",
	} {
		e := explained(t, text)
		if e.AtOnce < 1 || e.Full < 1 || len(e.Equivalents) == 0 {
			t.Errorf("%s: %+v", text, e)
		}
		for _, c := range e.Clients {
			if c.Every < 1 || c.Requests < 1 || c.Requests != c.Admitted+c.Refused || c.Requests > MaxRequests {
				t.Errorf("%s: %+v", text, c)
			}
		}
	}
}

// A guard is a bucket of one per second in which a refused request costs as much as the test says.
type guard struct {
	limit.Limiter
	costs func(s *limit.State, t limit.Time) // of a refused request, on the State whose At is when it is free again
}

func (g guard) Wait(s *limit.State, t limit.Time) limit.Time { return max(0, s.At-t) }

func (g guard) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused {
		g.costs(s, t)
		return
	}
	s.At = t + limit.Second
}

func (guard) Semantics() string { return "a guard" }
func (guard) Shape() limit.Shape {
	return limit.Shape{Count: 1, Period: limit.Second, AtOnce: 1, Kin: true}
}

// What refused requests cost is found out by refusing some.
func TestCost(t *testing.T) {
	const second = limit.Second
	for name, c := range map[string]struct {
		costs func(s *limit.State, t limit.Time)
		want  Trial
	}{
		"nothing":               {func(*limit.State, limit.Time) {}, Trial{}},
		"debt":                  {func(s *limit.State, _ limit.Time) { s.At += second }, Trial{One: second, Many: 2 * second}},
		"cooldown":              {func(s *limit.State, t limit.Time) { s.At = max(s.At, 31*second) }, Trial{One: 30 * second, Many: 30 * second}},
		"cooldown that extends": {func(s *limit.State, t limit.Time) { s.At = t + 31*second }, Trial{One: 30 * second, Many: 45*second + second/2}},
		"forever":               {func(s *limit.State, t limit.Time) { s.At = limit.Never }, Trial{One: limit.Never - second, Many: limit.Never - second}},
	} {
		c.want.AtOnce = 1
		if got := tryOut(guard{costs: c.costs}, 0, 1); *got != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}

// A limiter that refuses nothing at one moment cannot be used up at one.
func TestTryOutEndless(t *testing.T) {
	if got, want := tryOut(pulse{}, 0, 5), (Trial{AtOnce: 10, Endless: true}); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
}

// A limiter that does not describe itself has no more than its name.
func TestExplainMute(t *testing.T) {
	spec := limit.Spec{Algorithm: "mute", Count: 1, Period: limit.Second}
	e := Explain([]policy.Part{{Spec: spec, Limiter: mute{quota{}}}, {Spec: spec, Limiter: quota{}}}, 10)
	if e[0].Means != "mute:1/1s" || len(e[0].Clients) > 0 || e[1].Means != "a quota" || e[1].Clients[0].Delayed != 2 {
		t.Errorf("%+v", e)
	}
}

// A clock is a made-up limiter that notes when it was asked.
type clock struct {
	quota
	asked *[]limit.Time
}

func (c clock) Wait(s *limit.State, t limit.Time) limit.Time {
	*c.asked = append(*c.asked, t)
	return c.quota.Wait(s, t)
}

// Limiters that count in windows or ticks since the epoch are not met at the beginning of one.
func TestExplainOffTheGrid(t *testing.T) {
	c := clock{asked: new([]limit.Time)}
	Explain([]policy.Part{{Spec: limit.Spec{Algorithm: "clock", Count: 4, Period: limit.Minute}, Limiter: c}}, 2)
	if first := (*c.asked)[0]; first != 20*limit.Second {
		t.Errorf("first asked at %v", first)
	}
}
