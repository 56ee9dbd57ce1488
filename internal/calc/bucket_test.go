package calc

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

func mustRate(t *testing.T, text string) Rate {
	t.Helper()
	r, err := ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b)) }

// 5,000 tokens, 100 a second, 2,500 at first: the bucket is full after 25 s, and over 300 s it gives 5,000/300 more
// than it refills from full, 2,500/300 more from its first filling.
func TestKnownFigures(t *testing.T) {
	b := Bucket{Capacity: 5000, Initial: 2500, Refill: mustRate(t, "100/s"), Window: 300 * limit.Second}
	f, err := b.Calc(301)
	if err != nil {
		t.Fatal(err)
	}
	if !near(f.SecondsToFull, 25) || !near(f.EffectiveFromFull, 116.6666667) || !near(f.EffectiveFromInitial, 108.3333333) ||
		!near(f.Sustainable, 100) || !near(f.LeftWithout, 5000) || f.Left != 5000 || f.Limit != "token:100/1s,burst=5000,initial=2500" {
		t.Errorf("%+v", f)
	}
	for second, tokens := range f.Tokens {
		if want := min(5000, 2500+100*float64(second)); tokens != want {
			t.Errorf("after %d s the bucket holds %v, want %v", second, tokens, want)
		}
	}
}

// Four sizes of a service, over 400 s.
func TestEffectiveRates(t *testing.T) {
	for _, c := range []struct {
		capacity int64
		refill   string
		want     float64
	}{{1000, "10", 12.5}, {5000, "50", 62.5}, {20000, "200", 250}, {100000, "1000", 1250}} {
		b := Bucket{Capacity: c.capacity, Initial: c.capacity, Refill: mustRate(t, c.refill), Window: 400 * limit.Second}
		b.Pattern = Pattern{kind: constant, rate: Rate{10 * b.Refill.Count, limit.Second}}
		f, err := b.Calc(2)
		if err != nil {
			t.Fatal(err)
		}
		if !near(f.EffectiveFromFull, c.want) || f.SecondsToFull != 0 {
			t.Errorf("%d at %s: %+v", c.capacity, c.refill, f)
		}
		// A client that wants ten times as much gets it: but for what flows in after its last request.
		if got := float64(f.Admitted) / 400; math.Abs(got-c.want) > 0.01 {
			t.Errorf("%d at %s: %v a second were admitted, want %v", c.capacity, c.refill, got, c.want)
		}
	}
}

// modelBucket counts tokens in fractions, request by request: the definition of a token bucket.
type modelBucket struct {
	capacity, tokens, refill *big.Rat // refill: per microsecond
	at                       limit.Time
}

func (m *modelBucket) pass(t limit.Time) {
	m.tokens.Add(m.tokens, new(big.Rat).Mul(m.refill, big.NewRat(int64(t-m.at), 1)))
	if m.tokens.Cmp(m.capacity) > 0 {
		m.tokens.Set(m.capacity)
	}
	m.at = t
}

func (m *modelBucket) take() bool {
	if m.tokens.Cmp(big.NewRat(1, 1)) < 0 {
		return false
	}
	m.tokens.Sub(m.tokens, big.NewRat(1, 1))
	return true
}

// The simulation agrees with the slow bucket, at the end and in each column.
func TestCalcAgreesWithFractions(t *testing.T) {
	const moments = 8
	for seed := range uint64(400) {
		r := testneeds.Rand(t, seed, 3)
		b := drawBucket(r)
		got, err := b.Calc(moments)
		if err != nil {
			t.Fatal(err)
		}
		m := &modelBucket{capacity: big.NewRat(b.Capacity, 1), tokens: big.NewRat(b.Initial, 1), refill: big.NewRat(b.Refill.Count, int64(b.Refill.Per))}
		var admitted, refused int64
		fewest := big.NewRat(math.MaxInt64, 1)
		var columns []float64
		column := func(until limit.Time) {
			for len(columns) < moments {
				at := limit.Time(mulDivUp(int64(b.Window), int64(len(columns)), moments-1))
				if at >= until {
					return
				}
				m.pass(at)
				if fewest.Cmp(m.tokens) > 0 {
					fewest.Set(m.tokens)
				}
				f, _ := fewest.Float64()
				columns = append(columns, f)
				fewest.SetInt64(math.MaxInt64)
			}
		}
		for at := range b.Pattern.Moments(b.Window, b.Seed) {
			column(at)
			m.pass(at)
			if m.take() {
				admitted++
			} else {
				refused++
			}
			if fewest.Cmp(m.tokens) > 0 {
				fewest.Set(m.tokens)
			}
		}
		column(math.MaxInt64)
		left, _ := m.tokens.Float64()
		if got.Admitted != admitted || got.Refused != refused || got.Requests != admitted+refused || !near(got.Left, left) {
			t.Fatalf("seed %d, %+v: %+v, want %d admitted, %d refused, %v left", seed, b, got, admitted, refused, left)
		}
		for i, want := range columns {
			if !near(got.Tokens[i], want) {
				t.Fatalf("seed %d, %+v: column %d of %v, want %v", seed, b, i, got.Tokens, want)
			}
		}
		closed(t, b, got)
	}
}

func drawBucket(r *rand.Rand) Bucket {
	b := Bucket{Capacity: 1 + r.Int64N(20), Seed: r.Uint64(), Window: limit.Time(1+r.IntN(30))*limit.Second + limit.Time(r.IntN(1000))}
	b.Initial = r.Int64N(b.Capacity + 1)
	b.Refill = Rate{1 + r.Int64N(9), limit.Time(1+r.IntN(3)) * limit.Second}
	rate := Rate{1 + r.Int64N(15), limit.Time(1+r.IntN(3)) * limit.Second}
	b.Pattern = []Pattern{
		{}, {kind: constant, rate: rate}, {kind: random, rate: rate}, {kind: burst, size: 1 + r.Int64N(30), every: limit.Time(1+r.IntN(7)) * limit.Second / 2},
	}[r.IntN(4)]
	return b
}

// closed holds the figures against their formulas in fractions, and the simulation against them.
func closed(t *testing.T, b Bucket, f Figures) {
	t.Helper()
	rat := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	refill := new(big.Rat).Mul(big.NewRat(b.Refill.Count, int64(b.Refill.Per)), rat(1_000_000))
	window := big.NewRat(int64(b.Window), 1_000_000)
	full := new(big.Rat).Quo(rat(b.Capacity-b.Initial), refill)
	left := new(big.Rat).Add(rat(b.Initial), new(big.Rat).Mul(refill, window))
	if left.Cmp(rat(b.Capacity)) > 0 {
		left.SetInt64(b.Capacity)
	}
	fromFull := new(big.Rat).Add(refill, new(big.Rat).Quo(rat(b.Capacity), window))
	fromInitial := new(big.Rat).Add(refill, new(big.Rat).Quo(rat(b.Initial), window))
	for name, c := range map[string]struct {
		got  float64
		want *big.Rat
	}{
		"sustainable": {f.Sustainable, refill}, "full": {f.SecondsToFull, full}, "left": {f.LeftWithout, left},
		"from full": {f.EffectiveFromFull, fromFull}, "from initial": {f.EffectiveFromInitial, fromInitial},
	} {
		if want, _ := c.want.Float64(); !near(c.got, want) {
			t.Fatalf("%+v: %s is %v, want %v", b, name, c.got, want)
		}
	}
	if f.Requests == 0 && !near(f.Left, f.LeftWithout) {
		t.Fatalf("%+v: the simulation leaves %v, want %v", b, f.Left, f.LeftWithout)
	}
	if most := f.EffectiveFromInitial * f.WindowSeconds; float64(f.Admitted) > most+1e-6 {
		t.Fatalf("%+v: %d were admitted, more than %v", b, f.Admitted, most)
	}
}

// What a bucket of two or more sustains, it sustains: nothing of a steady client at that rate is refused.
func TestSustainable(t *testing.T) {
	for seed := range uint64(200) {
		r := testneeds.Rand(t, seed, 9)
		rate := Rate{1 + r.Int64N(1000), limit.Time(1+r.IntN(100)) * limit.Second / 10}
		b := Bucket{Capacity: 2 + r.Int64N(5), Refill: rate, Window: 5 * limit.Second, Pattern: Pattern{kind: constant, rate: rate}}
		b.Initial = b.Capacity
		f, err := b.Calc(2)
		if err != nil {
			t.Fatal(err)
		}
		if f.Refused > 0 {
			t.Errorf("%+v: %d of %d refused", b, f.Refused, f.Requests)
		}
	}
}

func TestCalcErrors(t *testing.T) {
	second := Rate{1, limit.Second}
	for _, b := range []Bucket{
		{Capacity: 10, Initial: 11, Refill: second, Window: limit.Second},
		{Capacity: 0, Refill: second, Window: limit.Second},
		{Capacity: 10, Window: limit.Second},
		{Capacity: math.MaxInt64, Refill: second, Window: limit.Second},
		{Capacity: 10, Refill: second, Window: limit.Day, Pattern: Pattern{kind: constant, rate: Rate{1000, limit.Second}}},
	} {
		if f, err := b.Calc(2); err == nil {
			t.Errorf("%+v is taken: %+v", b, f)
		}
	}
}

func ExampleBucket_Calc() {
	b := Bucket{Capacity: 200, Initial: 100, Refill: Rate{20, limit.Second}, Window: limit.Minute, Pattern: Pattern{kind: burst, size: 150, every: 5 * limit.Second}}
	f, _ := b.Calc(2)
	fmt.Printf("%.0f s to full, %d of %d admitted, %v tokens left\n", f.SecondsToFull, f.Admitted, f.Requests, f.Left)
	// Output: 5 s to full, 1200 of 1800 admitted, 100 tokens left
}
