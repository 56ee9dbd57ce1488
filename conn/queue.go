package conn

import "shadow/limit"

// A Queue is a Conn before which up to so many requests wait for a place, the first that came first: as before the
// servers of HAProxy (maxqueue, timeout queue) and behind a circuit breaker of Envoy (max_pending_requests).
//
//	at                         0    0    1    2    4    5    6
//	takes                      5    9    2    2    2    1    1
//	conn:2,queue=1,wait=3s     .    .    x    x    d    d    x
//	starts at                  0    0              5    7          the third would start at 5, and gives up at 4
//
// Requests leave the queue in the order in which they came, so when a new one starts is known when it comes: when all
// of those before it but count−1 have ended. One that would wait for longer than allowed is refused, and holds its place
// in the queue until it gives up. In the ring of a State that is one more than the moment doubled.
//
// The sources are src/queue.c of HAProxy, pendconn_add and pendconn_redistribute, and what it says of timeout queue.
type Queue struct{ Conn }

// Delay implements limit.Delayer.
func (q *Queue) Delay(s *limit.State, t limit.Time) limit.Time {
	now := q.now(s, t)
	start, _, _ := q.start(s, now)
	return start - now
}

// LongestDelay implements limit.Delayer.
func (q *Queue) LongestDelay() limit.Time { return q.wait }

// RefuseAndDelay implements limit.Delayer.
func (q *Queue) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) (
	[]int32, []limit.Delayed,
) {
	for i, t := range at {
		refused := q.Wait(s, t) > 0
		if refused {
			dst = append(dst, int32(i))
		} else if by := q.Delay(s, t); by > 0 {
			late = append(late, limit.Delayed{Index: int32(i), By: by})
		}
		q.Charge(s, t, refused)
	}
	return dst, late
}

// Horizon implements limit.Limiter.
func (q *Queue) Horizon() limit.Time { return q.wait + longest }

// Semantics implements limit.Explainer.
func (q *Queue) Semantics() string {
	return "admits a request while fewer than so many are under way, and has more wait for a place; " +
		"one that gives up holds its place until then"
}
