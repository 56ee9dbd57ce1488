package limit

import "math"

// Time is a moment in microseconds since the Unix epoch, as the log tells it. It may be zero or negative.
// The same type serves for durations, in microseconds.
type Time int64

// Lengths of time, for arithmetic with Time.
const (
	Microsecond Time = 1
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
	Minute           = 60 * Second
	Hour             = 60 * Minute
	Day              = 24 * Hour
	Week             = 7 * Day
)

// Never is the Horizon of a limiter whose keys may not be forgotten.
const Never Time = math.MaxInt64

// A Limiter is one limit. It is immutable and safe for concurrent use.
type Limiter interface {
	// Wait tells how long a request arriving at t would have to wait to be admitted; 0 admits it. s is not changed.
	Wait(s *State, t Time) Time

	// Charge brings s up to date with a request at t that was admitted, or refused (by this limit or, in a
	// combination, by another).
	Charge(s *State, t Time, refused bool)

	// Refuse appends to dst the index of each request in at that is refused, and brings s up to date: the loop of
	// Wait and Charge, made fast. at holds the next requests of one key in time order; should a time lie before the
	// last one, the limiter clamps it by its own rule. Refuse keeps neither at nor dst.
	Refuse(dst []int32, s *State, at []Time) []int32

	// Horizon is the idle time after which any State behaves as the zero State and may be forgotten, or Never.
	Horizon() Time
}
