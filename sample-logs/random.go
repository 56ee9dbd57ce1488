package samplelogs

import "math/bits"

// random is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): a counter
// and a mixing function. It is ours so that no release of the standard library changes a sample log.
type random struct{ counter uint64 }

func (r *random) next() uint64 {
	r.counter += 0x9e3779b97f4a7c15
	return mix(r.counter)
}

// below returns a number in [0, n), n ≥ 1.
func (r *random) below(n int64) int64 {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int64(high)
}

// between returns a number in [low, high].
func (r *random) between(low, high int64) int64 { return low + r.below(high-low+1) }

// perMille is true in n of 1,000 cases.
func (r *random) perMille(n int64) bool { return r.below(1000) < n }

// mix scatters a number over all 64 bits; different numbers stay different.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// zipf draws ranks from [0, n) so that each doubling of the rank gets the same share of the draws: Zipf's law with
// exponent 1, in steps. The first head ranks are alike, which keeps the very first from having it all.
type zipf struct {
	n, head int64
	octaves int64 // how often head doubles until it covers n
}

func newZipf(n, head int64) zipf {
	z := zipf{n: n, head: min(n, head)}
	for z.head<<z.octaves-z.head < n {
		z.octaves++
	}
	return z
}

func (z zipf) draw(r *random) int64 {
	for {
		width := z.head << r.below(z.octaves)
		if rank := width - z.head + r.below(width); rank < z.n {
			return rank
		}
	}
}
