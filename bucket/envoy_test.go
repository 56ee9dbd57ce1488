package bucket

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
	"shadow/limit/limittest"
)

var envoySuite = limittest.Suite{Draw: drawEnvoy, New: NewEnvoyLocal, Model: modelEnvoy}

func TestEnvoyLocal(t *testing.T) { limittest.Run(t, envoySuite) }

// With refill=interval each key has a timer of its own, which its first request starts.
func TestInterval(t *testing.T) {
	limittest.Run(t, limittest.Suite{
		Draw: func(r *rand.Rand) limit.Spec {
			s := drawEnvoy(r)
			s.Algorithm = "token"
			s.Options = strings.Trim(s.Options+",refill=interval", ",")
			return s
		},
		New: NewToken,
		Model: func(s limit.Spec) limittest.Model {
			s.Options, _, _ = strings.Cut(s.Options, "refill")
			s.Options = strings.TrimSuffix(s.Options, ",")
			judge, first, seen := modelEnvoy(s), limit.Time(0), false
			return func(t limit.Time, blocked bool) bool {
				if !seen {
					first, seen = t, true
				}
				return judge(t-first, blocked)
			}
		},
	})
}

func FuzzEnvoyLocal(f *testing.F) { limittest.Fuzz(f, envoySuite) }

func drawEnvoy(r *rand.Rand) limit.Spec {
	units := []limit.Time{50 * limit.Millisecond, limit.Second, limit.Minute, limit.Day}
	s := limit.Spec{Algorithm: "envoy-local", Count: 1 + r.Int64N(12), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
	if r.IntN(2) == 0 {
		s.Options = fmt.Sprintf("burst=%d", 1+r.Int64N(40))
	}
	return s
}

// modelEnvoy lets the timer fire for every multiple of the period between two requests.
func modelEnvoy(s limit.Spec) limittest.Model {
	burst := s.Args().Int("burst", s.Count)
	fired := func(t limit.Time) limit.Time { // how often since the epoch
		n := t / s.Period
		if n*s.Period > t {
			n--
		}
		return n
	}
	tokens, last, seen := burst, limit.Time(0), false
	return func(t limit.Time, blocked bool) bool {
		if seen && t > last {
			for n := fired(t) - fired(last); n > 0 && tokens < burst; n-- {
				tokens = min(burst, tokens+s.Count)
			}
		}
		if !seen || t > last {
			seen, last = true, t
		}
		if tokens == 0 {
			return true
		}
		if !blocked {
			tokens--
		}
		return false
	}
}

// Whatever a pause is made of, a timer has filled the bucket as often as arithmetic of any size says.
func TestFill(t *testing.T) {
	for seed := range uint64(2000) {
		r := testneeds.Rand(t, seed, 5)
		count, burst := 1+r.Int64N(20), 1+r.Int64N(60)
		b := newEnvoyLocal(limit.Spec{Count: count, Period: 1}, burst)
		missing := r.Int64N(burst + 1)
		for n := range uint64(70) {
			if got, want := b.fill(missing, n), max(0, missing-int64(n)*count); got != want {
				t.Fatalf("%d of %d missing, %d fills of %d: %d, want %d", missing, burst, n, count, got, want)
			}
		}
		if got := b.fill(missing, 1<<63); got != 0 {
			t.Fatal(fmt.Sprint("after very many fills ", got, " are missing"))
		}
	}
}
