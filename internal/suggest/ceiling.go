package suggest

import (
	"math"
	"math/bits"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/internal/sweep"
	"shadow/limit"
)

// What does a limit still allow a client that takes all it can get? Let it begin with a full bucket or an empty window,
// at its best moment, and count what is admitted in less than a time T from then on:
//
//	token bucket     burst + ⌈count·T/per⌉ − 1     the burst at once, and each token as it comes
//	rolling window   N · ⌈T/W⌉                     N at once, and again as the window lets go of them
//	fixed windows    N · (⌈T/W⌉ + 1)               as before, but begun just before a window ends
//
// What comes T after the first is not in it, as in the busiest hour of replay's Harm, which can never exceed it.

// Admits is the most that one client is admitted in less than a time; a limit must be at least 1. A number that does not fit is
// the largest that does.
func Admits(s sweep.Shape, n int64, time limit.Time) int64 {
	switch s.Kind {
	case sweep.UnderWay:
		return math.MaxInt64
	case sweep.Token:
		tokens := ceilProduct(s.Rate.Count, int64(time), int64(s.Rate.Per)) - 1
		return n + min(tokens, math.MaxInt64-n)
	}
	windows := limit.CeilDiv(int64(time), int64(s.Per))
	if s.Kind == sweep.Fixed {
		windows++
	}
	return ceilProduct(n, windows, 1)
}

// admits is Admits of a limit as replay takes it, in its own arithmetic. A server may forget a client that is silent for a
// while sooner than its bucket is full: then the most comes of a burst, and another one once it is forgotten.
func admits(text string, s sweep.Shape, n int64, time limit.Time) int64 {
	most := Admits(s, n, time)
	policies, err := policy.ParseLimits([]string{text}, request.ByClient)
	if err != nil {
		return most
	}
	if forgets, ok := policies[0].Parts[0].Limiter.(interface{ Most(span limit.Time) float64 }); ok {
		return max(most, int64(min(forgets.Most(time), math.MaxInt64/2)))
	}
	return most
}

// admits returns that of the suggestion's limit of a size.
func (s *Suggestion) admits(n int64, time limit.Time) int64 {
	text, _ := s.family.text(n)
	return admits(text, s.Shape, n, time)
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

// A Ceiling is a limit that is offered where there is no client to protect: what it still allows, and what it would have
// refused.
type Ceiling struct {
	sweep.Shape
	N     int64
	Whole Figures // of the whole log
}

// Limit is the ceiling as replay takes it.
func (c *Ceiling) Limit() string { return c.Shape.Limit(c.N) }

// ceilings are limits for requests of which people make a few and attackers many: the strictest in a day first.
func ceilings() []Ceiling {
	token := func(count int64, per limit.Time, burst int64) Ceiling {
		return Ceiling{Shape: sweep.Shape{Kind: sweep.Token, Rate: sweep.Rate{Count: count, Per: per}}, N: burst}
	}
	window := func(n int64, per limit.Time) Ceiling {
		return Ceiling{Shape: sweep.Shape{Kind: sweep.Window, Per: per}, N: n}
	}
	return []Ceiling{
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

// NoneProtected reports whether no client to protect sent requests of an action, though some of the target did.
func (a *Advice) NoneProtected() bool {
	return a.Action != "" && a.targeted() > 0 && !slices.ContainsFunc(a.Choosing(), func(p *Part) bool {
		return p.Clients.Of(a.Protected()) > 0
	})
}
