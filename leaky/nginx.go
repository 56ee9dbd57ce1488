package leaky

import (
	"fmt"
	"math"

	"shadow/limit"
)

// limit_req of nginx: nginx:10r/s,burst=20,delay=8
//
// nginx counts in whole milliseconds and in thousandths of a request. A key has an excess; a request sets it to
//
//	excess = max(0, excess − rate·elapsed/1000 + 1000)
//
// with each division rounded down. If that is more than burst, the request is rejected and nothing has changed. If it
// is more than delay, the request is delayed by (excess − delay)·1000/rate milliseconds; with nodelay none is. The
// first request of a key has the excess 0, so burst+1 are admitted at once.
//
// The rate is kept in whole thousandths of a request per second: 10r/m is 166, 1r/m is 16. Where the clock has stepped
// back, elapsed is 0, and 1 when it was by more than a minute.
//
// A zone whose places have several bursts is a limit for each of them: nginx:10r/s,burst=5,max=20 for a place with the burst
// 5, where another one has 20. Its excess also has the requests of that place, beyond its own burst.
//
// Source: nginx 1.22.1, src/http/modules/ngx_http_limit_req_module.c, ngx_http_limit_req_lookup and _account. Several
// zones are asked first and then charged all or none there, the longest delay being the one that counts.
//
// State: At is the millisecond of the last request that changed it, Level the excess, Extra 1 once there was one.

// Nginx is a zone of nginx's limit_req.
type Nginx struct {
	rate   int64   // thousandths of a request per second
	burst  int64   // thousandths of a request
	max    int64   // thousandths of a request: the largest burst of the zone
	delay  int64   // thousandths of a request; beyond all bounds with nodelay
	reach  int64   // milliseconds in which the largest excess has gone, and a request more
	byRate divisor // divides by rate
	bias   int64   // thousandths of a request that drain beyond what is rounded down: of bounds
}

const (
	thousand    = 1000          // thousandths in a request, milliseconds in a second, microseconds in a millisecond
	minuteBack  = -60 * 1000    // milliseconds
	neverDelays = math.MaxInt64 // thousandths of a request
)

// NewNginx makes the zone that spec describes: nginx:Nr/s or nginx:Nr/m with the options burst, delay and nodelay.
func NewNginx(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	burst := args.Int("burst", 0)
	delay := args.Int("delay", -1)
	nodelay := args.Flag("nodelay")
	largest := args.Int("max", burst)
	if err := args.Err(); err != nil {
		return nil, err
	}
	const most = 100_000_000_000 // then nothing below overflows
	switch {
	case spec.Count < 1:
		return nil, fmt.Errorf("limit %q: the count must be positive", spec)
	case spec.Period != limit.Second && spec.Period != limit.Minute:
		return nil, fmt.Errorf("limit %q: nginx knows rates per second and per minute only; want a limit such as nginx:10r/s or nginx:12r/m", spec)
	case nodelay && delay >= 0:
		return nil, fmt.Errorf("limit %q: nodelay and delay=%d exclude each other", spec, delay)
	case largest < burst:
		return nil, fmt.Errorf("limit %q: max=%d is less than burst=%d; it is the largest burst of the zone", spec, largest, burst)
	case spec.Count > most || largest > most || delay > most:
		return nil, fmt.Errorf("limit %q: too large to be exact; numbers may go up to %d", spec, int64(most))
	}
	rate := spec.Count * thousand / int64(spec.Period/limit.Second)
	n := &Nginx{
		rate: rate, burst: burst * thousand, max: largest * thousand, delay: max(0, delay) * thousand,
		reach:  limit.CeilDiv((largest+1)*thousand*thousand, rate),
		byRate: newDivisor(rate),
	}
	if nodelay {
		n.delay = neverDelays
	}
	return n, nil
}

// Horizon is the time after which the excess is 0 again whatever it was.
func (n *Nginx) Horizon() limit.Time { return limit.Time(n.reach) * limit.Millisecond }

// milliseconds is t in whole milliseconds, rounded down.
func milliseconds(t limit.Time) int64 {
	ms := int64(t) / thousand
	return ms + (int64(t)-ms*thousand)>>63 // less 1 if there is a negative remainder
}

// begin is the excess and the millisecond from which to go on at t. A key never seen lacks a whole request, so that its
// first one has the excess 0.
func begin(s *limit.State, t limit.Time) (excess, last int64) {
	if s.Extra == 0 {
		return -thousand, milliseconds(t)
	}
	return s.Level, int64(s.At)
}

// elapsed is the milliseconds from last until now, by nginx's rules for a clock that has stepped back; more than reach
// make no difference.
func (n *Nginx) elapsed(last, now int64) int64 {
	switch ms := now - last; {
	case ms >= 0:
		return min(ms, n.reach)
	case ms < minuteBack:
		return 1
	}
	return 0
}

// drained is by how much the excess sinks in elapsed milliseconds.
func (n *Nginx) drained(elapsed int64) int64 {
	drained := int64(uint64(n.rate*elapsed) / thousand)
	if n.bias != 0 && elapsed > 0 {
		drained = max(0, drained+n.bias)
	}
	return drained
}

// after is the excess with one more request, elapsed milliseconds later.
func (n *Nginx) after(excess, elapsed int64) int64 {
	return max(0, excess-n.drained(elapsed)+thousand)
}

// Carries implements limit.Carrier: the excess may go up to the largest burst of the zone.
func (n *Nginx) Carries(s *limit.State, t limit.Time) bool {
	excess, last := begin(s, t)
	return n.after(excess, n.elapsed(last, milliseconds(t))) <= n.max
}

// late returns the delay of a request with this excess.
func (n *Nginx) late(excess int64) limit.Time {
	if excess <= n.delay {
		return 0
	}
	ms, _ := n.byRate.divide(uint64(excess-n.delay) * thousand)
	return limit.Time(ms) * limit.Millisecond
}

// Wait implements limit.Limiter.
func (n *Nginx) Wait(s *limit.State, t limit.Time) limit.Time {
	excess, last := begin(s, t)
	now := milliseconds(t)
	if n.after(excess, n.elapsed(last, now)) <= n.burst {
		return 0
	}
	need := limit.CeilDiv((excess+thousand-n.burst-n.bias)*thousand, n.rate) // milliseconds since last
	ms := last + need - now
	if ms > int64(limit.Never/limit.Millisecond) {
		return limit.Never
	}
	return limit.Time(ms)*limit.Millisecond - (t - limit.Time(now)*limit.Millisecond)
}

// Bounds implements limit.Bounder. What drains is rounded down at each admitted request, so where requests lie decides
// on up to a thousandth of a request as well: the low bound drains that much more each time, the high one that much
// less.
func (n *Nginx) Bounds(slack limit.Time) (low, high limit.Limiter) {
	more, less := *n, *n
	more.bias, less.bias = 1, -1
	low, _ = limit.Enclose(&more, slack)
	_, high = limit.Enclose(&less, slack)
	return low, high
}

// Delay implements limit.Delayer.
func (n *Nginx) Delay(s *limit.State, t limit.Time) limit.Time {
	excess, last := begin(s, t)
	return n.late(n.after(excess, n.elapsed(last, milliseconds(t))))
}

// LongestDelay implements limit.Delayer: with the largest excess.
func (n *Nginx) LongestDelay() limit.Time { return n.late(n.burst) }

// Charge implements limit.Limiter.
func (n *Nginx) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused {
		return
	}
	excess, last := begin(s, t)
	now := milliseconds(t)
	elapsed := n.elapsed(last, now)
	if elapsed > 0 {
		last = now
	}
	s.At, s.Level, s.Extra = limit.Time(last), n.after(excess, elapsed), 1
}

// Refuse implements limit.Limiter.
func (n *Nginx) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	dst, _ = n.judge(dst, nil, neverDelays, s, at)
	return dst
}

// RefuseAndDelay implements limit.Delayer.
func (n *Nginx) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	return n.judge(dst, late, n.delay, s, at)
}

// judge is Refuse, with the delays of requests whose excess is more than delay. Requests of one moment differ by what
// has drained: it is the same after a refusal, and nothing after an admitted request.
func (n *Nginx) judge(dst []int32, late []limit.Delayed, delay int64, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	if len(at) == 0 {
		return dst, late
	}
	excess, last := begin(s, at[0])
	moment := at[0]
	now := milliseconds(moment)
	elapsed := n.elapsed(last, now)
	drained := n.drained(elapsed)
	for i, t := range at {
		if t != moment {
			moment, now = t, milliseconds(t)
			elapsed = n.elapsed(last, now)
			drained = n.drained(elapsed)
		}
		next := max(0, excess-drained+thousand)
		if next > n.burst {
			dst = append(dst, int32(i))
			continue
		}
		excess, drained = next, 0
		if elapsed > 0 {
			last = now
		}
		if next > delay {
			late = n.appendLate(late, i, next)
		}
	}
	s.At, s.Level, s.Extra = limit.Time(last), excess, 1
	return dst, late
}

// appendLate appends the request i, if its delay is at least a millisecond.
func (n *Nginx) appendLate(late []limit.Delayed, i int, excess int64) []limit.Delayed {
	if by := n.late(excess); by > 0 {
		late = append(late, limit.Delayed{Index: int32(i), By: by})
	}
	return late
}

// Level implements limit.Leveler: how many of burst+1 requests are taken. Where the last request left the excess e,
// there are e + 1000 thousandths of a request in it, which sink at the rate.
func (n *Nginx) Level(s *limit.State, t limit.Time) float64 {
	excess, last := begin(s, t)
	return float64(n.after(excess, n.elapsed(last, milliseconds(t)))) / thousand
}

// atOnce returns how many requests of a new key are admitted at once.
func (n *Nginx) atOnce() int64 { return n.burst/thousand + 1 }

// undelayed returns how many of them are passed on without delay.
func (n *Nginx) undelayed() int64 { return min(n.delay/thousand, n.burst/thousand) + 1 }

// Semantics implements limit.Describer.
func (n *Nginx) Semantics() string {
	text := fmt.Sprintf("limit_req of nginx: %d at once%s, then %d.%03d a second, in whole milliseconds; a refused request costs nothing",
		n.atOnce(), n.delays(), n.rate/thousand, n.rate%thousand)
	if n.max > n.burst {
		text += fmt.Sprintf("; requests that it only counts fill it up to %d", n.max/thousand+1)
	}
	return text
}

// delays returns which of the requests at once are delayed.
func (n *Nginx) delays() string {
	if n.undelayed() == n.atOnce() {
		return ""
	}
	return fmt.Sprintf(" (those after the first %d delayed)", n.undelayed())
}

// Shape implements limit.Describer.
func (n *Nginx) Shape() limit.Shape {
	s := limit.Shape{Count: n.rate, Period: thousand * limit.Second, AtOnce: n.atOnce(), Kin: true, Unlike: "it counts finer than nginx, which counts in milliseconds"}
	if d := n.delays(); d != "" {
		s.Unlike = fmt.Sprintf("nginx delays requests after the first %d, and counts in milliseconds", n.undelayed())
	}
	return s
}
