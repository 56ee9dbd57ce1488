package suggest

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"shadow/internal/testneeds"
)

// Known values: the rule of three's neighbours, and tables of one-sided 95 % bounds.
func TestMostHitOfTables(t *testing.T) {
	for _, c := range []struct {
		clients, hit int64
		want         float64 // percent, rounded to as many digits as tables have
		digits       float64
	}{
		{10, 0, 25.89, 100},
		{20, 0, 13.91, 100},
		{30, 0, 9.50, 100},
		{100, 0, 2.95, 100},
		{300, 0, 0.994, 1000},
		{10, 1, 39.42, 100},
		{10, 5, 77.76, 100},
		{10, 9, 99.49, 100},
		{20, 3, 34.37, 100},
		{100, 10, 16.37, 100},
		{3113, 3, 0.25, 100},
		{2995, 0, 0.1, 1000},
		{0, 0, 100, 1},
		{1, 1, 100, 1},
		{7, 7, 100, 1},
	} {
		if got := MostHit(c.clients, c.hit); math.Round(got.Float()*c.digits)/c.digits != c.want {
			t.Errorf("%d of %d: at most %s, want %v%%", c.hit, c.clients, got, c.want)
		}
	}
}

// atMostExactly is P(X ≤ k), by the formula that textbooks have, at p in units of Percent.
func atMostExactly(n, k int64, p Percent) *big.Rat {
	power := func(x Percent, n int64) *big.Int {
		return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(n), nil)
	}
	sum := new(big.Int)
	for j := range k + 1 {
		term := new(big.Int).Binomial(n, j)
		sum.Add(sum, term.Mul(term.Mul(term, power(p, j)), power(whole-p, n-j)))
	}
	return new(big.Rat).SetFrac(sum, power(whole, n))
}

// The bound never understates: at it, so few are hit in at most 5 % of all samples. Two steps below they are in more.
func TestMostHitIsExact(t *testing.T) {
	five := big.NewRat(1, 20)
	testneeds.Rapid(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 400).Draw(rt, "clients")
		k := rapid.Int64Range(0, n-1).Draw(rt, "hit")
		p := MostHit(n, k)
		if p < whole && atMostExactly(n, k, p).Cmp(five) > 0 {
			rt.Fatalf("%d of %d: %s understates", k, n, p)
		}
		if atMostExactly(n, k, max(0, p-2)).Cmp(five) <= 0 {
			rt.Fatalf("%d of %d: %s is more than a millionth of a percent too high", k, n, p)
		}
	})
}

// The same for as many clients as there can be, with floating-point numbers of 300 bits in the place of fractions.
func TestMostHitOfMany(t *testing.T) {
	const bits = 300
	number := func(x int64) *big.Float { return new(big.Float).SetPrec(bits).SetInt64(x) }
	atMost := func(n, k int64, p Percent) *big.Float {
		share := number(int64(p))
		share.Quo(share, number(int64(whole)))
		rest := number(1)
		rest.Sub(rest, share)
		term, square := number(1), new(big.Float).Copy(rest)
		for left := n; left > 0; left >>= 1 {
			if left&1 == 1 {
				term.Mul(term, square)
			}
			square.Mul(square, square)
		}
		sum, odds := new(big.Float).Copy(term), share.Quo(share, rest)
		for j := int64(1); j <= k; j++ {
			term.Mul(term, odds)
			term.Mul(term, number(n-j+1))
			term.Quo(term, number(j))
			sum.Add(sum, term)
		}
		return sum
	}
	five := number(1)
	five.Quo(five, number(20))
	rng := testneeds.Rand(t, 16, 1)
	for range 40 {
		n := 1 + rng.Int64N(1<<(4+rng.IntN(28)))
		k := rng.Int64N(min(n, 1+rng.Int64N(10_000)))
		if p := MostHit(n, k); p < whole && atMost(n, k, p).Cmp(five) > 0 || atMost(n, k, max(0, p-2)).Cmp(five) <= 0 {
			t.Errorf("%d of %d: %s is wrong", k, n, p)
		}
	}
}

// More hits or fewer clients never show less.
func TestMostHitIsMonotone(t *testing.T) {
	testneeds.Rapid(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 1<<31-2).Draw(rt, "clients")
		k := rapid.Int64Range(0, min(n-1, 1<<20)).Draw(rt, "hit")
		p := MostHit(n, k)
		if more := MostHit(n, k+1); more < p {
			rt.Fatalf("%d of %d: at most %s, one more: %s", k, n, p, more)
		}
		if of := MostHit(n+1, k); of > p {
			rt.Fatalf("%d of %d: at most %s, of one more: %s", k, n, p, of)
		}
		if int64(p)*n < k*int64(whole) {
			rt.Fatalf("%d of %d: %s is less than was hit", k, n, p)
		}
	})
}

// With many hits of many clients it is the bound of the normal distribution.
func TestMostHitOfTheMost(t *testing.T) {
	p := MostHit(1<<31-1, 1<<30)
	if p < 50_001_774 || p > 50_001_776 { // 1/2 + 1.6449 · 1/2 · 2^−15.5, the normal distribution's
		t.Errorf("%s", p)
	}
}

// In at least 95 of 100 samples of any population the bound is true.
func TestMostHitCovers(t *testing.T) {
	rng := testneeds.Rand(t, 16, 2)
	const samples = 20_000
	holds := 0
	for range samples {
		n, share := 1+rng.Int64N(300), rng.Float64()
		hit := int64(0)
		for range n {
			if rng.Float64() < share {
				hit++
			}
		}
		if MostHit(n, hit).Float() >= 100*share {
			holds++
		}
	}
	if t.Logf("%d of %d", holds, samples); holds < samples*95/100 {
		t.Errorf("the bound holds in %d of %d samples", holds, samples)
	}
}

// A limit that hits none of 29 clients is sure enough to be deployed.
func TestSure(t *testing.T) {
	if MostHit(29, 0) > Sure || MostHit(28, 0) <= Sure {
		t.Errorf("of 28 at most %s are hit, of 29 %s", MostHit(28, 0), MostHit(29, 0))
	}
}

// Of several that were tried the bound is that of one, with so much less room to be wrong; of none it is that of one.
func TestMostHitOfSeveral(t *testing.T) {
	for tried, want := range map[int]Percent{0: MostHit(60, 1), 1: MostHit(60, 1), 3: mostHit(60, 1, 0.05/3)} {
		if got := MostHitOf(60, 1, tried); got != want {
			t.Errorf("of %d: %s, want %s", tried, got, want)
		}
	}
}
