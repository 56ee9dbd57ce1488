package window

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var fixedSuite = limittest.Suite{Draw: drawFixed, New: NewFixed, Model: modelFixed}

func TestFixed(t *testing.T) { limittest.Run(t, fixedSuite) }

func FuzzFixed(f *testing.F) { limittest.Fuzz(f, fixedSuite) }

func drawFixed(r *rand.Rand) limit.Spec {
	s := draw(r)
	s.Algorithm = "fixed"
	if r.IntN(2) == 0 {
		s.Options = "align=first"
	}
	return s
}

// modelFixed counts what was admitted since a window opened, for as long as it lasts.
func modelFixed(s limit.Spec) limittest.Model {
	var now, opened limit.Time
	seen, admitted := false, int64(0)
	return func(t limit.Time, blocked bool) bool {
		if seen {
			t = max(t, now)
		}
		now, seen = t, true
		ends := floor(opened, s.Period) + s.Period
		if s.Options == "align=first" {
			ends = opened + s.Period
		}
		if admitted > 0 && now >= ends {
			admitted = 0
		}
		refused := admitted == s.Count
		if !refused && !blocked {
			if admitted == 0 {
				opened = now
			}
			admitted++
		}
		return refused
	}
}

// floor is the largest multiple of step that is not after t.
func floor(t, step limit.Time) limit.Time {
	k := t / step
	if k*step > t {
		k--
	}
	return k * step
}

func TestNewFixedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"fixed:6/30s,align=last": "wants epoch or first",
		"fixed:6/30s,step=5s":    "fixed takes align=epoch|first",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewFixed(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %s", text, err, want)
		}
	}
	if _, err := NewFixed(limit.Spec{}); err == nil {
		t.Error("the zero Spec is taken")
	}
}

// The largest numbers and differences of time do not overflow.
func TestFixedExtremes(t *testing.T) {
	const least, most limit.Time = math.MinInt64, math.MaxInt64
	at := []limit.Time{least, least, -2, -1, 0, most - 1, most, most}
	for _, c := range []struct {
		period  limit.Time
		options string
		want    []int32
	}{
		{most, "", []int32{1, 3, 5, 7}},
		{most, "align=first", []int32{1, 2, 4, 6, 7}},
		{1, "", []int32{1, 7}},
		{1, "align=first", []int32{1, 7}},
	} {
		l, err := NewFixed(limit.Spec{Algorithm: "fixed", Count: 1, Period: c.period, Options: c.options})
		if err != nil {
			t.Fatal(err)
		}
		var s limit.State
		if got := l.Refuse(nil, &s, at); !slices.Equal(got, c.want) {
			t.Errorf("one in %d µs, %s: refused %v, want %v", c.period, c.options, got, c.want)
		}
		if w := l.Wait(&s, least); w < 0 {
			t.Errorf("one in %d µs, %s: waits %d", c.period, c.options, w)
		}
	}
}

func TestFixedDescribes(t *testing.T) {
	l := must(t, "fixed:60/m").(limit.Describer)
	if got, want := l.Semantics(), "fixed window on the epoch's grid: 60 in each 1m, so up to 120 within less than that; a refused request does not count"; got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
	want := limit.Shape{Count: 60, Period: limit.Minute, AtOnce: 60, Step: limit.Minute, Unlike: "it refills evenly, not as a whole when a window ends: never 120 at once"}
	if got := l.Shape(); got != want {
		t.Errorf("Shape = %+v, want %+v", got, want)
	}
}

func BenchmarkFixed(b *testing.B) {
	limittest.Bench(b, NewFixed, "fixed:6/30s", "fixed:60/1m", "fixed:60/1m,align=first")
}
