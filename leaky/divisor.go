package leaky

import (
	"math"
	"math/bits"
)

// A divisor divides by the same number again and again, and multiplies instead: with the inverse ⌊(2⁶⁴−1)/by⌋, the
// upper half of n·inverse is the quotient or one less, for n < 2⁶³. A division takes several times as long.
type divisor struct {
	by      uint64
	inverse uint64
}

func newDivisor(by int64) divisor {
	return divisor{by: uint64(by), inverse: math.MaxUint64 / uint64(by)}
}

// divide returns n divided by the divisor, and the remainder. n must be below 2⁶³.
func (d divisor) divide(n uint64) (quotient, remainder uint64) {
	quotient, _ = bits.Mul64(n, d.inverse)
	remainder = n - quotient*d.by
	if remainder >= d.by {
		return quotient + 1, remainder - d.by
	}
	return quotient, remainder
}
