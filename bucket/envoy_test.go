package bucket

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var envoySuite = limittest.Suite{Draw: drawEnvoy, New: NewEnvoyLocal, Model: modelEnvoy}

func TestEnvoyLocal(t *testing.T) { limittest.Run(t, envoySuite) }

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
