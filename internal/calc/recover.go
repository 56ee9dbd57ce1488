package calc

import (
	"sort"

	"shadow/limit"
)

// How long a client that used up all that a limit admits at once must pause until it admits as many at once again. The
// shape of a limit does not tell: one that estimates from two windows still counts, a window later, what came before.

// phases is the number of moments of a period to try: limiters that count on a grid differ between them.
const phases = 8

// mostRests limits the pause, as a multiple of the time that it takes to fill; after that the limiter never recovers.
const mostRests = 64

// recovery is the shortest pause that is enough at each phase of period, 0 if there is none. full is a guess. Longer
// pauses are enough as well, so bisection finds it.
func recovery(l limit.Limiter, period limit.Time, atOnce int64, full limit.Time) limit.Time {
	longest := limit.Time(0)
	for i := range limit.Time(phases + 1) {
		u := useUp(l, min(i*(period/phases), period-1), atOnce)
		defer u.state.Release()
		if u.recovered(longest) {
			continue
		}
		short, long := longest, max(longest, full)
		for !u.recovered(long) {
			if short, long = long, 2*long; short > mostRests*full {
				return 0
			}
		}
		more := sort.Search(int(long-short), func(i int) bool { return u.recovered(short + limit.Time(i)) })
		longest = short + limit.Time(more)
	}
	return longest
}

// A usedUp is a limiter that admitted at start what it admits at once.
type usedUp struct {
	limiter limit.Limiter
	state   limit.State
	start   limit.Time
	atOnce  int64
}

func useUp(l limit.Limiter, start limit.Time, atOnce int64) *usedUp {
	u := &usedUp{limiter: l, start: start, atOnce: atOnce}
	u.admits(&u.state, start)
	return u
}

// admits sends as many at once at t, and reports whether all were admitted; it stops where one is not.
func (u *usedUp) admits(s *limit.State, t limit.Time) bool {
	for range u.atOnce {
		if u.limiter.Wait(s, t) > 0 {
			return false
		}
		u.limiter.Charge(s, t, false)
	}
	return true
}

// recovered reports whether a pause is enough.
func (u *usedUp) recovered(pause limit.Time) bool {
	s := u.state.Clone()
	defer s.Release()
	return u.admits(&s, u.start+pause)
}
