package leaky

import (
	"testing"

	"shadow/internal/testneeds"
)

// Division by multiplication is exact for every divisor and every number that may come.
func TestDivisor(t *testing.T) {
	for seed := range uint64(100_000) {
		r := testneeds.Rand(t, seed, 3)
		by := uint64(1 + r.Int64N(1<<(1+r.IntN(62))))
		d := newDivisor(int64(by))
		for _, n := range []uint64{
			0, by - 1, by, by + 1, r.Uint64() >> (1 + r.IntN(63)),
			1<<63 - 1, (1<<63-1)/by*by - 1, (1<<63 - 1) / by * by,
		} {
			if quotient, rest := d.divide(n); quotient != n/by || rest != n%by {
				t.Fatalf("%d by %d is %d, %d left; want %d, %d", n, by, quotient, rest, n/by, n%by)
			}
		}
	}
}
