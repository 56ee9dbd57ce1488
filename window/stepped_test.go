package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var steppedSuite = limittest.Suite{Draw: drawStepped, New: New, Model: modelStepped}

func TestStepped(t *testing.T) { limittest.Run(t, steppedSuite) }

func FuzzStepped(f *testing.F) { limittest.Fuzz(f, steppedSuite) }

// drawStepped is a random stepped window, often one whose steps are a few microseconds long.
func drawStepped(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, 1, limit.Millisecond, limit.Second, limit.Hour}
	step := units[r.IntN(len(units))] * limit.Time(1+r.IntN(5))
	options := []string{fmt.Sprintf("step=%dus", step)}
	if r.IntN(2) == 0 {
		options = append(options, fmt.Sprintf("max=%d", 1+r.IntN(8)))
	}
	if r.IntN(3) == 0 {
		options = append(options, "charge=all")
	}
	return limit.Spec{
		Algorithm: "window", Count: 1 + r.Int64N(15), Period: step * limit.Time(1+r.IntN(12)), Options: strings.Join(options, ","),
	}
}

// modelStepped keeps every request that counts forever.
func modelStepped(s limit.Spec) limittest.Model {
	args := s.Args()
	step, most := args.Duration("step", 0), args.Int("max", s.Count)
	all := strings.Contains(s.Options, "charge=all")
	var counted []limit.Time
	now, seen := limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen {
			t = max(t, now)
		}
		now, seen = t, true
		begun := floor(now, step)
		before, present := int64(0), int64(0)
		for _, a := range counted {
			switch {
			case a >= begun:
				present++
			case a >= begun-(s.Period-step):
				before++
			}
		}
		refused := min(s.Count-before, most)-present <= 0
		if !refused && !blocked || all {
			counted = append(counted, now)
		}
		return refused
	}
}

// Ten thousand per rolling day, recalculated hourly: a client that uses it up in one hour waits for the same hour of
// the next day, and gets it as a whole. Capped at 1,000 an hour, ten hours use it up.
func TestSteppedQuota(t *testing.T) {
	hour := func(h, n int) []limit.Time {
		return slices.Repeat([]limit.Time{limit.Time(h)*limit.Hour + limit.Minute}, n)
	}
	for _, test := range []struct {
		text string
		want map[int]int // the hour, and how many of 12,000 requests are admitted; none in the hours between
	}{
		{"window:10000/24h,step=1h", map[int]int{0: 10_000, 24: 10_000, 48: 10_000}},
		{"window:10000/24h,step=1h,max=1000", map[int]int{
			0: 1000, 1: 1000, 2: 1000, 3: 1000, 4: 1000, 5: 1000, 6: 1000, 7: 1000, 8: 1000, 9: 1000,
			24: 1000, 25: 1000, 26: 1000, 27: 1000, 28: 1000, 29: 1000, 30: 1000, 31: 1000, 32: 1000, 33: 1000, 48: 1000,
		}},
	} {
		var s limit.State
		l := must(t, test.text)
		for h := range 49 {
			refused := l.Refuse(nil, &s, hour(h, 12_000))
			if got := 12_000 - len(refused); got != test.want[h] {
				t.Errorf("%s: %d admitted in hour %d, want %d", test.text, got, h, test.want[h])
			}
		}
		if got := s.Ring().Bytes(); got > 256 {
			t.Errorf("%s: a key takes %d bytes, want no more than 24 steps need", test.text, got)
		}
	}
}

// On the grid, no window admits more than Q; off it, one admits Q + M.
func TestSteppedBound(t *testing.T) {
	l := must(t, "window:10/6s,step=1s,max=4")
	late, next := 2*limit.Second-1, 7*limit.Second
	at := slices.Concat(slices.Repeat([]limit.Time{late}, 4), slices.Repeat([]limit.Time{3 * limit.Second}, 4),
		slices.Repeat([]limit.Time{4 * limit.Second}, 4), slices.Repeat([]limit.Time{next}, 5))
	refused := l.Refuse(nil, new(limit.State), at)
	if want := []int32{10, 11, 16}; !slices.Equal(refused, want) {
		t.Fatalf("refused %v, want %v", refused, want)
	}
	if got := len(at) - len(refused); got != 14 || next-late >= 6*limit.Second {
		t.Errorf("%d admitted in %d µs, want 14 in less than 6 s", got, next-late)
	}
}

func TestSteppedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"window:6/30s,step=7s":             "cannot be cut into steps of 7s",
		"window:6/30s,step=1m":             "cannot be cut into steps of 1m",
		"window:6/24h,step=50s":            "at most 1440 steps, not 1728; want a step of 1m or longer",
		"window:6/30s,step=1s,max=0":       "max=0 would admit nothing",
		"window:6/30s,max=3":               "write step=PERIOD with it",
		"window:6/30s,charge=none":         "wants admitted or all",
		"window:6/30s,step=30s,max=3,x":    "window takes charge=admitted|all, max=N, step=PERIOD",
		"window:268435457/24h":             "has room for",
		"window:268435457/24h,charge=all":  "has room for",
		"window:6/30s,step=0.0000001s":     "wants a length of time",
		"window:6/30s,step=1s,align=first": "unknown option",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	must(t, "window:268435457/24h,step=1m") // which remembers steps, not requests
}

// The largest numbers and differences of time do not overflow, and what is kept can be encoded.
func TestSteppedExtremes(t *testing.T) {
	const least, most limit.Time = math.MinInt64, math.MaxInt64
	for _, period := range []limit.Time{2, 1000, 1 << 61, most - 1} {
		for _, step := range []limit.Time{period, period / 2} {
			l, err := New(limit.Spec{Algorithm: "window", Count: 2, Period: period, Options: fmt.Sprintf("step=%dus", step)})
			if err != nil {
				continue // 1/2 of an odd number
			}
			var s limit.State
			for _, at := range []limit.Time{least, least, least, least + 1, -step, -1, 0, 1, step, most - 1, most, most, most, least} {
				w := l.Wait(&s, at)
				l.Charge(&s, at, w > 0)
				text, _ := s.AppendBinary(nil)
				if _, _, err := limit.DecodeState(text); err != nil || w < 0 || s.Level < 0 || s.Level > 2 || s.Extra < 1 {
					t.Errorf("2 in %d µs, step %d: waits %d at %d, %+v, %v", period, step, w, at, s, err)
				}
			}
		}
	}
}

func TestSteppedDescribes(t *testing.T) {
	for text, want := range map[string]string{
		"window:100/24h,step=1h":            "window recalculated every 1h: then 100 less what was admitted in the last 23h; it can admit 200 in some span of 24h; a refused request does not count",
		"window:100/24h,step=1h,max=10":     "window recalculated every 1h: then 100 less what was admitted in the last 23h, at most 10; it can admit 110 in some span of 24h; a refused request does not count",
		"window:100/1h,step=1h,charge=all":  "window recalculated every 1h: then 100; it can admit 200 in some span of 1h; a refused request counts as well",
		"window:100/2h,step=1h,charge=all":  "window recalculated every 1h: then 100 less the requests of the last 1h; it can admit 200 in some span of 2h; a refused request counts as well",
		"window:100/2h,step=1h,max=1000000": "window recalculated every 1h: then 100 less what was admitted in the last 1h; it can admit 200 in some span of 2h; a refused request does not count",
	} {
		if got := must(t, text).(limit.Describer).Semantics(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	want := limit.Shape{Count: 100, Period: limit.Day, AtOnce: 10, Unlike: "it refills evenly, not every 1h with what has run out"}
	if got := must(t, "window:100/24h,step=1h,max=10").(limit.Describer).Shape(); got != want {
		t.Errorf("Shape = %+v, want %+v", got, want)
	}
}

// The level is what counts in the present step.
func TestSteppedLevel(t *testing.T) {
	l := must(t, "window:5/3s,step=1s")
	var s limit.State
	l.Refuse(nil, &s, []limit.Time{0, 0, limit.Second, limit.Second})
	for at, want := range map[limit.Time]float64{0: 4, limit.Second: 4, 2 * limit.Second: 4, 3 * limit.Second: 2, 4 * limit.Second: 0} {
		if got := l.(limit.Leveler).Level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}

func BenchmarkStepped(b *testing.B) {
	limittest.Bench(b, New, "window:10000/24h,step=1h", "window:10000/24h,step=1h,max=1000", "window:60/1m,step=1s")
}
