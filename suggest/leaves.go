package suggest

import (
	"math"
	"math/bits"

	"shadow/limit"
	"shadow/policy"
	"shadow/request"
	"shadow/sweep"
)

// What does a limit leave to somebody who takes all that he can get? Let him begin with a full bucket or an empty window,
// at the moment that suits him best, and count what is admitted in less than a time T from then on:
//
//	token bucket     burst + ⌈count·T/per⌉ − 1     the burst at once, and each token as it comes
//	rolling window   N · ⌈T/W⌉                     N at once, and again as the window lets go of them
//	fixed windows    N · (⌈T/W⌉ + 1)               as before, but begun just before a window ends
//
// What comes T after the first is not in it, as in the busiest hour of replay's Harm, which can never exceed it.

// Leaves is the most that one client is admitted in less than a time; a limit must be at least 1. A number that does not fit is
// the largest that does.
func Leaves(s sweep.Shape, n int64, time limit.Time) int64 {
	if s.Kind == sweep.Token {
		return plus(n, ceilProduct(s.Rate.Count, int64(time), int64(s.Rate.Per))-1)
	}
	windows := limit.CeilDiv(int64(time), int64(s.Per))
	if s.Kind == sweep.Fixed {
		windows++
	}
	return ceilProduct(n, windows, 1)
}

// ceilProduct is x·y/z, rounded up.
func ceilProduct(x, y, z int64) int64 {
	high, low := bits.Mul64(uint64(x), uint64(y))
	low, carry := bits.Add64(low, uint64(z-1), 0)
	if high += carry; high >= uint64(z) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, uint64(z))
	return int64(min(quotient, math.MaxInt64))
}

func plus(x, y int64) int64 {
	if x > math.MaxInt64-y {
		return math.MaxInt64
	}
	return x + y
}

// A Bound is a limit that is offered where there is nobody to spare: what it leaves, and what it would have refused.
type Bound struct {
	sweep.Shape
	N     int64
	Whole Figures // of the whole log
}

// Limit is the bound as replay takes it.
func (b *Bound) Limit() string { return b.Shape.Limit(b.N) }

// Nginx is what nginx is to be told for the bound; false if it has no such limit.
func (b *Bound) Nginx() (policy.NginxTwin, bool) {
	p, err := policy.ParseLimits([]string{b.Limit()}, request.ByClient)
	if err != nil {
		return policy.NginxTwin{}, false
	}
	return policy.NginxOf(p[0])
}

// Times are those for which it is told what a limit leaves.
var Times = [3]limit.Time{limit.Minute, limit.Hour, limit.Day}

// bounds are limits for requests of which people make a few and attackers many: the strictest in a day first.
func bounds() []Bound {
	token := func(count int64, per limit.Time, burst int64) Bound {
		return Bound{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: count, Per: per}}, N: burst}
	}
	window := func(n int64, per limit.Time) Bound {
		return Bound{Shape: sweep.Shape{Kind: sweep.Window, Per: per}, N: n}
	}
	return []Bound{
		window(20, limit.Day),
		token(1, limit.Hour, 5),
		token(1, 10*limit.Minute, 5),
		window(10, limit.Hour),
		window(5, 15*limit.Minute),
		token(1, limit.Minute, 5),
		token(1, limit.Minute, 10),
		token(6, limit.Minute, 10),
		token(1, limit.Second, 10),
	}
}

// Unspared reports whether in the requests of an action there is nobody to hold a promise against, though there is somebody
// to stop.
func (a *Advice) Unspared() bool {
	return a.Action != "" && a.First.Clients.Of(a.spared()) == 0 && a.First.Requests.Of(a.Stop) > 0
}
