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

var traefikSuite = limittest.Suite{Draw: drawTraefik, New: NewTraefik, ModelDelay: modelTraefik}

func TestTraefik(t *testing.T) { limittest.Run(t, traefikSuite) }

func FuzzTraefik(f *testing.F) { limittest.Fuzz(f, traefikSuite) }

// drawTraefik is a random limit, often slower than one per second, and often with a burst that forgetting is quicker to
// give back than refilling.
func drawTraefik(r *rand.Rand) limit.Spec {
	units := []limit.Time{limit.Millisecond, limit.Second, limit.Second, limit.Second, limit.Minute, 977 * limit.Microsecond}
	s := limit.Spec{Algorithm: "traefik", Count: 1 + r.Int64N(12), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(10))}
	if r.IntN(3) > 0 {
		s.Options = fmt.Sprintf("burst=%d", 1+r.Int64N(30))
	}
	return s
}

// modelTraefik keeps the balance as a fraction and forgets by whole seconds.
func modelTraefik(s limit.Spec) limittest.DelayModel {
	burst := big.NewRat(s.Args().Int("burst", 1), 1)
	perMicrosecond := big.NewRat(s.Count, int64(s.Period))
	longest, age := traefikNumbers(s)
	balance, one := new(big.Rat).Set(burst), big.NewRat(1, 1)
	var last *limit.Time
	return func(t limit.Time, blocked bool) (bool, limit.Time) {
		if last != nil && t > *last {
			if floorSecond(t)-floorSecond(*last) >= age {
				balance.Set(burst)
			}
			balance.Add(balance, new(big.Rat).Mul(perMicrosecond, big.NewRat(int64(t-*last), 1)))
			if balance.Cmp(burst) > 0 {
				balance.Set(burst)
			}
		}
		if last == nil || t > *last {
			last = &t
		}
		after := new(big.Rat).Sub(balance, one)
		delay := new(big.Rat).Quo(new(big.Rat).Neg(after), perMicrosecond) // microseconds
		delay.Mul(delay, big.NewRat(1000, 1))
		nanoseconds := new(big.Int).Quo(delay.Num(), delay.Denom()).Int64()
		if nanoseconds > int64(longest) {
			return true, 0
		}
		if !blocked {
			balance = after
		}
		return false, limit.Time(max(0, nanoseconds/1000))
	}
}

// traefikNumbers are maxDelay and ttl as Traefik computes them.
func traefikNumbers(s limit.Spec) (longest time.Duration, age int64) {
	perSecond := float64(s.Count*1e9) / float64(s.Period*1000)
	if perSecond < 1 {
		return 500 * time.Millisecond, 1 + int64(1/perSecond)
	}
	return time.Second / (time.Duration(perSecond) * 2), 2
}

func floorSecond(t limit.Time) int64 { return time.UnixMicro(int64(t)).Unix() }

// What Traefik does with the limiter of golang.org/x/time, one key at a time. That one counts in floating point, so
// only limits are compared that are exact there too: a power of two per second, with times in 1/64 s.
func TestTraefikAgreesWithItsLimiter(t *testing.T) {
	delays, refusals, forgotten := 0, 0, 0
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 7)
		spec, err := limit.Parse([]string{"traefik:1/4s", "traefik:1/2s", "traefik:1/s", "traefik:4/s", "traefik:16/s", "traefik:64/s"}[r.IntN(6)])
		if err != nil {
			t.Fatal(err)
		}
		burst := 1 + r.IntN(80)
		spec.Options = fmt.Sprintf("burst=%d", burst)
		l, err := NewTraefik(spec)
		if err != nil {
			t.Fatal(err)
		}
		longest, age := traefikNumbers(spec)
		every := rate.Limit(float64(spec.Count*1e9) / float64(spec.Period*1000))
		theirs, expires := rate.NewLimiter(every, burst), int64(0)
		var state limit.State
		now := limit.Time(1_700_000_000) * limit.Second
		for i := range 200 {
			at := time.UnixMicro(int64(now))
			if i > 0 && at.Unix() >= expires {
				theirs = rate.NewLimiter(every, burst)
				forgotten++
			}
			expires = at.Unix() + age
			reservation := theirs.ReserveN(at, 1)
			delay := reservation.DelayFrom(at)
			want := delay > longest
			if want {
				reservation.CancelAt(at)
				refusals++
			} else if delay > 0 {
				delays++
			}
			refused, late := l.(limit.Delayer).RefuseAndDelay(nil, nil, &state, []limit.Time{now})
			var by limit.Time
			if len(late) > 0 {
				by = late[0].By
			}
			if got := len(refused) > 0; got != want || !got && by != limit.Time(delay.Microseconds()) {
				t.Fatalf("seed %d, %v: request %d: refused %v, delayed by %d µs, want %v, %v", seed, spec, i, got, by, want, delay)
			}
			if r.IntN(3) == 0 {
				now += limit.Time(r.Int64N(2*int64(spec.Period)/15625/spec.Count+1)) * 15625
			}
			if r.IntN(60) == 0 {
				now += limit.Time(r.Int64N(4*age)) * limit.Second / 4
			}
		}
	}
	if delays < 1000 || refusals < 1000 || forgotten < 1000 {
		t.Errorf("%d delayed, %d refused, %d times forgotten: too few to tell", delays, refusals, forgotten)
	}
}

// The life of a key in seconds, as Traefik has it in floating point.
func TestTraefikAge(t *testing.T) {
	for text, want := range map[string]uint64{
		"traefik:100/s": 2, "traefik:1/s": 2, "traefik:60/m": 2, "traefik:59/m": 2, "traefik:31/m": 2, "traefik:30/m": 3, "traefik:6/30s": 6,
		"traefik:1/m": 61, "traefik:1/92s": 93, "traefik:1/93s": 93, "traefik:1/94s": 95,
	} {
		if got := must(t, text).(*Traefik).age; got != want {
			t.Errorf("%s: a key is forgotten after %d s, want %d", text, got, want)
		}
	}
}
