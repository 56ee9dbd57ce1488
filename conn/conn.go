package conn

import (
	"fmt"

	"shadow/limit"
)

// A Conn admits a request while fewer than count requests of its key are under way: admitted, and not over yet. What a
// request costs is how long it takes, in microseconds:
//
//	at            0    1    2    3    3
//	takes         3    9    1    1    1
//	conn:2        .    .    x    .    x
//	under way     1    2    2    2    2
//
// A request that begins when another ends finds its place free. The source is
// src/http/modules/ngx_http_limit_conn_module.c, ngx_http_limit_conn_handler and ngx_http_limit_conn_cleanup.
//
// In the ring of a State are the moments at which requests end, in order, each doubled (see Queue).
type Conn struct {
	count int
	queue int        // how many may wait
	wait  limit.Time // for how long each
}

// longest is as long as a request may take: one that a log says took longer counts as that.
const longest = limit.Day

// endless is longer than any request waits.
const endless = limit.Never / 4

// New returns the limiter of a spec such as conn:8 or conn:8,queue=20,wait=5s.
func New(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	queue, wait := args.Int("queue", 0), args.Duration("wait", endless)
	if err := args.Err(); err != nil {
		return nil, err
	}
	switch {
	case spec.Count < 1:
		return nil, fmt.Errorf("limit %q: at least one request must be allowed at once, such as conn:8", spec)
	case spec.Period != 0:
		return nil, fmt.Errorf("limit %q: has a period, but conn counts requests that are under way at once; want conn:%d",
			spec, spec.Count)
	case spec.Count > limit.MaxRing || queue > limit.MaxRing-spec.Count:
		return nil, fmt.Errorf("limit %q: at most %d requests can be under way or waiting", spec, limit.MaxRing)
	case queue == 0 && wait != endless:
		return nil, fmt.Errorf("limit %q: the option wait goes with queue: conn:%d,queue=20,wait=5s", spec, spec.Count)
	}
	c := Conn{int(spec.Count), int(queue), wait}
	if queue > 0 {
		// Places are handed on one after another, count at a time, each after longest.
		c.wait = min(c.wait, limit.Time(limit.CeilDiv(queue, spec.Count))*longest)
		return &Queue{c}, nil
	}
	return &c, nil
}

// under returns how many of the ring's numbers have run out by now, and how many of the others are of requests that do
// not give up.
func (c *Conn) under(s *limit.State, now limit.Time) (gone, admitted int) {
	ring := s.Ring()
	admitted = int(s.Level)
	for ; gone < ring.Len() && ring.Nth(gone)>>1 <= now; gone++ {
		admitted -= int(1 - ring.Nth(gone)&1)
	}
	return gone, admitted
}

// start returns when a request at now would start, now itself if there is room; and what under does.
func (c *Conn) start(s *limit.State, now limit.Time) (start limit.Time, gone, admitted int) {
	gone, admitted = c.under(s, now)
	before := admitted - c.count // so many of the others end before a place is free
	if before < 0 {
		return now, gone, admitted
	}
	ring := s.Ring()
	if ring.Len()-gone == admitted { // none gives up
		return ring.Nth(gone+before) >> 1, gone, admitted
	}
	for i := gone; ; i++ {
		if end := ring.Nth(i); end&1 == 1 {
			continue
		} else if before == 0 {
			return end >> 1, gone, admitted
		}
		before--
	}
}

// WaitFor implements limit.Weigher.
func (c *Conn) WaitFor(s *limit.State, t limit.Time, _ int64) limit.Time {
	now := c.now(s, t)
	start, gone, _ := c.start(s, now)
	free := start
	if c.queue > 0 && start > now {
		free = start - c.wait // from when on it would not wait for too long
		if over := s.Ring().Len() - gone - c.count - c.queue; over >= 0 {
			free = max(free, min(start, s.Ring().Nth(gone+over)>>1)) // by when the queue has a place
		}
	}
	if free <= now {
		return 0
	}
	return limit.WaitFrom(t, now, free-now)
}

// ChargeFor implements limit.Weigher.
func (c *Conn) ChargeFor(s *limit.State, t limit.Time, takes int64, refused bool) {
	now := c.now(s, t)
	start, gone, admitted := c.start(s, now)
	waits := start > now && s.Ring().Len()-gone-c.count < c.queue
	s.DropFirst(gone)
	s.At, s.Level, s.Extra = now, int64(admitted), 1
	if c.queue == 0 {
		start = now // also of one that another limit admits beyond count
	}
	switch takes := limit.Time(min(max(takes, 0), int64(longest))); {
	case refused && waits && start-now > c.wait:
		s.Insert((now+c.wait)<<1 | 1)
	case !refused && start+takes > now:
		s.Insert((start + takes) << 1)
		s.Level++
	}
}

// Carries implements limit.Carrier: others that count in the same place may have more room.
func (c *Conn) Carries(*limit.State, limit.Time) bool { return true }

// now returns the moment at which a request at t counts.
func (c *Conn) now(s *limit.State, t limit.Time) limit.Time {
	if s.Extra == 0 {
		return t
	}
	return max(s.At, t)
}

// Wait implements limit.Limiter.
func (c *Conn) Wait(s *limit.State, t limit.Time) limit.Time { return c.WaitFor(s, t, 1) }

// Charge implements limit.Limiter.
func (c *Conn) Charge(s *limit.State, t limit.Time, refused bool) { c.ChargeFor(s, t, 1, refused) }

// Refuse implements limit.Limiter.
func (c *Conn) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		refused := c.Wait(s, t) > 0
		if c.Charge(s, t, refused); refused {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// Horizon implements limit.Limiter.
func (c *Conn) Horizon() limit.Time { return longest }

// Level implements limit.Leveler: how many requests are under way or wait.
func (c *Conn) Level(s *limit.State, t limit.Time) float64 {
	_, admitted := c.under(s, c.now(s, t))
	return float64(admitted)
}

// Semantics implements limit.Explainer.
func (c *Conn) Semantics() string {
	return "admits a request while fewer than so many are under way; a refused one does not count"
}
