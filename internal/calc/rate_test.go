package calc

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]struct {
		rate      Rate
		text      string
		perSecond float64
	}{
		"100":        {Rate{100, limit.Second}, "100/s", 100},
		"100/s":      {Rate{100, limit.Second}, "100/s", 100},
		"30/m":       {Rate{30, limit.Minute}, "30/m", 0.5},
		"0.5/s":      {Rate{1, 2 * limit.Second}, "1/2s", 0.5},
		"0.5":        {Rate{1, 2 * limit.Second}, "1/2s", 0.5},
		"2.50/10s":   {Rate{5, 20 * limit.Second}, "5/20s", 0.25},
		"5/20s":      {Rate{5, 20 * limit.Second}, "5/20s", 0.25},
		"1/1d":       {Rate{1, limit.Day}, "1/24h", 1.0 / 86400},
		"0.001/10ms": {Rate{1, 10 * limit.Second}, "1/10s", 0.1},
		"1./s":       {Rate{1, limit.Second}, "1/s", 1},
		"7/11ms":     {Rate{7, 11 * limit.Millisecond}, "7/11ms", 7 / 0.011},
	} {
		got, err := ParseRate(text)
		if err != nil || got != want.rate || got.String() != want.text || math.Abs(got.PerSecond()/want.perSecond-1) > 1e-12 {
			t.Errorf("%s is %+v (%s, %v per second), %v", text, got, got, got.PerSecond(), err)
		}
		if again, err := ParseRate(got.String()); err != nil || again != got {
			t.Errorf("%s is read as %+v, %v", got, again, err)
		}
	}
}

func TestParseRateErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "want a rate such as 100/s",
		"/s":                      "want a rate such as 100/s",
		".5/s":                    "want a rate such as 100/s",
		"-1/s":                    "want a rate such as 100/s",
		"1e3/s":                   "want a rate such as 100/s",
		"0.0000000001/s":          "want a rate such as 100/s",
		"99999999999999999999/s":  "want a rate such as 100/s",
		"0/s":                     "must be more than 0, such as 100/s",
		"0.000":                   "must be more than 0",
		"1/":                      "want a length of time",
		"1/-1s":                   "want a length of time",
		"1/0s":                    "longer than nothing",
		"0.000000001/9000000000s": "too many digits for so long a period",
	} {
		_, err := ParseRate(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "rate ") {
			t.Errorf("%q: %v, want it to say %s", text, err, want)
		}
	}
}

func TestMulDivUp(t *testing.T) {
	r := testneeds.Rand(t, 1, 2)
	draw := func() int64 { return r.Int64() >> r.IntN(63) }
	for range 20_000 {
		a, b, c := draw(), draw(), draw()+1
		if c < 1 {
			continue
		}
		want, rest := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(c), new(big.Int))
		if rest.Sign() > 0 {
			want.Add(want, big.NewInt(1))
		}
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := mulDivUp(a, b, c); got != want.Int64() {
			t.Fatalf("%d·%d/%d is %d, want %v", a, b, c, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range append(Patterns(), "0.5/s", "30/m", "burst:1@1us", "constant:1/9h") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRate(text); err == nil {
			if again, err := ParseRate(r.String()); err != nil || again.PerSecond() != r.PerSecond() {
				t.Errorf("rate %q: %s is read as %s, %v", text, r, again, err)
			}
		}
		if p, err := ParsePattern(text); err == nil {
			if again, err := ParsePattern(p.String()); err != nil || again != p {
				t.Errorf("pattern %q: %s is read as %s, %v", text, p, again, err)
			}
			if n := p.Requests(limit.Minute); n < 0 {
				t.Errorf("%s sends %d requests", p, n)
			}
		}
	})
}
