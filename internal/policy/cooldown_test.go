package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/limit"
	"shadow/limit/limittest"
)

// cooldownSuite has the cooldown on one algorithm with some options. All take ten a minute, and most less and a second.
func cooldownSuite(algorithm, options string) limittest.Suite {
	draw := func(r *rand.Rand) limit.Spec {
		s := limit.Spec{Algorithm: algorithm, Count: 1 + r.Int64N(8), Period: []limit.Time{limit.Second, limit.Minute}[r.IntN(2)]}
		if strings.HasSuffix(algorithm, "~") {
			s.Count, s.Period = s.Count+9, limit.Minute
		}
		length := limit.FormatPeriod(1 + limit.Time(r.Int64N(2*int64(s.Period))))
		s.Options = options + "cooldown=" + length + []string{"", "/extend"}[r.IntN(2)]
		return s
	}
	model := func(spec limit.Spec) limittest.Model {
		judge := modelCooldown(spec)
		return func(t limit.Time, blocked bool) bool { refused, _ := judge(t, blocked); return refused }
	}
	s := limittest.Suite{Draw: draw, New: newLimiter, Model: model, OwnClock: ownClock[algorithm]}
	if algorithm == "nginx" || algorithm == "traefik" {
		s.ModelDelay = modelCooldown
	}
	return s
}

// ownClock are the algorithms with a rule of their own for a time before the last one, or a clock of their own.
var ownClock = map[string]bool{"nginx": true, "fail2ban": true, "mod-evasive": true, "vsthrottle": true, "symfony-sliding": true}

func newLimiter(spec limit.Spec) (limit.Limiter, error) {
	p, err := New(spec, request.ByClient)
	return p.Parts[0].Limiter, err
}

// modelCooldown asks the limit, of which it keeps the State for itself.
func modelCooldown(spec limit.Spec) limittest.DelayModel {
	rest, value, _ := CutOption(spec, "cooldown")
	inner, err := newLimiter(rest)
	if err != nil {
		panic(err)
	}
	text, _, extend := strings.Cut(value, "/")
	length, _ := limit.ParsePeriod(text)
	var s limit.State
	var until, last limit.Time
	out, seen, ownClock := false, false, ownClock[spec.Algorithm]
	return func(t limit.Time, blocked bool) (refused bool, late limit.Time) {
		if last = max(last, t); !seen || ownClock {
			last, seen = t, true
		}
		if out = out && last < until; out {
			if extend {
				until = max(until, last+length)
			}
			return true, 0
		}
		if refused = inner.Wait(&s, t) > 0; refused {
			out, until = true, last+length
		} else if d, ok := inner.(limit.Delayer); ok {
			late = d.Delay(&s, t)
		}
		inner.Charge(&s, t, refused || blocked)
		return refused, late
	}
}

func TestCooldown(t *testing.T) {
	tests := [][2]string{
		{"token", "debt,"},
		{"token", "debt=1,"},
		{"token", "refill=step,"},
		{"token", "initial=1,"},
		{"nginx", "burst=3,delay=1,"},
		{"traefik", "burst=3,"},
		{"window", "charge=all,"},
		{"window", "step=500ms,"},
	}
	for _, a := range Algorithms {
		if a.Name != "conn" { // it takes no cooldown
			tests = append(tests, [2]string{a.Name, ""})
		}
	}
	for _, test := range tests {
		t.Run(test[0]+":"+test[1], func(t *testing.T) { limittest.Run(t, cooldownSuite(test[0], test[1])) })
	}
}

func TestCooldownScripts(t *testing.T) { limittest.Script(t, "testdata/cooldown.txt", newLimiter) }

// A bucket of 200 that gets 20 a second, starts with 100 and breaks the circuit for 30 s when it is empty.
func TestCircuitBreaker(t *testing.T) {
	l := cooled(t, "token:20/s,burst=200,initial=100,cooldown=30s")
	var s limit.State
	for _, c := range []struct {
		at                 float64 // seconds
		requests, admitted int
	}{
		{0, 100, 100},      // all that it starts with
		{1, 20, 20},        // what a second brings
		{1, 1, 0},          // empty: out until 31
		{30.999999, 50, 0}, // though there are 200 by now
		{31, 250, 200},     // free, and full; the 201st is out until 61
		{61, 150, 150},     // full again, 50 left
		{63.5, 100, 100},   // 50 and what two and a half seconds bring
		{63.5, 1, 0},       // out until 93.5
		{93.5, 1, 1},
	} {
		at := make([]limit.Time, c.requests)
		for i := range at {
			at[i] = limit.Time(c.at * 1e6)
		}
		if got := c.requests - len(l.Refuse(nil, &s, at)); got != c.admitted {
			t.Errorf("at %v s: %d of %d admitted, want %d", c.at, got, c.requests, c.admitted)
		}
	}
}

func cooled(t *testing.T, text string) limit.Limiter {
	t.Helper()
	spec, err := limit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLimiter(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A refusal by another limit starts no cooldown, and in a combination requests in a cooldown extend it.
func TestCooldownInCombination(t *testing.T) {
	l := cooled(t, "token:2/10s,cooldown=30s/extend")
	var s limit.State
	for i, c := range []struct {
		at      limit.Time // seconds
		blocked bool       // by another limit
		refused bool
	}{
		{0, true, false},
		{0, true, false},
		{0, true, false},
		{0, false, false},
		{0, false, false},
		{1, true, true},
		{20, true, true},
		{49, false, true},
		{79, false, false},
	} {
		at := c.at * limit.Second
		if got := l.Wait(&s, at) > 0; got != c.refused {
			t.Errorf("request %d at %d s: refused %v, want %v", i, c.at, got, c.refused)
		}
		l.Charge(&s, at, c.refused || c.blocked)
	}
}

// Of a refused request that the limit does not count, only the cooldown takes notice: where the limit has no room for
// it, it begins. Of a clock that steps back, too.
func TestCooldownBar(t *testing.T) {
	for text, end := range map[string]limit.Time{
		"token:2/10s,cooldown=30s": 33, "token:2/10s,cooldown=30s/extend": 50, "window:2/10s,cooldown=30s": 33, "haproxy:2/10s,cooldown=30s": 33,
	} {
		l := cooled(t, text).(limit.Barrer)
		var s limit.State
		bar := func(at limit.Time) { l.Bar(&s, at*limit.Second) }
		bar(0)
		l.Charge(&s, 2*limit.Second, false)
		bar(2)
		if l.Wait(&s, 3*limit.Second) > 0 {
			t.Errorf("%s: a refusal by another limit begins it", text)
		}
		l.Charge(&s, 3*limit.Second, false)
		bar(1) // which the limit takes for 3
		bar(20)
		if l.Wait(&s, end*limit.Second-1) == 0 || l.Wait(&s, end*limit.Second) > 0 {
			t.Errorf("%s: it does not end at %d s", text, end)
		}
		bar(end)
		l.Charge(&s, end*limit.Second, false)
		if l.Wait(&s, end*limit.Second) > 0 {
			t.Errorf("%s: what was refused has been charged", text)
		}
	}
}

// The text of the limit keeps the option, wherever it stands.
func TestCooldownText(t *testing.T) {
	for text, want := range map[string]string{
		"6/30s,cooldown=30s":                      "token:6/30s,cooldown=30s",
		"token:6/30s,cooldown=60s/extend,burst=9": "token:6/30s,burst=9,cooldown=1m/extend",
		"window:6/30s,cooldown=1d":                "window:6/30s,cooldown=24h",
	} {
		policies, err := ParseLimits([]string{text}, request.ByClient)
		if err != nil || len(policies) != 1 || policies[0].Name != want || policies[0].Parts[0].Spec.String() != want {
			t.Errorf("%s: %+v, %v, want %s", text, policies, err, want)
		}
	}
	for _, text := range []string{
		"cooldown", "cooldown=0s", "cooldown=5", "cooldown=s", "cooldown=.5s", "cooldown=30s/extends", "cooldown=30s/", "cooldown=/extend", "cooldown=30s/extend/extend",
	} {
		_, err := ParseLimits([]string{"6/30s," + text}, request.ByClient)
		if err == nil || !strings.Contains(err.Error(), "such as cooldown=30s or cooldown=30s/extend") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseLimits([]string{"6/30s,cooldown=30s,burst=0"}, request.ByClient); err == nil {
		t.Error("what the limit does not take is taken with a cooldown")
	}
}

func TestCooldownDescribes(t *testing.T) {
	d := cooled(t, "token:6/30s,cooldown=60s/extend").(limit.Describer)
	want := "continuous token bucket: 6 at once, then one every 5s; a refused request costs nothing; " +
		"after a refusal nothing is admitted for 1m, counted again from each request in that time"
	if got := d.Semantics(); got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
	shape := limit.Shape{Count: 1, Period: 5 * limit.Second, AtOnce: 6, Unlike: "there is no cooldown there"}
	if got := d.Shape(); got != shape {
		t.Errorf("Shape = %+v, want %+v", got, shape)
	}
	l := cooled(t, "token:6/30s,cooldown=60s")
	var s limit.State
	l.Refuse(nil, &s, make([]limit.Time, 7))
	if got := l.(limit.Leveler).Level(&s, 5*limit.Second); got != 5 {
		t.Errorf("the level of a parked key is %v, want 5", got)
	}
}

// The horizon is the longer one, and the largest differences of time do not overflow.
func TestCooldownExtremes(t *testing.T) {
	for text, want := range map[string]limit.Time{
		"token:6/30s,cooldown=29s": 30 * limit.Second, "token:6/30s,cooldown=31s": 31 * limit.Second, "6/30s,initial=1,cooldown=1s": limit.Never,
	} {
		if got := cooled(t, text).Horizon(); got != want {
			t.Errorf("%s: the horizon is %d µs, want %d", text, got, want)
		}
	}
	const first, last = -1 << 63, 1<<63 - 1
	for _, text := range []string{"token:1/1us,cooldown=2500000h", "token:1/1us,cooldown=2500000h/extend", "window:1/1us,cooldown=1us"} {
		l := cooled(t, text)
		var s limit.State
		l.Refuse(nil, &s, []limit.Time{first, first, 0, last, last, last, first})
		if w := l.Wait(&s, first); w < 0 {
			t.Errorf("%s: Wait = %d", text, w)
		}
	}
}

// An approximation stays one, and what it may be as well has the cooldown, too.
func TestCooldownOfApproximation(t *testing.T) {
	inner := cooled(t, "token:1/10s")
	l := cool(approximation{inner}, 30*limit.Second, false)
	a, ok := l.(limit.Approximation)
	if !ok || len(a.Variants()) != 1 {
		t.Fatalf("%T is no approximation", l)
	}
	for _, l := range append(a.Variants(), l) {
		if got := l.Refuse(nil, new(limit.State), []limit.Time{0, 1, 30 * limit.Second, 30*limit.Second + 1}); len(got) != 2 {
			t.Errorf("%T refuses %v", l, got)
		}
	}
}

type approximation struct{ limit.Limiter }

func (a approximation) Variants() []limit.Limiter { return []limit.Limiter{a.Limiter} }

func BenchmarkCooldown(b *testing.B) {
	for _, cooldown := range []string{"1s", "30s", "30s/extend"} {
		for _, text := range []string{"token:6/30s", "window:6/30s", "window:1000/30s", "nginx:10r/s,burst=20"} {
			limittest.Bench(b, newLimiter, fmt.Sprintf("%s,cooldown=%s", text, cooldown))
		}
	}
}
