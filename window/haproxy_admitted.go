package window

import (
	"fmt"

	"shadow/limit"
)

// A rate that only admitted requests move: haproxy:N/P,charge=admitted
//
//	http-request track-sc0 src
//	http-request deny if { sc_gpc0_rate(0) ge N }
//	http-request sc-inc-gpc0(0)
//
// The counter gpc0 is increased by rules that a denied request never reaches. So a request is refused when the rate,
// read without it, is N or more, and a refused request changes nothing. Two things follow:
//
//   - Phases change only when a request is admitted. The rate is read across a phase that is over: its requests are then
//     those of the phase before, and after another period they are gone.
//   - Where no request has come in this phase, a single one of the phase before counts in full until it is gone. That is
//     a correction in freq_ctr_total against flapping.
//
// Source: HAProxy 2.6, src/freq_ctr.c, freq_ctr_total; include/haproxy/freq_ctr.h, read_freq_ctr_period.
//
// State: as of HAProxy. A key of which no request was admitted has none.

// HAProxyAdmitted is a rate of HAProxy's stick tables that counts admitted requests only, with a bound.
type HAProxyAdmitted struct{ HAProxy }

// Horizon is two periods and the millisecond in which the last request still counts.
func (h *HAProxyAdmitted) Horizon() limit.Time {
	return h.sooner(2*h.length + limit.Millisecond)
}

// Wait implements limit.Limiter.
func (h *HAProxyAdmitted) Wait(s *limit.State, t limit.Time) limit.Time {
	c := h.counters(s, t)
	if h.read(&c) < h.count {
		return 0
	}
	return h.wait(s, t, &c, h.free(&c))
}

// free returns how long after the beginning of the phase a request is admitted that is refused now.
func (h *HAProxyAdmitted) free(c *counters) limit.Time {
	over := c.elapsed()/uint64(limit.Millisecond) > uint64(h.period)
	switch {
	case !over && c.now < h.count: // in this phase, when before·remain ≤ room
		return h.length - h.remain(c.before, h.count-c.now)
	case c.now == 1: // in the next one it counts in full
		return 2*h.length + limit.Millisecond
	}
	return 2*h.length - min(h.remain(c.now, h.count), h.length-limit.Millisecond)
}

// remain returns how much of a phase may remain for its requests to count for less than room.
func (h *HAProxyAdmitted) remain(requests, room int64) limit.Time {
	return limit.Time(min((room*h.period-1)/requests, h.period)) * limit.Millisecond
}

// Charge implements limit.Limiter.
func (h *HAProxyAdmitted) Charge(s *limit.State, t limit.Time, refused bool) {
	if !refused {
		h.HAProxy.Charge(s, t, false)
	} else if s.Extra != 0 {
		c := h.counters(s, t)
		c.store(s)
	}
}

// CountsRefused implements limit.RefusalCounter.
func (h *HAProxyAdmitted) CountsRefused() bool { return false }

// Refuse implements limit.Limiter.
func (h *HAProxyAdmitted) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	c := h.counters(s, at[0])
	for i, t := range at {
		if h.forgotten(c.last, t) {
			c = counters{last: t, start: beginning(t, twoMillis)}
		}
		c.last = max(c.last, t)
		if h.read(&c) >= h.count {
			dst = append(dst, int32(i))
			continue
		}
		h.turn(&c)
		c.now++
	}
	c.store(s)
	return dst
}

// Semantics implements limit.Describer.
func (h *HAProxyAdmitted) Semantics() string {
	return fmt.Sprintf("gpc0_rate of HAProxy, increased by admitted requests: at most %d in %s, estimated from this phase and a share of the one before; a refused request does not count%s",
		h.count, limit.FormatPeriod(h.length), h.forgets())
}

// Shape implements limit.Describer.
func (h *HAProxyAdmitted) Shape() limit.Shape {
	s := h.HAProxy.Shape()
	s.Unlike = "it refills evenly from each request on, whatever came in a phase before"
	return s
}
