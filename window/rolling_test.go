package window

import (
	"math/rand/v2"
	"slices"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var rollingSuite = limittest.Suite{Draw: draw, New: New, Model: model}

func TestRolling(t *testing.T) { limittest.Run(t, rollingSuite) }

func FuzzRolling(f *testing.F) { limittest.Fuzz(f, rollingSuite) }

func draw(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, limit.Millisecond, limit.Second, limit.Minute, limit.Day}
	return limit.Spec{Algorithm: "window", Count: 1 + r.Int64N(20), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
}

// model keeps every admitted request forever and counts those in (t−W, t].
func model(s limit.Spec) limittest.Model {
	var admitted []limit.Time
	last, seen := limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen {
			t = max(t, last)
		}
		last, seen = t, true
		inside := 0
		for _, a := range admitted {
			if a > t-s.Period {
				inside++
			}
		}
		refused := int64(inside) >= s.Count
		if !refused && !blocked {
			admitted = append(admitted, t)
		}
		return refused
	}
}

// A key costs about eight bytes for each request inside its window, a key with nothing inside nothing.
func TestRollingMemory(t *testing.T) {
	l, err := New(limit.Spec{Algorithm: "window", Count: 10_000, Period: limit.Day})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ requests, most int }{
		{1, 24}, {2, 32}, {3, 48}, {4, 48}, {10, 96}, {1000, 12288}, {10_000, 131_072}, {20_000, 131_072},
	} {
		var s limit.State
		l.Refuse(nil, &s, slices.Repeat([]limit.Time{limit.Hour}, test.requests))
		if got := s.Ring().Bytes(); got > test.most {
			t.Errorf("%d requests inside take %d bytes, want at most %d", test.requests, got, test.most)
		}
		l.Refuse(nil, &s, []limit.Time{25 * limit.Hour})
		if got := s.Ring().Bytes(); got > 48 {
			t.Errorf("%d requests that have run out and one inside take %d bytes, want at most 48", test.requests, got)
		}
		s.Release()
		if got := s.Ring().Bytes(); got != 0 {
			t.Errorf("a key that is forgotten takes %d bytes", got)
		}
	}
}

// The admitted requests of a smaller limit are among those of a larger one.
func TestRollingNests(t *testing.T) {
	r := testneeds.Rand(t, 5, 6)
	at := make([]limit.Time, 5000)
	for i := range at {
		at[i] = limit.Time(i)*limit.Second/4 + limit.Time(r.Int64N(250_000))
	}
	refused := []int32{}
	for count := int64(40); count > 0; count-- {
		l, err := New(limit.Spec{Algorithm: "window", Count: count, Period: 10 * limit.Second})
		if err != nil {
			t.Fatal(err)
		}
		now := l.Refuse(nil, new(limit.State), at)
		for _, i := range refused {
			if !slices.Contains(now, i) {
				t.Fatalf("%d admits request %d, which %d refuses", count, i, count+1)
			}
		}
		refused = now
	}
	if len(refused) == 0 {
		t.Error("nothing was refused")
	}
}

func TestNewRollingErrors(t *testing.T) {
	for _, text := range []string{"window:6/30s,burst=3", "window:268435457/24h"} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(spec); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if _, err := New(limit.Spec{}); err == nil {
		t.Error("the zero Spec is taken")
	}
}

// The largest differences of time do not overflow.
func TestRollingExtremes(t *testing.T) {
	const first, last = -1 << 63, 1<<63 - 1
	l, err := New(limit.Spec{Algorithm: "window", Count: 1, Period: limit.Never})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Refuse(nil, new(limit.State), []limit.Time{first, -2, -1, last, last}); !slices.Equal(got, []int32{1, 4}) {
		t.Errorf("refused %v, want [1 4]", got)
	}
}

// The level is the number of admitted requests inside, whether or not the ring still holds others.
func TestRollingLevel(t *testing.T) {
	l := must(t, "window:3/30s")
	var s limit.State
	l.Refuse(nil, &s, []limit.Time{0, limit.Second, 2 * limit.Second, 2 * limit.Second})
	for at, want := range map[limit.Time]float64{-limit.Second: 3, 2 * limit.Second: 3, 30*limit.Second - 1: 3, 30 * limit.Second: 2, limit.Minute: 0} {
		if got := l.(limit.Leveler).Level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
	if got := l.(limit.Leveler).Level(new(limit.State), 0); got != 0 {
		t.Errorf("a new key has level %v", got)
	}
}

func BenchmarkRolling(b *testing.B) {
	limittest.Bench(b, New, "window:6/30s", "window:100/1m", "window:10000/24h")
}
