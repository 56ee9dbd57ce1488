package calibrate

import (
	"fmt"
	"math"
	"slices"

	"shadow/limit"
)

// Limits that shut a client out for a while. While that lasts all is refused, and the limit sees nothing: so the
// refusals tell how long it lasts, and what comes outside tells the limit.
//
//	a──a──a──R──r──r──r     a──a──R──r──r──r
//	         ├───────────┤        ├───────────┤
//
// It lasts as long as it can without an admitted request inside. It begins with the first refusal, again with each, or
// with the request before, the last that was admitted.

// A ban is one such while.
type ban struct {
	length limit.Time
	from   int
}

const (
	fromFirst    = iota // refusal
	fromEach            // refusal
	fromAdmitted        // request
	fromCount
)

// outside returns the requests that come while none is in force, and counts what contradicts it.
func (b ban) outside(all []timeline) (some []timeline, against int64) {
	for i := range all {
		var own timeline
		until, admitted := limit.Time(math.MinInt64), all[i].at[0]
		for j, at := range all[i].at {
			refused, inside := all[i].verdict[j] == Refused, at < until
			switch {
			case !refused && inside:
				against++
			case refused && b.from == fromAdmitted:
				if until = admitted + b.length; at > until {
					against++
				}
				if n := len(own.at); n > 0 {
					own.verdict[n-1] = Refused // it was too much
				}
				continue
			case refused && (!inside || b.from == fromEach):
				until = at + b.length
			}
			if !refused {
				admitted = at
			}
			if !inside || !refused {
				own.at, own.verdict = append(own.at, at), append(own.verdict, all[i].verdict[j])
			}
		}
		some = append(some, own)
	}
	// A client that is refused from the first request on has none outside.
	return slices.DeleteFunc(some, func(t timeline) bool { return len(t.at) == 0 }), against
}

// likelyBans are the longest that few requests contradict. How few these are depends on how exact stamps are, and how
// often clients come again.
func (s *search) likelyBans() (all []ban) {
	var refused int64
	for i := range s.all {
		refused += s.all[i].refused
	}
	for from := range fromCount {
		for _, oneIn := range []int64{math.MaxInt64, 1000, 100} {
			longest := ban{from: from}
			for _, length := range windowPeriods {
				b := ban{length, from}
				if _, against := b.outside(s.all); against <= refused/oneIn {
					longest = b
				}
			}
			if longest.length >= limit.Second && !slices.Contains(all, longest) {
				all = append(all, longest)
			}
		}
	}
	return all
}

// bans judges limits with bans.
func (s *search) bans() {
	const kept, oneIn = 4, 500
	if !s.unexplained(oneIn) {
		return
	}
	for _, b := range s.likelyBans() {
		outside, _ := b.outside(s.all)
		if len(outside) == 0 {
			continue
		}
		for _, kind := range []windowKind{{"fixed", "align=first"}, {"window", ""}, {"fixed", ""}, {"haproxy", ""}} {
			if !s.may(kind.algorithm + ":") {
				continue
			}
			fits := kind.fits(s.periods(), outside)
			for _, fit := range fits[:min(kept, len(fits))] {
				for n := max(1, fit.low-1); n <= fit.high+1 && n <= fit.low+2; n++ {
					s.tryBan(b, kind.spec(n, fit.per))
				}
			}
		}
	}
}

// tryBan judges a limit with a ban, as those that have such call it.
func (s *search) tryBan(b ban, spec limit.Spec) {
	text, length := spec.String(), limit.FormatPeriod(b.length)
	rate := fmt.Sprintf("%d/%s", spec.Count, limit.FormatPeriod(spec.Period))
	switch b.from {
	case fromFirst:
		s.try(text + ",cooldown=" + length)
	case fromEach:
		s.try(text + ",cooldown=" + length + "/extend")
		s.try("mod-evasive:" + rate + ",block=" + length)
	case fromAdmitted:
		s.try("fail2ban:" + rate + ",bantime=" + length)
	}
}
