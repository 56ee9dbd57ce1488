package window

import (
	"math"
	"math/bits"

	"shadow/limit"
)

// A grid cuts time, before the epoch too, into cells of one length:
//
//	    cell           cell           cell
//	├──────────────├──────────────├──────────────├──
//	−step+phase    phase          phase+step
//	                     ↑t
//	               past ─┘└─ rest ┘
//
// A cell holds its first moment; its last is a microsecond before the next one's first.

type grid struct {
	step    limit.Time // microseconds in a cell
	phase   limit.Time // where a cell begins, from the epoch; at least 0 and less than step
	inverse uint64     // ⌊(2⁶⁴−1)/step⌋
}

func newGrid(step, phase limit.Time) grid {
	return grid{step: step, phase: phase, inverse: math.MaxUint64 / uint64(step)}
}

// past returns how long the cell has lasted at t.
func (g *grid) past(t limit.Time) limit.Time {
	var p limit.Time
	if t >= 0 {
		p = g.mod(t)
	} else {
		p = g.step - 1 - g.mod(^t) // ^t is −1−t, which does not overflow
	}
	if p -= g.phase; p < 0 {
		p += g.step
	}
	return p
}

// mod is t mod step, without a division, for t ≥ 0. The product with the inverse, divided by 2⁶⁴, is the quotient or
// one less, since t < 2⁶³.
func (g *grid) mod(t limit.Time) limit.Time {
	quotient, _ := bits.Mul64(uint64(t), g.inverse)
	t -= limit.Time(quotient) * g.step
	if t >= g.step {
		t -= g.step
	}
	return t
}

// cell is the first and the last moment of the cell of t, as far as there is such time.
func (g *grid) cell(t limit.Time) (first, last limit.Time) {
	past := g.past(t)
	return back(t, past), limit.Later(t, g.step-1-past)
}

// first is the first moment of the cell of t, or the first that there is.
func (g *grid) first(t limit.Time) limit.Time {
	return back(t, g.past(t))
}

// last is the last moment of the cell of t, or the last that there is.
func (g *grid) last(t limit.Time) limit.Time {
	return limit.Later(t, g.step-1-g.past(t))
}

// back is t − d, at least the first moment that there is. d must not be negative.
func back(t, d limit.Time) limit.Time {
	if t < math.MinInt64+d {
		return math.MinInt64
	}
	return t - d
}

// latest is t, or the latest moment of the key if that is later, for limiters whose Extra is not 0 once they have seen
// the key.
func latest(s *limit.State, t limit.Time) limit.Time {
	if s.Extra == 0 {
		return t
	}
	return max(t, s.At)
}
