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

var counterSuite = limittest.Suite{Draw: drawCounter, New: NewCounter, Model: modelCounter}

func TestCounter(t *testing.T) { limittest.Run(t, counterSuite) }

func FuzzCounter(f *testing.F) { limittest.Fuzz(f, counterSuite) }

func drawCounter(r *rand.Rand) limit.Spec {
	s := draw(r)
	s.Algorithm = "counter"
	s.Options = []string{
		"", "charge=all", "round=nearest", "charge=all,round=nearest", "round=down", "charge=all,round=down",
	}[r.IntN(6)]
	return s
}

// modelCounter keeps every request that counts forever. Its numbers are small enough not to overflow.
func modelCounter(s limit.Spec) limittest.Model { return modelShifted(s, 0) }

// modelShifted is the model of a counter whose windows begin at a phase.
func modelShifted(s limit.Spec, phase limit.Time) limittest.Model {
	var counted []limit.Time
	now, seen := limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen {
			t = max(t, now)
		}
		now, seen = t, true
		begun := floor(now-phase, s.Period) + phase
		current, previous := int64(0), int64(0)
		for _, a := range counted {
			switch {
			case a >= begun:
				current++
			case a >= begun-s.Period:
				previous++
			}
		}
		length := int64(s.Period)
		estimate := previous*int64(begun+s.Period-now) + current*length // in W-ths of a request
		refused := estimate+length > s.Count*length
		if strings.Contains(s.Options, "round=nearest") {
			refused = (2*estimate+length)/(2*length)+1 > s.Count
		}
		if strings.Contains(s.Options, "round=down") {
			refused = estimate/length+1 > s.Count
		}
		if !refused && !blocked || strings.HasPrefix(s.Options, "charge=all") {
			counted = append(counted, now)
		}
		return refused
	}
}

func TestNewCounterErrors(t *testing.T) {
	spec, err := limit.Parse("counter:6/30s,max=3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewCounter(spec); err == nil || !strings.HasSuffix(err.Error(), "counter takes charge=admitted|all, round=no|nearest|down, and "+limit.Common) {
		t.Error(err)
	}
	if _, err := NewCounter(limit.Spec{}); err == nil {
		t.Error("the zero Spec is taken")
	}
}

// The largest counts, periods and differences of time do not overflow.
func TestCounterExtremes(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	l, err := NewCounter(limit.Spec{Algorithm: "counter", Count: most, Period: most})
	if err != nil {
		t.Fatal(err)
	}
	// Room for r more requests, r < 2⁶³−2, is there as soon as r microseconds of a previous window with 2⁶³−2 are
	// covered.
	const half = 1 << 62
	for _, c := range []struct {
		at      limit.Time
		current int64
		want    limit.Time
	}{
		{half + 1, half, 0}, {half, half, 1}, {half - 1, half, 2}, {most - 1, most - 2, 0}, {most - 2, most - 2, 1},
	} {
		s := limit.State{At: c.at, Level: c.current, Extra: most} // most − 1 in the previous window
		if got := l.Wait(&s, c.at); got != c.want {
			t.Errorf("%+v: waits %d", c, got)
		}
	}
	one, err := NewCounter(limit.Spec{Algorithm: "counter", Count: 1, Period: most})
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Refuse(nil, new(limit.State), []limit.Time{least, least, -2, -1, 0, most - 1, most, most}); !slices.Equal(got, []int32{1, 2, 3, 5, 6, 7}) {
		t.Errorf("refused %v", got)
	}
}

func TestCounterDescribes(t *testing.T) {
	l := must(t, "counter:60/m,charge=all").(limit.Describer)
	if got, want := l.Semantics(), "sliding counter: at most 60 in the last 1m, as estimated from this window and a share of the one before; a refused request counts as well"; got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
	want := limit.Shape{Count: 60, Period: limit.Minute, AtOnce: 60, Step: limit.Minute, Unlike: "refused requests cost nothing there"}
	if got := l.Shape(); got != want {
		t.Errorf("Shape = %+v, want %+v", got, want)
	}
}

// The level is the estimate.
func TestCounterLevel(t *testing.T) {
	l := must(t, "counter:6/30s")
	var s limit.State
	l.Refuse(nil, &s, []limit.Time{0, 0, 29 * limit.Second, 29 * limit.Second})
	for at, want := range map[limit.Time]float64{0: 4, 30 * limit.Second: 4, 45 * limit.Second: 2, 60 * limit.Second: 0} {
		if got := l.(limit.Leveler).Level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}

func BenchmarkCounter(b *testing.B) {
	limittest.Bench(b, NewCounter, "counter:6/30s", "counter:60/1m", "counter:10000/24h", "counter:60/1m,charge=all")
}
