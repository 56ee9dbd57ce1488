package bucket

import (
	"fmt"
	"slices"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

// constructors maps the algorithms of the family to their constructors.
var constructors = map[string]func(limit.Spec) (limit.Limiter, error){
	"token": NewToken, "gcra": NewGCRA, "envoy-local": NewEnvoyLocal, "traefik": NewTraefik,
	"vsthrottle": NewVsthrottle,
}

// build makes the limiter that spec names.
func build(spec limit.Spec) (limit.Limiter, error) {
	if construct := constructors[spec.Algorithm]; construct != nil {
		return construct(spec)
	}
	return nil, fmt.Errorf("no bucket is called %q", spec.Algorithm)
}

// must is the limiter that text names.
func must(t *testing.T, text string) limit.Limiter {
	t.Helper()
	spec, err := limit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestScripts(t *testing.T) { limittest.Scripts(t, build) }

func TestErrors(t *testing.T) {
	for _, text := range []string{
		"token:6/30s,burst=0", "token:6/30s,initial=7", "token:6/30s,burst=3,initial=4", "token:6/30s,drip=3s",
		"token:6/30s,burst=9223372036854775807", "token:9223372036854775807/1us", "token:9223372036854775806/52w",
		"token:6/30s,refill=steps", "token:6/30s,refill=step,debt", "token:6/30s,refill=step,debt=3", "token:6/30s,refill=step,burst=0",
		"token:6/30s,refill=step,initial=7", "token:6/30s,debt=0", "token:6/30s,debt=x", "token:6/30s,debt=9223372036854775807",
		"token:6/30s,debt=1844674407365", "token:9223372036854775807/1us,debt",
		"gcra:6/30s,initial=3", "gcra:1001/1us", "gcra:6/30s,burst=9223372036854775807", "gcra:6/30s,burst=9223372036854775806",
		"envoy-local:6/49ms", "envoy-local:6/50500us", "envoy-local:4294967296/s", "envoy-local:6/s,burst=4294967296", "envoy-local:6/s,burst=0",
		"traefik:6/s,burst=0", "traefik:6/s,delay=3", "traefik:9223372037/s", "traefik:6/s,burst=9223372036854775807",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := build(spec); err == nil {
			t.Errorf("%s is taken as %+v", text, l)
		}
	}
	for name, construct := range constructors {
		for _, spec := range []limit.Spec{{}, {Count: 1}, {Period: limit.Second}} {
			if _, err := construct(spec); err == nil {
				t.Errorf("%s: a count of %d in %d µs is taken", name, spec.Count, spec.Period)
			}
		}
	}
}

// Where the numbers just fit, the largest differences of time do not overflow.
func TestExtremes(t *testing.T) {
	for _, text := range []string{
		"token:100000000/24h", "token:6/30s,burst=1800000000000", "token:9000000000000000000/1us,burst=1", "token:1/2540400h",
		"token:6/30s,refill=step", "token:1/2540400h,refill=step", "token:9223372036854775807/1us,refill=step",
		"token:1/1us,burst=9223372036854775807,refill=step", "token:6/30s,debt", "token:1/2540400h,debt", "token:1/1us,debt",
		"token:6/30s,debt=1844674407364", "token:4000000000000000000/1us,burst=1,debt=1",
		"gcra:1000/1us", "gcra:1/2540400h", "gcra:1/1us,burst=9000000000000000", "envoy-local:1/106751d,burst=2", "envoy-local:4294967295/50ms",
		"envoy-local:1/50ms,burst=4294967295", "traefik:9223372036/1us", "traefik:9223372036/2540400h,burst=9", "traefik:1/2540400h", "traefik:1/s,burst=9000000000000",
	} {
		l := must(t, text)
		const first, last = -1 << 63, 1<<63 - 1
		at := []limit.Time{first, 0, last, first}
		if got := l.Refuse(nil, new(limit.State), at); len(got) > 1 {
			t.Errorf("%s refuses %v", text, got)
		}
		var s limit.State
		for _, at := range at {
			if w := l.Wait(&s, at); w < 0 {
				t.Errorf("%s: Wait at %d is %d", text, at, w)
			}
			l.Charge(&s, at, false)
		}
	}
}

// A key may be forgotten after the horizon and not a microsecond before: the requests before make a State of which a
// burst, and a request 50 ms after it, can tell one microsecond too early that it is not new.
func TestHorizonIsTight(t *testing.T) {
	for _, test := range []struct {
		limit  string
		before []limit.Time // milliseconds
		want   limit.Time   // microseconds
	}{
		{"token:6/30s", []limit.Time{0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"token:3/10us,burst=4", []limit.Time{0, 0, 0, 0}, 14},
		{"token:6/30s,refill=step", []limit.Time{0}, 30 * limit.Second},
		{"token:6/30s,refill=step,burst=20", []limit.Time{0}, 30 * limit.Second},
		{"token:6/30s,debt", []limit.Time{0, 0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"token:6/30s,debt,burst=9", []limit.Time{0, 0, 0, 0, 0, 0, 0, 0, 0}, 45 * limit.Second},
		{"token:6/30s,debt,burst=2", []limit.Time{0, 0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"token:6/30s,debt=1,burst=2", []limit.Time{0, 0, 0, 0}, 15 * limit.Second},
		{"token:6/30s,debt=1,burst=5", []limit.Time{0, 0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"token:6/30s,debt=1,burst=6", []limit.Time{0, 0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"gcra:6/30s", []limit.Time{0}, 5 * limit.Second},
		{"gcra:6/30s,burst=5", []limit.Time{0, 0, 0, 0, 0, 0}, 30 * limit.Second},
		{"envoy-local:6/30s", []limit.Time{0}, 30 * limit.Second},
		{"envoy-local:6/30s,burst=13", []limit.Time{30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000, 30000}, 90 * limit.Second},
		{"traefik:10/s,burst=15", []limit.Time{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50}, 1550 * limit.Millisecond},
		{"traefik:1/s,burst=2", []limit.Time{-500, -500, 0}, 2 * limit.Second},
		{"traefik:1/10s,burst=2", []limit.Time{0, 0}, 11 * limit.Second},
	} {
		l := must(t, test.limit)
		h := l.Horizon()
		if h != test.want {
			t.Errorf("%s: the horizon is %d µs, want %d", test.limit, h, test.want)
		}
		for i := range test.before {
			test.before[i] *= limit.Millisecond
		}
		for _, early := range []limit.Time{0, 1} {
			var s limit.State
			l.Refuse(nil, &s, test.before)
			later := make([]limit.Time, 41)
			for i := range later {
				later[i] = test.before[len(test.before)-1] + h - early
			}
			later[40] += 50 * limit.Millisecond
			same := slices.Equal(l.Refuse(nil, &s, later), l.Refuse(nil, new(limit.State), later))
			if same != (early == 0) {
				t.Errorf("%s: %d µs before the horizon, the same as new is %v", test.limit, early, same)
			}
		}
	}
	for _, text := range []string{"token:6/30s,initial=5", "token:6/30s,initial=5,refill=step", "token:6/30s,initial=5,debt"} {
		if h := must(t, text).Horizon(); h != limit.Never {
			t.Errorf("%s: the horizon is %d µs, want never", text, h)
		}
	}
}

// What limits say of themselves.
func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"token:6/30s,initial=2":                       "continuous token bucket: 6 at once, then one every 5s; a new key starts with 2; a refused request costs nothing",
		"token:60/60s,refill=step":                    "token bucket refilled in steps: 60 at once, then all again at the end of each 1m, counted from the request that opened the bucket, and again after 1m without one; a refused request costs nothing",
		"token:60/60s,burst=90,refill=step,initial=3": "token bucket refilled in steps: 90 at once, then all again at the end of each 1m, counted from the request that opened the bucket, and again after 1m without one; a new key starts with 3; a refused request costs nothing",
		"token:6/30s,debt":                            "token bucket with debt: 6 at once, then one every 5s; a refused request takes a token, too, until 30s pass without a request",
		"token:6/30s,debt=3,initial=0":                "token bucket with debt: 6 at once, then one every 5s; a new key starts with 0; a refused request takes a token, too, down to 3 below zero, until 30s pass without a request",
		"gcra:7/s,burst=5":                            "generic cell rate algorithm: 6 at once, then one every 1/500 of 71428571us; a refused request costs nothing",
		"gcra:60/m":                                   "generic cell rate algorithm: 1 at once, then one every 1s; a refused request costs nothing",
		"envoy-local:3/s":                             "token bucket refilled in steps: 3 at once, then all again at the end of each 1s, on the epoch's grid; a refused request costs nothing",
		"traefik:100/s,burst=50":                      "token bucket of Traefik: 50 at once, then one every 10ms, kept waiting for up to 5ms if need be; a refused request costs nothing; a key not seen for 2 s is forgotten; exact to a microsecond",
	} {
		if got := must(t, text).(limit.Describer).Semantics(); got != want {
			t.Errorf("%s means\n%s\nwant\n%s", text, got, want)
		}
	}
	for text, want := range map[string]limit.Shape{
		"token:6/30s,initial=2":           {Count: 1, Period: 5 * limit.Second, AtOnce: 6, Kin: true, Unlike: "new keys start full there"},
		"token:6/30s,burst=3,refill=step": {Count: 1, Period: 10 * limit.Second, AtOnce: 3, Step: 30 * limit.Second, Unlike: "it refills evenly, not 3 at once"},
		"token:6/30s,burst=9,debt":        {Count: 1, Period: 5 * limit.Second, AtOnce: 9, Unlike: "refused requests cost nothing there"},
		"gcra:6/30s,burst=5":              {Count: 1, Period: 5 * limit.Second, AtOnce: 6, Kin: true},
		"envoy-local:3/s":                 {Count: 3, Period: limit.Second, AtOnce: 3, Step: limit.Second, Unlike: "it refills evenly, not 3 at once"},
		"traefik:1/s": {
			Count: 1, Period: limit.Second, AtOnce: 1, Kin: true,
			Unlike: "it neither keeps a request waiting nor forgets a key after 2 s",
		},
	} {
		if got := must(t, text).(limit.Describer).Shape(); got != want {
			t.Errorf("%s: Shape = %+v, want %+v", text, got, want)
		}
	}
}

// How full a bucket is, in requests that count against the key.
func TestLevel(t *testing.T) {
	for _, test := range []struct {
		limit string
		at    limit.Time // seconds after eight requests at 0
		want  float64
	}{
		{"token:6/30s", 0, 6},
		{"token:6/30s", 7, 4.6},
		{"token:6/30s,refill=step", 29, 6},
		{"token:6/30s,refill=step", 30, 0},
		{"token:6/30s,debt", 0, 8},
		{"token:6/30s,debt", 29, 2.2},
		{"token:6/30s,debt", 30, 0},
		{"token:6/30s,debt=1", 0, 7},
		{"gcra:6/30s,burst=5", 7, 4.6},
		{"envoy-local:6/30s", 29, 6},
		{"envoy-local:6/30s", 30, 0},
		{"traefik:10/s,burst=2", 0, 2},
		{"traefik:2/10s,burst=6", 5, 5},
		{"traefik:2/10s,burst=6", 6, 0},
	} {
		l := must(t, test.limit)
		var s limit.State
		l.Refuse(nil, &s, make([]limit.Time, 8))
		if got := l.(limit.Leveler).Level(&s, test.at*limit.Second); got != test.want {
			t.Errorf("%s after %d s: level %v, want %v", test.limit, test.at, got, test.want)
		}
	}
	if got := must(t, "token:6/30s,initial=2").(limit.Leveler).Level(new(limit.State), 0); got != 4 {
		t.Errorf("a new key that starts with 2 of 6 has level %v, want 4", got)
	}
}

func BenchmarkBuckets(b *testing.B) {
	limittest.Bench(b, build, "token:6/30s", "token:10/1s,burst=20", "token:60/1m,refill=step", "token:6/30s,debt", "token:6/30s,debt=3",
		"gcra:60/1m,burst=5", "envoy-local:100/1s", "traefik:100/1s,burst=50", "traefik:6/1m,burst=5")
}
