package bucket

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"shadow/limit"
	"shadow/limit/limittest"
)

var debtSuite = limittest.Suite{Draw: drawDebt, New: NewToken, Model: modelDebt}

func TestDebt(t *testing.T) { limittest.Run(t, debtSuite) }

func FuzzDebt(f *testing.F) { limittest.Fuzz(f, debtSuite) }

// drawDebt is a random bucket with debt, often bounded. A new key starts with a token at least: where it has none, its
// first request is refused and makes the next wait longer, which the suite does not expect of a new key.
func drawDebt(r *rand.Rand) limit.Spec {
	for {
		s := drawToken(r)
		if s.Args().Int("initial", 1) == 0 {
			continue
		}
		debt := "debt"
		if r.IntN(2) == 0 {
			debt = fmt.Sprintf("debt=%d", 1+r.Int64N(8))
		}
		if s.Options != "" {
			debt = "," + debt
		}
		s.Options += debt
		return s
	}
}

// modelDebt keeps the balance as a fraction.
func modelDebt(s limit.Spec) limittest.Model {
	args := s.Args()
	burst := args.Int("burst", s.Count)
	debt, _ := args.FlagOrInt("debt", 1<<40)
	capacity, floor, one := big.NewRat(burst, 1), big.NewRat(-debt, 1), big.NewRat(1, 1)
	balance := big.NewRat(args.Int("initial", burst), 1)
	var last *limit.Time
	return func(t limit.Time, _ bool) bool {
		if last != nil && t > *last {
			if t-*last >= s.Period && balance.Sign() < 0 {
				balance.SetInt64(0)
			}
			balance.Add(balance, new(big.Rat).Mul(big.NewRat(s.Count, int64(s.Period)), big.NewRat(int64(t-*last), 1)))
			if balance.Cmp(capacity) > 0 {
				balance.Set(capacity)
			}
		}
		if last == nil || t > *last {
			last = &t
		}
		balance.Sub(balance, one)
		refused := balance.Sign() < 0
		if balance.Cmp(floor) < 0 {
			balance.Set(floor)
		}
		return refused
	}
}
