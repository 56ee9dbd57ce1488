package traffic

import (
	"math"

	"shadow/limit"
)

// MinTime is before every time stamp, and MaxTime after: neither can overflow when a lateness is taken off or added.
const (
	MinTime limit.Time = math.MinInt64 / 2
	MaxTime limit.Time = math.MaxInt64 / 2
)

// Bounded keeps a moment where arithmetic with it cannot overflow, whatever a damaged checkpoint says.
func Bounded(t int64) limit.Time { return max(MinTime, min(limit.Time(t), MaxTime)) }

// A log in whole seconds does not tell when in its second a request came. What limiters make of that is in package
// limit, see limit.Bounds; here is how coarse the stamps of a run are.

// Coarseness says how far the stamps of a run may lie from the moments when requests came. The zero value is of
// stamps that tell those moments.
type Coarseness struct {
	Slack limit.Time // by how much a request may have come later than its time

	// Ends is set when stamps may be those of the ends of requests, and no input tells how long requests took. A
	// limit that kept requests waiting when the log was written has moved their stamps by up to its longest delay.
	Ends bool
}
