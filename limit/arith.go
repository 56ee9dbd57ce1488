package limit

import "math"

// Exact arithmetic that several limiters share.

// GCD is the greatest common divisor of two positive numbers (Euclid).
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// CeilDiv is a/b rounded up, for positive numbers.
func CeilDiv(a, b int64) int64 { return (a-1)/b + 1 }

// WaitFrom returns how long a request at t has to wait when the limiter, whose latest moment is now, admits one wait
// after that. The result is at most Never.
func WaitFrom(t, now, wait Time) Time {
	late := uint64(now - t) // as unsigned numbers, differences of times never overflow
	if late > math.MaxInt64-uint64(wait) {
		return Never
	}
	return Time(late) + wait
}
