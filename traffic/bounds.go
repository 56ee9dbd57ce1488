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
