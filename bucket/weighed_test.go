package bucket

import (
	"math/big"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

func TestWeighed(t *testing.T) {
	limittest.RunWeighed(t, limittest.WeighedSuite{Draw: drawToken, New: NewToken, Weigh: Weigh, Model: modelWeighed})
}

// modelWeighed keeps the tokens as a fraction.
func modelWeighed(s limit.Spec) limittest.WeighedModel {
	args := s.Args()
	burst := args.Int("burst", s.Count)
	capacity, tokens := big.NewRat(burst, 1), big.NewRat(args.Int("initial", burst), 1)
	var last *limit.Time
	return func(t limit.Time, cost int64, blocked bool) bool {
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
		refused := tokens.Cmp(big.NewRat(cost, 1)) < 0
		if !refused && !blocked {
			tokens.Sub(tokens, big.NewRat(cost, 1))
		}
		return refused
	}
}

// As TestTokenAgreesWithTimeRate, with costs.
func TestWeighedAgreesWithTimeRate(t *testing.T) {
	refused := 0
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 9)
		perSecond, burst := int64(1)<<r.IntN(6), 1+r.IntN(30)
		b, err := newToken(limit.Spec{Count: perSecond, Period: limit.Second}, shape{
			burst: int64(burst), initial: int64(burst), token: int64(limit.Second), inflow: perSecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		w, _ := Weigh(b)
		theirs := rate.NewLimiter(rate.Limit(perSecond), burst)
		var s limit.State
		at := limit.Time(1_700_000_000) * limit.Second
		for i := range 100 {
			at += limit.Time(r.IntN(4)) * limit.Second / 64
			cost := r.IntN(burst + 2)
			want := theirs.AllowN(time.UnixMicro(int64(at)), cost)
			got := w.WaitFor(&s, at, int64(cost)) == 0
			if got != want {
				t.Fatalf("seed %d, request %d: %d/s, burst %d, cost %d: admitted %t, by time/rate %t", seed, i, perSecond, burst, cost, got, want)
			}
			if w.ChargeFor(&s, at, int64(cost), !got); !got {
				refused++
			}
		}
	}
	if refused < 50_000 {
		t.Errorf("only %d requests were refused", refused)
	}
}

// What owes, refills in steps or is another server's has no costs.
func TestNoCosts(t *testing.T) {
	for _, text := range []string{"token:6/30s,debt", "token:6/30s,refill=step", "gcra:6/30s", "traefik:6/s", "envoy-local:6/s"} {
		if _, ok := Weigh(must(t, text)); ok {
			t.Errorf("%s has costs", text)
		}
	}
}

// Costs that no bucket holds overflow nowhere.
func TestHugeCost(t *testing.T) {
	w, _ := Weigh(must(t, "token:6/30s,burst=1800000000000"))
	var s limit.State
	for _, cost := range []int64{1800000000000, 1, 1<<63 - 1} {
		wait := w.WaitFor(&s, 0, cost)
		if want := map[int64]limit.Time{1800000000000: 0, 1: 5 * limit.Second, 1<<63 - 1: limit.Never}[cost]; wait != want {
			t.Errorf("at a cost of %d wait %d, want %d", cost, wait, want)
		}
		w.ChargeFor(&s, 0, cost, wait > 0)
	}
}
