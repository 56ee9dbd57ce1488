package leaky

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var leakySuite = limittest.Suite{Draw: draw, New: New, Model: model}

func TestLeaky(t *testing.T) { limittest.Run(t, leakySuite) }

func FuzzLeaky(f *testing.F) { limittest.Fuzz(f, leakySuite) }

// draw is a random leaky bucket, often one whose tick is a fraction of a microsecond.
func draw(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, 1, limit.Millisecond, limit.Second, limit.Minute, limit.Day}
	s := limit.Spec{Algorithm: "leaky", Count: 1 + r.Int64N(12), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
	if r.IntN(3) == 0 {
		s.Options = "drip=" + limit.FormatPeriod(limit.Time(1+r.Int64N(int64(s.Period))))
	}
	return s
}

// model counts drops and asks how many ticks have been, floor(t·N/P), in arithmetic of any size.
func model(s limit.Spec) limittest.Model {
	n, p := s.Count, int64(s.Period)
	if drip := s.Args().Duration("drip", 0); drip > 0 {
		n, p = 1, int64(drip)
	}
	ticks := func(t limit.Time) int64 {
		product := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(n))
		return product.Div(product, big.NewInt(p)).Int64() // Div rounds down for a positive divisor
	}
	drops, last, seen := int64(0), limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen && t > last {
			drops = max(0, drops-(ticks(t)-ticks(last)))
		}
		if !seen || t > last {
			last, seen = t, true
		}
		refused := drops >= s.Count
		if !refused && !blocked {
			drops++
		}
		return refused
	}
}

// After any pause the water is what arithmetic of any size says: drops less the ticks that have been, none below an
// empty bucket, minus the phase.
func TestSink(t *testing.T) {
	for seed := range uint64(20_000) {
		r := testneeds.Rand(t, seed, 4)
		spec := limit.Spec{Count: 1 + r.Int64N(1<<(1+r.IntN(30))), Period: limit.Time(1 + r.Int64N(1<<(1+r.IntN(30))))}
		limiter, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		l := limiter.(*Leaky)
		elapsed, from := r.Uint64()>>(2+r.IntN(62)), limit.Time(r.Uint64())>>2
		to := from + limit.Time(elapsed)
		drops := 1 + r.Int64N(spec.Count)

		before, _ := ticks(l, from)
		after, phase := ticks(l, to)
		left := new(big.Int).Sub(big.NewInt(drops), after.Sub(after, before))
		want := max(0, left.Int64())*l.drop - phase
		if !left.IsInt64() {
			want = -phase
		}
		if got := l.sink(drops*l.drop-l.phase(from), elapsed, to); got != want {
			t.Fatalf("seed %d: %v: %d drops at %d leave %d at %d, want %d", seed, spec, drops, from, got, to, want)
		}
	}
}

// ticks returns the number of ticks from the epoch to t, and the phase.
func ticks(l *Leaky, t limit.Time) (*big.Int, int64) {
	shares := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(l.drain))
	n, phase := shares.DivMod(shares, big.NewInt(l.drop), new(big.Int))
	return n, phase.Int64()
}

func TestNewErrors(t *testing.T) {
	for _, text := range []string{
		"leaky:6/30s,burst=3", "leaky:6/30s,drip=5", "leaky:9223372036854775807/1us", "leaky:9223372036854775806/52w",
		"leaky:4611686018427387904/1h,drip=2us",
	} {
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

// Where the numbers just fit, the largest differences of time do not overflow.
func TestLeakyExtremes(t *testing.T) {
	for _, text := range []string{
		"leaky:99999999/24h", "leaky:3000000000/1us", "leaky:1/2540400h", "leaky:9223372036854775805/1us,drip=1us", "leaky:999983/1s",
	} {
		spec, err := limit.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		l, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		const first, last = -1 << 63, 1<<63 - 1
		if got := l.Refuse(nil, new(limit.State), []limit.Time{first, 0, last, first}); len(got) > 1 {
			t.Errorf("%s refuses %v", text, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	l, err := New(limit.Spec{Algorithm: "leaky", Count: 6, Period: 30 * limit.Second, Options: "drip=30s"})
	if err != nil {
		t.Fatal(err)
	}
	d := l.(limit.Describer)
	if got, want := d.Semantics(), "leaky bucket: 6 at once, then one on each tick of 30s since the epoch; a refused request adds nothing"; got != want {
		t.Errorf("Semantics = %q, want %q", got, want)
	}
	if got := fmt.Sprint(d.Shape()); got == "" {
		t.Error("no Shape")
	}
}

// The level is the number of drops, which leak at once on a tick; asking for it changes nothing.
func TestLevel(t *testing.T) {
	l, err := New(limit.Spec{Algorithm: "leaky", Count: 6, Period: 30 * limit.Second})
	if err != nil {
		t.Fatal(err)
	}
	level := l.(limit.Leveler).Level
	var s limit.State
	if got := level(&s, 2*limit.Second); got != 0 {
		t.Errorf("a new key has level %v, want 0", got)
	}
	l.Refuse(nil, &s, []limit.Time{2 * limit.Second, 3 * limit.Second, 4 * limit.Second})
	for at, want := range map[limit.Time]float64{0: 3, 5*limit.Second - 1: 3, 5 * limit.Second: 2, 15 * limit.Second: 0, limit.Minute: 0} {
		if got := level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}

func BenchmarkLeaky(b *testing.B) {
	limittest.Bench(b, New, "leaky:6/30s", "leaky:7/1s", "leaky:10/1s")
}
