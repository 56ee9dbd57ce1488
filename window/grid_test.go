package window

import (
	"math"
	"math/big"
	"testing"

	"shadow/internal/testneeds"
	"shadow/limit"
)

// The cells agree with the floors of fractions.
func TestGrid(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	r := testneeds.Rand(t, 1, 2)
	steps := []limit.Time{1, 2, 3, 7, 1000, limit.Hour, 1 << 62, 1<<62 + 1, most - 1, most}
	for range 200 {
		steps = append(steps, 1+limit.Time(r.Int64N(1<<(1+r.IntN(62)))))
	}
	for _, step := range steps {
		g := newGrid(step, limit.Time(r.Int64N(int64(step))))
		times := []limit.Time{0, 1, -1, step, -step, g.phase, g.phase - 1, least, least + 1, most - 1, most}
		for range 50 {
			times = append(times, limit.Time(r.Uint64()>>r.IntN(64)))
		}
		for _, at := range times {
			past, first, last := cellOf(at, step, g.phase)
			f, l := g.cell(at)
			if g.past(at) != past || g.first(at) != first || g.last(at) != last || f != first || l != last {
				t.Fatalf("cell of %d in steps of %d from %d: past %d, from %d to %d, want %d, %d, %d",
					at, step, g.phase, g.past(at), g.first(at), g.last(at), past, first, last)
			}
		}
	}
}

// cellOf reckons with as many digits as it takes.
func cellOf(t, step, phase limit.Time) (past, first, last limit.Time) {
	number := func(n limit.Time) *big.Int { return big.NewInt(int64(n)) }
	m := new(big.Int).Sub(number(t), number(phase))
	m.Mod(m, number(step)) // Euclidean: never negative
	f := new(big.Int).Sub(number(t), m)
	l := new(big.Int).Add(f, number(step-1))
	if first = math.MinInt64; f.IsInt64() {
		first = limit.Time(f.Int64())
	}
	if last = math.MaxInt64; l.IsInt64() {
		last = limit.Time(l.Int64())
	}
	return limit.Time(m.Int64()), first, last
}
