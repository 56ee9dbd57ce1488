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
	elapsed := c.elapsed() / uint64(limit.Millisecond)
	if elapsed > uint64(h.period) {
		elapsed -= uint64(h.period)
		c.before, c.now = c.now, 0
	}
	switch {
	case elapsed > uint64(h.period):
		return 0
	case c.now == 0 && c.before <= 1:
		return float64(c.before)
	}
	return float64(c.now + c.before*(h.period-int64(elapsed))/h.period)
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
