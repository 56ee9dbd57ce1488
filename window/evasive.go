package window

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"shadow/limit"
)

// mod_evasive of Apache: mod-evasive:N/P,block=B
//
// N is DOSSiteCount (by client) or DOSPageCount (by client and path), P the interval and B DOSBlockingPeriod. The module
// keeps a count and the moment of the last request, in whole seconds:
//
//	held, less than B since the hold          refused; the hold begins again
//	else less than P since the last request   refused when the count is N or more, which begins a hold; counted
//	else                                      the count is 0; counted
//
// So it is a silence of P that ends a window, and not its length. The first request of all makes a count of 0, the first
// after a silence one of 1. So N+1 are admitted at once by the first window, and N by later ones.
//
// Source: mod_evasive 1.10.1, mod_evasive20.c, access_checker. Its children each count for themselves, and its table may
// drop keys; both are left out.
//
// State: At is the second of the last request that was counted, Level that in which the hold began, none for a key that
// was never held, Extra 1 + the count.

// Evasive is a count of mod_evasive.
type Evasive struct {
	count         int64 // requests
	period, block limit.Time
}

// none marks a key that was never held, as the time when its hold began.
const none = math.MinInt64

// NewEvasive makes the limit that spec describes: mod-evasive:N/P with the option block.
func NewEvasive(spec limit.Spec) (limit.Limiter, error) {
	args := spec.Args()
	block := args.Duration("block", 10*limit.Second)
	if err := cmp.Or(args.Err(), spec.Positive()); err != nil {
		return nil, err
	}
	if spec.Period%limit.Second != 0 || block%limit.Second != 0 {
		return nil, fmt.Errorf("limit %q: mod_evasive counts in whole seconds", spec)
	}
	return &Evasive{spec.Count, spec.Period, block}, nil
}

// Horizon is Never: the first request of all counts less than any other.
func (e *Evasive) Horizon() limit.Time { return limit.Never }

// second is the second of t, or the latest of the key.
func (e *Evasive) second(s *limit.State, t limit.Time) limit.Time {
	past := t % limit.Second
	if past < 0 {
		past += limit.Second
	}
	if s.Extra == 0 {
		return back(t, past)
	}
	return max(back(t, past), s.At, limit.Time(s.Level))
}

// held reports whether a key is held at a second.
func (e *Evasive) held(s *limit.State, now limit.Time) bool {
	return s.Extra != 0 && s.Level != none && uint64(now-limit.Time(s.Level)) < uint64(e.block)
}

// full reports whether the count refuses a request.
func (e *Evasive) full(s *limit.State, now limit.Time) bool {
	return s.Extra-1 >= e.count && uint64(now-s.At) < uint64(e.period)
}

// Wait implements limit.Limiter.
func (e *Evasive) Wait(s *limit.State, t limit.Time) limit.Time {
	now := e.second(s, t)
	free := now
	if e.held(s, now) {
		free = limit.Later(limit.Time(s.Level), e.block)
	}
	if e.full(s, free) {
		free = limit.Later(s.At, e.period)
	}
	if free == now {
		return 0
	}
	return free - t
}

// Charge implements limit.Limiter.
func (e *Evasive) Charge(s *limit.State, t limit.Time, _ bool) {
	now := e.second(s, t)
	switch {
	case s.Extra == 0:
		s.At, s.Level, s.Extra = now, none, 1
		return
	case e.held(s, now):
		s.Level = int64(now)
		return
	case e.full(s, now):
		s.Level = int64(now)
	case uint64(now-s.At) >= uint64(e.period):
		s.Extra = 1
	}
	s.At = now
	s.Extra++
}

// CountsRefused implements limit.RefusalCounter.
func (e *Evasive) CountsRefused() bool { return true }

// Refuse implements limit.Limiter.
func (e *Evasive) Refuse(dst []int32, s *limit.State, at []limit.Time) []int32 {
	for i, t := range at {
		now := e.second(s, t)
		if e.held(s, now) || e.full(s, now) {
			dst = append(dst, int32(i))
		}
		e.Charge(s, t, false)
	}
	return dst
}

// Level implements limit.Leveler: the count.
func (e *Evasive) Level(s *limit.State, t limit.Time) float64 {
	now := e.second(s, t)
	if s.Extra == 0 || !e.held(s, now) && uint64(now-s.At) >= uint64(e.period) {
		return 0
	}
	return float64(s.Extra - 1)
}

// Semantics implements limit.Describer.
func (e *Evasive) Semantics() string {
	return fmt.Sprintf("mod_evasive: at most %d more with less than %s between one and the next, then nothing until none has come for %s; in whole seconds",
		e.count, limit.FormatPeriod(e.period), limit.FormatPeriod(e.block))
}

// Shape implements limit.Describer.
func (e *Evasive) Shape() limit.Shape {
	return limit.Shape{
		Count: e.count, Period: e.period, AtOnce: e.count + 1,
		Unlike: "it counts refused requests: who does not pause stays out",
	}
}

// Sharing implements limit.Sharer.
func (e *Evasive) Sharing() (limit.Sharing, error) {
	return limit.Sharing{}, errors.New("mod_evasive counts in each process of one host; the nearest that can be shared is window with charge=all")
}
