package replay_test

import "shadow/limit"

// Limiters that are small, and differ from the real ones in what matters to combinations: they count what was refused,
// keep a key out, keep requests waiting.

// spite counts every request, refused ones too: n per period, which begins with the first request after the last one
// ended.
type spite struct {
	n   int64
	per limit.Time
}

func (l spite) at(s *limit.State, t limit.Time) (start limit.Time, n int64) {
	if s.Extra == 0 || t-s.At >= l.per {
		return t, 0
	}
	return s.At, s.Level
}

func (l spite) Wait(s *limit.State, t limit.Time) limit.Time {
	start, n := l.at(s, t)
	if n < l.n {
		return 0
	}
	return l.per - max(0, t-start)
}

func (l spite) Charge(s *limit.State, t limit.Time, _ bool) {
	start, n := l.at(s, t)
	*s = limit.State{At: start, Level: n + 1, Extra: 1}
}

func (l spite) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	return refuseSlowly(l, dst, s, at)
}

func (l spite) Horizon() limit.Time { return l.per }

// grudge keeps a key out for a while after each request that was refused, by whatever limit.
type grudge struct{ per limit.Time }

func (l grudge) Wait(s *limit.State, t limit.Time) limit.Time {
	if s.Extra == 0 || t >= s.At {
		return 0
	}
	return s.At - t
}

func (l grudge) Charge(s *limit.State, t limit.Time, refused bool) {
	if refused && l.Wait(s, t) == 0 {
		*s = limit.State{At: t + l.per, Extra: 1}
	}
}

func (l grudge) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	return refuseSlowly(l, dst, s, at)
}

func (l grudge) Horizon() limit.Time { return l.per }

// queue serves a request in each, and keeps up to n waiting.
type queue struct {
	n    int64
	each limit.Time
}

// backlog returns how long the queue takes at t.
func (l queue) backlog(s *limit.State, t limit.Time) limit.Time {
	if s.Extra == 0 {
		return 0
	}
	return max(0, s.At-t)
}

func (l queue) Wait(s *limit.State, t limit.Time) limit.Time {
	return max(0, l.backlog(s, t)-limit.Time(l.n)*l.each)
}

func (l queue) Delay(s *limit.State, t limit.Time) limit.Time { return l.backlog(s, t) }

func (l queue) Charge(s *limit.State, t limit.Time, refused bool) {
	if !refused {
		*s = limit.State{At: t + l.backlog(s, t) + l.each, Extra: 1}
	}
}

func (l queue) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	return refuseSlowly(l, dst, s, at)
}

func (l queue) RefuseAndDelay(dst []int32, late []limit.Delayed, s *limit.State, at []limit.Time) ([]int32, []limit.Delayed) {
	for i, t := range at {
		switch delay := l.Delay(s, t); {
		case l.Wait(s, t) > 0:
			dst = append(dst, int32(i))
			continue
		case delay > 0:
			late = append(late, limit.Delayed{Index: int32(i), By: delay})
		}
		l.Charge(s, t, false)
	}
	return dst, late
}

func (l queue) Horizon() limit.Time { return limit.Time(l.n+1) * l.each }

func refuseSlowly[L limit.Limiter](l L, dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		refused := l.Wait(s, t) > 0
		l.Charge(s, t, refused)
		if refused {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// guess is an approximation of which nothing is known but between what and what it lies.
type guess struct {
	limit.Limiter
	low, high limit.Limiter
}

func (g guess) Variants() []limit.Limiter { return []limit.Limiter{g.low, g.high} }
