package bucket

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var tokenSuite = limittest.Suite{Draw: drawToken, New: NewToken, Model: modelToken}

func TestToken(t *testing.T) { limittest.Run(t, tokenSuite) }

func FuzzToken(f *testing.F) { limittest.Fuzz(f, tokenSuite) }

// drawToken is a random token bucket, often one whose interval is a fraction of a microsecond.
func drawToken(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, 1, limit.Millisecond, limit.Second, limit.Minute, limit.Day}
	s := limit.Spec{Algorithm: "token", Count: 1 + r.Int64N(12), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
	burst := s.Count
	if r.IntN(2) == 0 {
		burst = 1 + r.Int64N(12)
		s.Options = fmt.Sprintf("burst=%d", burst)
		if r.IntN(4) == 0 {
			s.Count = 1 + r.Int64N(1<<40) // so that a pause brings more tokens than 64 bits hold shares of
		}
	}
	if r.IntN(4) == 0 {
		s.Options = fmt.Sprintf("burst=%d,initial=%d", burst, r.Int64N(burst+1))
	}
	return s
}

// modelToken keeps the tokens as a fraction.
func modelToken(s limit.Spec) limittest.Model {
	args := s.Args()
	burst := args.Int("burst", s.Count)
	capacity := big.NewRat(burst, 1)
	tokens := big.NewRat(args.Int("initial", burst), 1)
	one := big.NewRat(1, 1)
	var last *limit.Time
	return func(t limit.Time, blocked bool) bool {
		if last == nil {
			last = &t
		}
		if t > *last {
			tokens.Add(tokens, new(big.Rat).Mul(big.NewRat(s.Count, int64(s.Period)), big.NewRat(int64(t-*last), 1)))
			*last = t
		}
		if tokens.Cmp(capacity) > 0 {
			tokens.Set(capacity)
		}
		refused := tokens.Cmp(one) < 0
		if !refused && !blocked {
			tokens.Sub(tokens, one)
		}
		return refused
	}
}

// The limiter of golang.org/x/time counts in floating point, so only limits are compared that are exact there too: with
// intervals and times that are whole numbers of seconds divided by a power of two.
func TestTokenAgreesWithTimeRate(t *testing.T) {
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 7)
		perSecond, burst := int64(1)<<r.IntN(7), 1+r.Int64N(20)
		spec, err := limit.Parse(fmt.Sprintf("token:%d/s,burst=%d", perSecond, burst))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := NewToken(spec)
		if err != nil {
			t.Fatal(err)
		}
		theirs := rate.NewLimiter(rate.Limit(perSecond), int(burst))
		var state limit.State
		now := limit.Time(1_700_000_000) * limit.Second
		for i := range 60 {
			want := !theirs.AllowN(time.UnixMicro(int64(now)), 1)
			got := len(ours.Refuse(nil, &state, []limit.Time{now})) > 0
			if got != want {
				t.Fatalf("seed %d, %v: request %d: refused %v, want %v", seed, spec, i, got, want)
			}
			now += limit.Time(r.Int64N(4*burst)) * limit.Second / 64
		}
	}
}

// The level is the number of missing tokens; asking for it changes nothing.
func TestTokenLevel(t *testing.T) {
	l, err := NewToken(limit.Spec{Algorithm: "token", Count: 6, Period: 30 * limit.Second, Options: "initial=4"})
	if err != nil {
		t.Fatal(err)
	}
	level := l.(limit.Leveler).Level
	var s limit.State
	if got := level(&s, 0); got != 2 {
		t.Errorf("a new key has level %v, want 2", got)
	}
	l.Refuse(nil, &s, make([]limit.Time, 9))
	for at, want := range map[limit.Time]float64{-limit.Second: 6, 0: 6, 2500 * limit.Millisecond: 5.5, limit.Minute: 0} {
		if got := level(&s, at); got != want {
			t.Errorf("the level at %d µs is %v, want %v", at, got, want)
		}
	}
}
