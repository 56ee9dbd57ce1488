package bucket

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var gcraSuite = limittest.Suite{Draw: drawGCRA, New: NewGCRA, Model: modelGCRA}

func TestGCRA(t *testing.T) { limittest.Run(t, gcraSuite) }

func FuzzGCRA(f *testing.F) { limittest.Fuzz(f, gcraSuite) }

// drawGCRA is a random limit, often one whose interval is no whole number of nanoseconds.
func drawGCRA(r *rand.Rand) limit.Spec {
	units := []limit.Time{1, 1, limit.Millisecond, limit.Second, limit.Minute, limit.Day}
	s := limit.Spec{Algorithm: "gcra", Count: 1 + r.Int64N(12), Period: units[r.IntN(len(units))] * limit.Time(1+r.IntN(40))}
	if r.IntN(3) > 0 {
		s.Options = fmt.Sprintf("burst=%d", r.Int64N(12))
	}
	return s
}

// modelGCRA keeps the theoretical arrival time in nanoseconds, as the sources do, with numbers of any size.
func modelGCRA(s limit.Spec) limittest.Model {
	interval := big.NewInt(int64(s.Period) * 1000 / s.Count)
	tolerance := new(big.Int).Mul(interval, big.NewInt(s.Args().Int("burst", 0)+1))
	var tat, last *big.Int
	return func(t limit.Time, blocked bool) bool {
		now := new(big.Int).Mul(big.NewInt(int64(t)), big.NewInt(1000))
		if last != nil && now.Cmp(last) < 0 {
			now = last
		}
		last = now
		due := now
		if tat != nil && tat.Cmp(now) > 0 {
			due = tat
		}
		next := new(big.Int).Add(due, interval)
		refused := new(big.Int).Sub(next, tolerance).Cmp(now) > 0
		if !refused && !blocked {
			tat = next
		}
		return refused
	}
}
