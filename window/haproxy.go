package window

import (
	"cmp"
	"fmt"
	"math"

	"shadow/limit"
)

// http_req_rate of HAProxy: haproxy:N/P
//
// HAProxy keeps two counters for a key, of this phase and of the one before. It takes the requests of the last phase to
// have come evenly, and estimates from them how many came in the last P:
//
//	     before         now
//	├──────────────├──────────────├
//	        └──────────────┤t            estimate = now + before·remain/P, rounded down
//	         remain┘
//
// A request counts itself first and is refused when the estimate then exceeds N. So refused requests count;
// haproxy_admitted.go is for a counter that they do not move.
//
// The clock is in milliseconds. The first phase begins with the key's first request, the next one P later, and the
// first again when two periods have passed since it began. The lowest bit of a beginning serves as a lock and is
// cleared, so phases begin in even milliseconds; and when P is odd, in the one before the one in which the last phase
// was over.
//
// With expire=PERIOD the table forgets a key, and all that it counted, once no request has come for so many milliseconds.
// Each request puts that off, a refused one too.
//
// Source: HAProxy 2.6, include/haproxy/freq_ctr.h, update_freq_ctr_period, src/freq_ctr.c, freq_ctr_total, and
// src/stick_table.c, stktable_touch_with_exp. Left out: the counters wrap around at 2³² there.
//
// State: At is the latest moment in microseconds, Level the beginning of the phase in microseconds, Extra the counters,
// before in the upper 32 bits and now in the lower. Now is at least 1 once the key has been seen.

// HAProxy is a rate of HAProxy's stick tables with a bound.
type HAProxy struct {
	count  int64      // requests
	period int64      // milliseconds
	length limit.Time // the period in microseconds
	step   limit.Time // microseconds from the beginning of a phase to that of the next
	expire limit.Time // how long a key is kept without a request; 0: as long as it matters
}

const (
	mostCounted = math.MaxInt32 // requests in a phase, and milliseconds in a period
	twoMillis   = 2 * limit.Millisecond
	counterBits = 32
	nowMask     = 1<<counterBits - 1
)

// NewHAProxy makes the limit that spec describes: haproxy:N/P, with charge=admitted the one of a counter that only
// admitted requests move, and with expire=PERIOD that of a table which forgets.
func NewHAProxy(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	admitted := args.Choice("charge", "all", "admitted", "all") == "admitted"
	expire := args.Duration("expire", 0)
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	switch {
	case spec.Period%limit.Millisecond != 0 || expire%limit.Millisecond != 0:
		return nil, fmt.Errorf("limit %q: HAProxy counts in milliseconds; a period must be a whole number of them", spec)
	case spec.Period/limit.Millisecond > mostCounted:
		return nil, fmt.Errorf("limit %q: the period is too long for HAProxy, which takes up to 596h", spec)
	case spec.Count >= mostCounted:
		return nil, fmt.Errorf("limit %q: the count must be less than %d", spec, mostCounted)
	}
	h := HAProxy{
		count: spec.Count, period: int64(spec.Period / limit.Millisecond),
		length: spec.Period, step: spec.Period - spec.Period%twoMillis, expire: expire,
	}
	if admitted {
		return &HAProxyAdmitted{h}, nil
	}
	return &h, nil
}

// Horizon is two periods: then counting starts over, if the key was not forgotten before.
func (h *HAProxy) Horizon() limit.Time { return h.sooner(2 * h.length) }

// sooner is a time without requests, or how long a key is kept if that is less.
func (h *HAProxy) sooner(t limit.Time) limit.Time {
	if h.expire > 0 {
		return min(t, h.expire)
	}
	return t
}

// forgotten reports whether the table drops a key between its last request and t.
func (h *HAProxy) forgotten(last, t limit.Time) bool {
	return h.expire > 0 && t > last && uint64(t-beginning(last, limit.Millisecond)) >= uint64(h.expire)
}

// counters holds what HAProxy keeps for a key, taken apart.
type counters struct {
	last        limit.Time // the latest moment
	start       limit.Time // of the phase; a whole number of milliseconds
	before, now int64      // requests in the phase before and in this one
}

// counters of a key at t, or at its latest moment if that is later.
func (h *HAProxy) counters(s *limit.State, t limit.Time) counters {
	if s.Extra == 0 || h.forgotten(s.At, t) {
		return counters{last: t, start: beginning(t, twoMillis)}
	}
	return counters{last: max(t, s.At), start: limit.Time(s.Level), before: s.Extra >> counterBits, now: s.Extra & nowMask}
}

// beginning is the last multiple of a unit up to t. Of two milliseconds, it is when HAProxy has a phase begin.
func beginning(t, unit limit.Time) limit.Time {
	past := t % unit
	if past < 0 {
		past += unit
	}
	return t - past // which wraps around at the beginning of time; so do the differences with it
}

// elapsed returns how long the phase has lasted, in microseconds.
func (c *counters) elapsed() uint64 { return uint64(c.last - c.start) }

// turn begins the next phase, or the first again, when this one is over.
func (h *HAProxy) turn(c *counters) {
	switch elapsed := c.elapsed(); {
	case elapsed < uint64(h.length):
	case elapsed < 2*uint64(h.length):
		c.before, c.now, c.start = min(c.now, mostCounted), 0, c.start+h.step
	default:
		c.before, c.now, c.start = 0, 0, beginning(c.last, twoMillis)
	}
}

// share returns the part of the phase before in the estimate, times the period. The phase must not be over by more than
// a millisecond.
func (h *HAProxy) share(c *counters) int64 {
	return c.before * (h.period - int64(c.elapsed()/uint64(limit.Millisecond)))
}

// refuses reports whether a request more makes the estimate exceed the count: now + 1 + ⌊share/period⌋ > count.
func (h *HAProxy) refuses(c *counters, share int64) bool {
	return share >= (h.count-c.now)*h.period
}

// Wait implements limit.Limiter.
func (h *HAProxy) Wait(s *limit.State, t limit.Time) limit.Time {
	c := h.counters(s, t)
	asked := c
	h.turn(&asked)
	if !h.refuses(&asked, h.share(&asked)) {
		return 0
	}
	return h.wait(s, t, &c, h.free(&c))
}

// wait returns how long after t a request is admitted, that is when a time of the phase has come, or the key is forgotten.
func (h *HAProxy) wait(s *limit.State, t limit.Time, c *counters, free limit.Time) limit.Time {
	free -= limit.Time(c.elapsed())
	if h.expire > 0 {
		free = min(free, beginning(s.At, limit.Millisecond)+h.expire-c.last)
	}
	return limit.WaitFrom(t, c.last, free)
}

// free returns how long after the beginning of the phase a request is admitted that is refused now.
func (h *HAProxy) free(c *counters) limit.Time {
	over := c.elapsed() >= uint64(h.length)
	if room := (h.count-c.now)*h.period - 1; !over && room >= 0 && room >= c.before { // in this phase, when share ≤ room
		return h.length - limit.Time(room/c.before)*limit.Millisecond
	}
	room := h.count*h.period - 1 // in the next one, when now·remain ≤ room
	remain := limit.Time(min(room/c.now, h.period)) * limit.Millisecond
	return max(h.length, h.step+h.length-remain)
}

// Charge implements limit.Limiter.
func (h *HAProxy) Charge(s *limit.State, t limit.Time, _ bool) {
	c := h.counters(s, t)
	h.turn(&c)
	c.now++
	c.store(s)
}

func (c *counters) store(s *limit.State) {
	s.At, s.Level, s.Extra = c.last, int64(c.start), c.before<<counterBits|min(c.now, mostCounted)
}

// CountsRefused implements limit.RefusalCounter.
func (h *HAProxy) CountsRefused() bool { return true }

// Refuse implements limit.Limiter.
func (h *HAProxy) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	if len(at) == 0 {
		return dst
	}
	c := h.counters(s, at[0])
	share, known := int64(0), false
	for i, t := range at {
		if h.forgotten(c.last, t) {
			c, known = counters{last: t, start: beginning(t, twoMillis)}, false
		}
		if !known || t > c.last || c.elapsed() >= uint64(h.length) { // of an odd period, a phase may be over twice at t
			c.last = max(t, c.last)
			h.turn(&c)
			share, known = h.share(&c), true
		}
		if h.refuses(&c, share) {
			dst = append(dst, int32(i))
		}
		c.now++
	}
	c.store(s)
	return dst
}

// Level implements limit.Leveler: the estimate as HAProxy reads it, a whole number. Without a request since the phase
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
	return fmt.Sprintf("http_req_rate of HAProxy: at most %d in %s, estimated from this phase and a share of the one before; a refused request counts%s",
		h.count, limit.FormatPeriod(h.length), h.forgets())
}

// forgets says in words when a key is.
func (h *HAProxy) forgets() string {
	if h.expire == 0 {
		return ""
	}
	return fmt.Sprintf("; who sends nothing for %s starts over", limit.FormatPeriod(h.expire))
}

// Shape implements limit.Describer.
func (h *HAProxy) Shape() limit.Shape {
	return limit.Shape{
		Count: h.count, Period: h.length, AtOnce: h.count,
		Unlike: "it counts refused requests: who does not slow down stays out",
	}
}
