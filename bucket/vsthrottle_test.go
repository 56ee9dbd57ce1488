package bucket

import (
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var vsthrottleSuite = limittest.Suite{
	Draw: func(r *rand.Rand) limit.Spec {
		s := drawToken(r)
		s.Algorithm, s.Options, s.Count = "vsthrottle", "", 1+s.Count%12
		return s
	},
	New: NewVsthrottle, Model: modelVsthrottle, OwnClock: true,
}

func TestVsthrottle(t *testing.T) { limittest.Run(t, vsthrottleSuite) }

func FuzzVsthrottle(f *testing.F) { limittest.Fuzz(f, vsthrottleSuite) }

// modelVsthrottle does what the module does, with its own names, in whole microseconds. Its numbers are small enough
// not to overflow: no more than a period is ever multiplied.
func modelVsthrottle(s limit.Spec) limittest.Model {
	tokens, lastUsed, seen := s.Count, limit.Time(0), false
	return func(now limit.Time, blocked bool) bool {
		if !seen {
			lastUsed = now
		}
		now = max(now, lastUsed)
		calculated := min(s.Count, tokens+int64(min(now-lastUsed, s.Period))*s.Count/int64(s.Period))
		if calculated <= 0 {
			return true
		}
		if !blocked {
			tokens, lastUsed, seen = calculated-1, now, true
		}
		return false
	}
}
