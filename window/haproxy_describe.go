package window

import (
	"fmt"

	"shadow/limit"
)

// What a rate of HAProxy tells of itself.

// Level implements limit.Leveler: the estimate as HAProxy reads it, a whole number. Where nobody has asked since the phase
// ended, its requests are the ones before; and a single one of those counts in full until it is forgotten.
func (h *HAProxy) Level(s *limit.State, t limit.Time) float64 {
	c := h.counters(s, t)
	return float64(h.read(&c))
}

// read is the rate as HAProxy reads it at the latest moment.
func (h *HAProxy) read(c *counters) int64 {
	elapsed, before, now := int64(c.elapsed()/uint64(limit.Millisecond)), c.before, c.now
	if elapsed > h.period {
		elapsed, before, now = elapsed-h.period, now, 0
	}
	switch {
	case elapsed > h.period:
		return 0
	case now == 0 && before <= 1:
		return before
	}
	return now + before*(h.period-elapsed)/h.period
}

// Semantics implements limit.Describer.
func (h *HAProxy) Semantics() string {
	return fmt.Sprintf("http_req_rate of HAProxy: at most %d in %s, estimated from this phase and a share of the one before; a refused request counts",
		h.count, limit.FormatPeriod(h.length))
}

// Shape implements limit.Describer.
func (h *HAProxy) Shape() limit.Shape {
	return limit.Shape{
		Count: h.count, Period: h.length, AtOnce: h.count,
		Unlike: "it counts refused requests: who does not slow down stays out",
	}
}
