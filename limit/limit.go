package limit

import "math"

// Time is a moment in microseconds since the Unix epoch, as the log has it. It may be zero or negative.
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
	// Wait returns how long a request arriving at t would have to wait to be admitted; 0 admits it. s is not changed.
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

// What only some limiters can do is an interface of its own, asked for where it is needed.

// A Delayer is a Limiter with a third verdict: a request may be admitted and kept waiting before it is passed on.
type Delayer interface {
	Limiter

	// Delay returns how long a request at t, which Wait admits, is kept waiting; 0 passes it on at once. s is not
	// changed.
	Delay(s *State, t Time) Time

	// LongestDelay is the longest that a request can be kept waiting, or more.
	LongestDelay() Time

	// RefuseAndDelay is Refuse that also appends to late each request that is admitted and kept waiting, in the order
	// of at.
	RefuseAndDelay(dst []int32, late []Delayed, s *State, at []Time) ([]int32, []Delayed)
}

// A Delayed is a request that was admitted and kept waiting.
type Delayed struct {
	Index int32 // into the times that were judged
	By    Time  // how long, more than 0
}

// A Weigher is a Limiter whose requests may cost more than one, or nothing. At a cost of one it does as any Limiter.
// What requests cost a limit on those under way is how long they take, in microseconds.
type Weigher interface {
	Limiter

	// WaitFor is Wait of a request with a cost, which is not negative; Never if the limit never has room for it.
	WaitFor(s *State, t Time, cost int64) Time

	// ChargeFor is Charge of such a request. If it is not refused, WaitFor admits it.
	ChargeFor(s *State, t Time, cost int64, refused bool)
}

// A Carrier is a Limiter that may hold more than it admits itself, of requests that it counts and may not refuse.
type Carrier interface {
	Limiter

	// Carries reports whether such a request at t is charged, if no other limit refuses it, although Wait is not 0.
	Carries(s *State, t Time) bool
}

// A Barrer is a Limiter that keeps a key out for a while after it has refused one of its requests.
type Barrer interface {
	Limiter

	// Bar takes notice of a request at t that this or another limit of a combination refused, and that is not to be
	// charged here: what Charge would do to when the key is free again, and nothing else.
	Bar(s *State, t Time)
}

// An Approximation is a Limiter whose original cannot be known exactly. It makes the middle assumption itself; Variants
// are limiters for other values of what is unknown, and a report shows the range that they make.
type Approximation interface {
	Limiter

	// Variants returns the limiters that the original may be as well, without the Approximation itself. Those that are
	// a Describer say in their Semantics what they assume.
	Variants() []Limiter
}

// A Leveler is a Limiter that knows how full it is, for plots.
type Leveler interface {
	// Level returns how many requests count against the key at t, before a request of that moment: 0 for a key never
	// seen that starts empty, and perhaps a fraction. It need not be exact. s is not changed.
	Level(s *State, t Time) float64
}
