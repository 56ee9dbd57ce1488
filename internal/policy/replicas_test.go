package policy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shadow/internal/request"
	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

// replicable are the algorithms that may have replicas, with some options.
func replicable() (tests [][2]string) {
	tests = [][2]string{
		{"token", "debt,"},
		{"token", "cooldown=1500ms/extend,"},
		{"token", "clock=1s,cooldown=2s,"},
		{"token", "store=down:fixed,"},
		{"window", "charge=all,"},
		{"nginx", "burst=3,delay=1,"},
		{"nginx", "burst=3,nodelay,cooldown=2s,"},
	}
	for _, a := range Algorithms {
		if a.Name != "conn" && !strings.HasSuffix(a.Name, "~") {
			tests = append(tests, [2]string{a.Name, ""})
		}
	}
	return tests
}

// A limit with replicas does what so many limits do, each with the requests that it gets; with a cache, what one limit
// does that is told all requests before a line, and then those of its own.
func TestReplicas(t *testing.T) {
	for _, test := range replicable() {
		s := limittest.Suite{New: newLimiter, Draw: func(r *rand.Rand) limit.Spec {
			return drawReplicas(r, test[0], test[1], r.IntN(2) == 0)
		}}
		if test[0] == "nginx" || test[0] == "traefik" {
			s.ModelDelay = modelReplicas
		} else {
			s.Model = func(spec limit.Spec) limittest.Model {
				judge := modelReplicas(spec)
				return func(t limit.Time, blocked bool) bool { refused, _ := judge(t, blocked); return refused }
			}
		}
		t.Run(test[0]+":"+test[1], func(t *testing.T) { limittest.Run(t, s) })
	}
}

func drawReplicas(r *rand.Rand, algorithm, options string, cache bool) limit.Spec {
	s := limit.Spec{Algorithm: algorithm, Count: 1 + r.Int64N(4), Period: []limit.Time{limit.Second, limit.Minute}[r.IntN(2)]}
	how := []string{"", "/hash", "/turn", "/connection"}[r.IntN(4)]
	if s.Options = fmt.Sprintf("%sreplicas=%d%s", options, 2+r.IntN(3), how); cache {
		s.Options = fmt.Sprintf("cache=%s,%s", limit.FormatPeriod(1+limit.Time(r.Int64N(int64(s.Period)))), s.Options)
	}
	return s
}

// A past request is one that the model remembers. It judges from scratch, from the list of them.
type past struct {
	at      limit.Time
	line    int64 // how many cells of the grid had ended
	replica int
	refused bool
}

func modelReplicas(spec limit.Spec) limittest.DelayModel {
	rest, value, _ := CutOption(spec, "replicas")
	rest, cache, cached := CutOption(rest, "cache")
	cell, _ := limit.ParsePeriod(cache)
	inner, err := newLimiter(rest)
	if err != nil {
		panic(err)
	}
	number, how, _ := strings.Cut(value, "/")
	n, _ := strconv.Atoi(number)
	var all []past
	return func(t limit.Time, blocked bool) (refused bool, late limit.Time) {
		at := append(timesOf(all), t)
		t = slices.Max(at)
		at[len(all)] = t
		now := past{at: t, replica: dealtTo(how, n, at, inner.Horizon())}
		if cached {
			if now.line = int64(t / cell); t%cell < 0 {
				now.line--
			}
		}
		s := replay(inner, all, now, cached)
		defer s.Release()
		if refused = inner.Wait(&s, t) > 0; !refused {
			if d, ok := inner.(limit.Delayer); ok {
				late = d.Delay(&s, t)
			}
		}
		now.refused = refused || blocked
		all = append(all, now)
		return refused, late
	}
}

// replay returns what the replica of now remembers of all that was before.
func replay(l limit.Limiter, all []past, now past, cached bool) (s limit.State) {
	for _, p := range all {
		if cached && p.line < now.line {
			l.Charge(&s, p.at, p.refused || l.Wait(&s, p.at) > 0)
		}
	}
	for _, p := range all {
		if p.replica == now.replica && p.line == now.line {
			l.Charge(&s, p.at, p.refused)
		}
	}
	return s
}

func timesOf(all []past) (at []limit.Time) {
	for _, p := range all {
		at = append(at, p.at)
	}
	return at
}

// dealtTo is the replica that the last of these requests goes to.
func dealtTo(how string, n int, at []limit.Time, horizon limit.Time) int {
	turns, since, first := 0, 1, at[0]
	for i := 1; i < len(at); i++ {
		idle := at[i] - at[i-1]
		if how == "turn" || how == "connection" && idle >= 75*limit.Second {
			turns++
		}
		if since++; idle >= horizon {
			first, since = at[i], 1
		}
	}
	if how != "" {
		return turns % n
	}
	z := uint64(first) + uint64(since)*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return int((z ^ (z >> 31)) % uint64(n))
}

// Where all requests of a key go to one replica, the limit is what it is without.
func TestReplicasByHash(t *testing.T) {
	for _, test := range replicable() {
		for seed := range uint64(200) {
			r := testneeds.Rand(t, seed, 7)
			spec := drawReplicas(r, test[0], test[1], seed%2 == 0)
			rest, _ := CutOptions(spec, "replicas", "cache")
			_, cache := CutOptions(spec, "cache")
			spec.Options = strings.Trim(rest.Options+",replicas=3/hash,"+cache, ",")
			one, err := newLimiter(rest)
			if err != nil {
				t.Fatal(err)
			}
			several, err := newLimiter(spec)
			if err != nil {
				t.Fatal(err)
			}
			var at []limit.Time
			for now := limit.Time(r.Int64N(int64(limit.Day))); len(at) < 100; now += limit.Time(r.Int64N(int64(spec.Period))) >> r.IntN(9) {
				at = append(at, now)
			}
			got, want := several.Refuse(nil, new(limit.State), at), one.Refuse(nil, new(limit.State), at)
			if !slices.Equal(got, want) {
				t.Fatalf("%v refuses %v of %v, want %v", spec, got, at, want)
			}
		}
	}
}

// Chance deals evenly, and not in the same way to keys that come at other moments.
func TestReplicasByChance(t *testing.T) {
	l := cooled(t, "token:1/1s,replicas=4").(interface {
		pass(*limit.State, limit.Time) *limit.State
	})
	first := map[string]bool{}
	for key := range limit.Time(20) {
		var s limit.State
		var counts [4]int
		row := ""
		for i := range 4000 {
			part := l.pass(&s, key*limit.Second)
			for j := range s.Parts() {
				if s.Part(j) == part {
					if counts[j]++; i < 20 {
						row += strconv.Itoa(j)
					}
				}
			}
		}
		if first[row] || slices.Min(counts[:]) < 880 || slices.Max(counts[:]) > 1120 {
			t.Errorf("key %d: %v, begins with %s", key, counts, row)
		}
		first[row] = true
	}
}

// Requests with costs go to replicas as others do.
func TestReplicasWeigh(t *testing.T) {
	for _, algorithm := range []string{"token", "window", "fixed"} {
		t.Run(algorithm, func(t *testing.T) {
			limittest.RunWeighed(t, limittest.WeighedSuite{
				Draw: func(r *rand.Rand) limit.Spec {
					s := drawReplicas(r, algorithm, "", false)
					s.Options = fmt.Sprintf("replicas=%d/turn", 2+r.IntN(3))
					return s
				},
				New: newLimiter,
				Weigh: func(l limit.Limiter) (limit.Weigher, bool) {
					p := Part{Limiter: l}
					err := p.weigh(Costs{{Points: 2}})
					return p.Limiter.(limit.Weigher), err == nil
				},
				Model: modelWeighed,
				Holds: true, // the turn
			})
		})
	}
}

func modelWeighed(spec limit.Spec) limittest.WeighedModel {
	rest, value, _ := CutOption(spec, "replicas")
	p, err := New(rest, request.ByClient)
	if err == nil {
		err = p.Parts[0].weigh(Costs{{Points: 2}})
	}
	if err != nil {
		panic(err)
	}
	inner := p.Parts[0].Limiter.(limit.Weigher)
	states, i, latest := make([]limit.State, value[0]-'0'), 0, limit.Time(-1<<63)
	return func(t limit.Time, cost int64, blocked bool) bool {
		latest = max(latest, t)
		s, t := &states[i%len(states)], latest
		refused := inner.WaitFor(s, t, cost) > 0
		inner.ChargeFor(s, t, cost, refused || blocked)
		i++
		return refused
	}
}

// Bounds enclose what replicas decide wherever requests came in their spans, and deal as they do.
func TestReplicasBounds(t *testing.T) {
	apart := 0
	for seed := range uint64(1000) {
		r := testneeds.Rand(t, seed, 3)
		period := []limit.Time{limit.Second, limit.Minute}[r.IntN(2)]
		l := cooled(t, fmt.Sprintf("%s:%d/%s,replicas=%d%s", []string{"token", "window", "gcra"}[r.IntN(3)], 1+r.IntN(4),
			limit.FormatPeriod(period), 2+r.IntN(3), []string{"/turn", "/hash"}[r.IntN(2)]))
		var stamps, at []limit.Time
		for now := limit.Time(0); len(at) < 60; now += limit.Time(r.Int64N(int64(period))) >> r.IntN(9) {
			stamps, at = append(stamps, now/limit.Second*limit.Second), append(at, now)
		}
		low, high := limit.Bounds(l, limit.Second-1)
		least, most := len(low.Refuse(nil, new(limit.State), stamps)), len(high.Refuse(nil, new(limit.State), stamps))
		if n := len(l.Refuse(nil, new(limit.State), at)); n < least || n > most {
			t.Fatalf("seed %d: refuses %d, which is not between %d and %d", seed, n, least, most)
		}
		apart += most - least
	}
	if apart == 0 {
		t.Error("the bounds are one")
	}
	// By chance, keys begin again when they do so without bounds.
	l := cooled(t, "token:1/10s,replicas=50")
	low, high := limit.Bounds(l, limit.Minute)
	for _, b := range []limit.Limiter{low, high} {
		var s, other limit.State
		for i := range limit.Time(40) {
			at := i / 4 * 10 * limit.Second
			l.Charge(&s, at, false)
			if b.Charge(&other, at, false); s.Level != other.Level {
				t.Fatalf("request %d is not dealt as without bounds", i)
			}
		}
	}
}

// A refusal by another limit reaches a replica, and begins a cooldown there.
func TestReplicasBar(t *testing.T) {
	for text, want := range map[string]string{
		"token:1/10s,cooldown=30s,replicas=2/turn": ".x.", "token:1/10s,cooldown=30s,replicas=2/turn,cache=1s": "xx.",
	} {
		l := cooled(t, text).(limit.Barrer)
		var s limit.State
		l.Charge(&s, 0, false)
		l.Charge(&s, 0, false)
		l.Bar(&s, 0) // at the first replica, which is full
		got := ""
		for _, at := range []limit.Time{10 * limit.Second, 10 * limit.Second, 31 * limit.Second} { // at the second, the first, the second
			refused := l.Wait(&s, at) > 0
			l.Charge(&s, at, refused)
			got += map[bool]string{true: "x", false: "."}[refused]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The variants are the other ways; a limit that names one has none. What else the limit is, it stays.
func TestReplicasVariants(t *testing.T) {
	for text, delays := range map[string]bool{"nginx:10r/s,burst=5,replicas=3": true, "token:6/30s,replicas=3": false} {
		l := cooled(t, text)
		if _, ok := l.(limit.Delayer); ok != delays {
			t.Errorf("%s: delays %t", text, ok)
		}
		variants := l.(limit.Approximation).Variants()
		for i, name := range []string{"/hash", "/turn", "/connection"} {
			named := cooled(t, text+name)
			if _, ok := named.(limit.Approximation); ok {
				t.Errorf("%s%s is an approximation", text, name)
			}
			if _, ok := variants[i].(limit.Delayer); ok != delays {
				t.Errorf("%s: variant %d delays %t", text, i, ok)
			}
			got, want := variants[i].(limit.Describer), named.(limit.Describer)
			_, how, _ := strings.Cut(got.Semantics(), "3 replicas: ")
			if how == "" || !strings.HasSuffix(want.Semantics(), how) || got.Shape() != want.Shape() {
				t.Errorf("%s: variant %d is %s %v, want %s %v", text, i, got.Semantics(), got.Shape(), want.Semantics(), want.Shape())
			}
		}
	}
}

func TestReplicasDescribe(t *testing.T) {
	const chance = "each request goes to one by chance"
	for text, want := range map[string]struct {
		says  string
		shape limit.Shape
	}{
		"token:6/30s,replicas=3": {
			"3 replicas, each of which counts for itself: " + chance,
			limit.Shape{Count: 3, Period: 5 * limit.Second, AtOnce: 18, Unlike: "it is that of 3 replicas together"},
		},
		"token:6/30s,replicas=3,cache=1s": {
			"3 replicas with copies of one count, renewed every 1s: " + chance,
			limit.Shape{Count: 1, Period: 5 * limit.Second, AtOnce: 18, Unlike: "it is that of 3 replicas together"},
		},
		"token:6/30s,replicas=2/hash": {
			"2 replicas, each of which counts for itself: all requests of a key go to one",
			limit.Shape{Count: 1, Period: 5 * limit.Second, AtOnce: 6, Kin: true},
		},
	} {
		d := cooled(t, text).(limit.Describer)
		if got := d.Semantics(); got != "continuous token bucket: 6 at once, then one every 5s; a refused request costs nothing; "+want.says {
			t.Errorf("%s: %s", text, got)
		}
		if got := d.Shape(); got != want.shape {
			t.Errorf("%s: %+v, want %+v", text, got, want.shape)
		}
	}
	for text, want := range map[string]limit.Time{
		"token:6/30s,replicas=3": 30, "token:6/30s,replicas=3/connection": 30, "token:6/30s,replicas=3/hash": 30,
	} {
		if got := cooled(t, text).Horizon(); got != want*limit.Second {
			t.Errorf("%s: the horizon is %d µs", text, got)
		}
	}
	l := cooled(t, "token:6/30s,replicas=3")
	var s limit.State
	l.Refuse(nil, &s, make([]limit.Time, 7))
	if got := l.(limit.Leveler).Level(&s, 5*limit.Second); got != 4 {
		t.Errorf("7 requests count as %v after 5 s, want 4", got)
	}
	if _, err := l.(limit.Sharer).Sharing(); err == nil {
		t.Error("a script can stand in for replicas")
	}
}

// A drift is between the bounds of the limit.
func TestDrift(t *testing.T) {
	l, plain := cooled(t, "token:2/10s,cooldown=3s,drift=500ms"), cooled(t, "token:2/10s,cooldown=3s")
	low, high := limit.Bounds(plain, limit.Second/2)
	variants := l.(limit.Approximation).Variants()
	at := []limit.Time{0, 0, 4_600_000, 4_800_000, 7_700_000, 10_000_000, 15_000_000}
	for i, pair := range [][2]limit.Limiter{{l, plain}, {variants[0], low}, {variants[1], high}} {
		var a, b limit.State
		if got, want := pair[0].Refuse(nil, &a, at), pair[1].Refuse(nil, &b, at); !slices.Equal(got, want) || len(variants) != 2 {
			t.Errorf("%d: refuses %v, want %v", i, got, want)
		}
		left, _ := a.AppendBinary(nil)
		if want, _ := b.AppendBinary(nil); !bytes.Equal(left, want) {
			t.Errorf("%d: leaves %v, want %v", i, a, b)
		}
	}
	if _, err := l.(limit.Sharer).Sharing(); err == nil || !strings.Contains(err.Error(), "drift=") {
		t.Error(err)
	}
}

func TestOutage(t *testing.T) {
	at := []limit.Time{0, 0, 0, limit.Second, 31 * limit.Second}
	for text, want := range map[string][]int32{
		"token:1/30s,burst=9,store=down:open": nil, "token:1/30s,store=down:closed": {0, 1, 2, 3, 4}, "token:1/30s,burst=9,store=down:fixed": {1, 2, 3},
		"token:1/30s,store=down:fixed,replicas=2/turn": {2, 3},
	} {
		if got := cooled(t, text).Refuse(nil, new(limit.State), at); !slices.Equal(got, want) {
			t.Errorf("%s refuses %v, want %v", text, got, want)
		}
	}
}

func TestReplicasErrors(t *testing.T) {
	for text, want := range map[string]string{
		"6/30s,replicas=1":                                   `wants a number from 2 to 100, and perhaps how requests reach them: replicas=3, 3/hash, 3/turn or 3/connection, not "1"`,
		"6/30s,replicas=101":                                 "from 2 to 100",
		"6/30s,replicas=3/":                                  "from 2 to 100",
		"6/30s,replicas=3/chance":                            "from 2 to 100",
		"6/30s,replicas":                                     "from 2 to 100",
		"6/30s,replicas=99999999999999999999":                "from 2 to 100",
		"6/30s,replica=3":                                    `did you mean "replicas"`,
		"6/30s,cache=1s":                                     "replicas=3,cache=1s",
		"6/30s,cache=x,replicas=3":                           "cache wants a length of time",
		"6/30s,drift=50":                                     "drift wants a length of time",
		"6/30s,drift=50ms,replicas=3":                        "leave one of them out",
		"nginx:6r/s,drift=50ms":                              "delay nothing",
		"aws~:100/5m,replicas=3":                             "approximates (~)",
		"cloudflare~:100/1m,drift=1s":                        "approximates (~)",
		"conn:8,replicas=3":                                  "under way goes without replicas=3",
		"conn:8,store=down:open":                             "under way goes without store=down:open",
		"6/30s,store=down:up":                                `wants down:open, down:closed or down:fixed, not "down:up"`,
		"6/30s,burst=0,store=down:open":                      "burst",
		"laravel:6/30s,replicas=3,x=3":                       `unknown option "x"`,
		"6/30s,replicas=3+7/30s,replicas=3+8/30s,replicas=3": "at most two approximations (~), this one has 3; replicas and drift make one",
	} {
		if _, err := ParseLimits([]string{text}, request.ByClient); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"express-rate-limit:100/15m,replicas=3":             "fixed:100/15m,align=first,clock=1ms,replicas=3",
		"laravel:6/1m,store=down:open":                      "fixed:6/1m,align=first,clock=1s,store=down:open",
		"6/30s,replicas=03,cache=1000ms":                    "token:6/30s,cache=1s,replicas=3",
		"nginx:rate=10r/s burst=20 nodelay replicas=3/turn": "nginx:10r/s,burst=20,nodelay,replicas=3/turn",
	} {
		policies, err := ParseLimits([]string{text}, request.ByClient)
		if err != nil || len(policies) != 1 || policies[0].Parts[0].Spec.String() != want {
			t.Errorf("%s: %+v, %v, want %s", text, policies, err, want)
		}
	}
}

func BenchmarkReplicas(b *testing.B) {
	for _, options := range []string{"replicas=3", "replicas=3/turn", "replicas=3,cache=100ms"} {
		for _, text := range []string{"token:6/30s", "window:1000/30s", "nginx:10r/s,burst=20"} {
			limittest.Bench(b, newLimiter, text+","+options)
		}
	}
}
