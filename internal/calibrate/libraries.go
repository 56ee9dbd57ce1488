package calibrate

import (
	"fmt"
	"math"
	"slices"

	"shadow/limit"
)

// What libraries do otherwise than servers: tokens that come whole, windows that a tick of the clock makes longer, and
// clients that are shut out for a while. They are tried where nothing else explains the verdicts.

// unexplained reports whether more than one verdict in so many contradicts the best so far.
func (s *search) unexplained(oneIn int64) bool {
	best := s.ranked()
	return !s.Whole && len(best) > 0 && s.wrong[best[0]] > s.requests()/oneIn
}

// throttles judges those of Varnish, where no other limit explains the verdicts. They fill at a rate, in whole tokens.
func (s *search) throttles() {
	const scanned, kept = 6, 2
	if !s.unexplained(explained) {
		return
	}
	all := sized(simpleRates(0.5/seconds(s.span), 5000), s.few, throttleNeeds)
	for _, r := range ofEach(sized(ofEach(all, scanned), s.all, throttleNeeds), kept) {
		for _, hold := range r.sizes() {
			if whole := hold * int64(r.per); !r.nginx && whole%r.n == 0 {
				s.try(fmt.Sprintf("vsthrottle:%d/%s", hold, limit.FormatPeriod(limit.Time(whole/r.n))))
			}
		}
	}
}

// windowsOfLibraries judges what libraries make of the numbers that explain most so far, if people write them.
func (s *search) windowsOfLibraries() {
	const numbers, oneIn = 6, 500 // numbers of each algorithm
	if !s.unexplained(oneIn) {
		return
	}
	type pair struct {
		n   int64
		per limit.Time
	}
	seen, of := map[pair]bool{}, map[string]int{}
	for _, text := range s.ranked() {
		spec, err := limit.Parse(text)
		p := pair{spec.Count, spec.Period}
		if err != nil || !slices.Contains(windowPeriods, p.per) || of[spec.Algorithm] == numbers {
			continue
		}
		if of[spec.Algorithm]++; spec.Algorithm == "token" && spec.Options != "" {
			s.try(text + ",clock=1ms")
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		per, longer := limit.FormatPeriod(p.per), limit.FormatPeriod(p.per+limit.Microsecond)
		s.try(fmt.Sprintf("fixed:%d/%s,align=first,clock=1ms", p.n, per))
		s.try(fmt.Sprintf("fixed:%d/%s,align=first,clock=1s", p.n, per))
		s.try(fmt.Sprintf("fixed:%d/%s,align=first", p.n, longer))
		s.try(fmt.Sprintf("fixed:%d/%[2]s,align=first,clock=1ms,cooldown=%[2]s/extend", p.n, per))
		s.try(fmt.Sprintf("window:%d/%s", p.n, longer))
		s.try(fmt.Sprintf("counter:%d/%s,round=nearest", p.n, per))
		s.try(fmt.Sprintf("counter:%d/%s,round=down", p.n, per))
	}
}

// bans judges limits that shut a client out for a while. A streak of refusals then lasts as long each time, so the streaks
// tell how long, and what was admitted before each tells the limit.
func (s *search) bans() {
	const kept = 6
	length := s.banned()
	if !s.unexplained(explained) || length == 0 {
		return
	}
	ban := limit.FormatPeriod(length)
	few := free(s.few)
	type found struct {
		per limit.Time
		size
	}
	for _, kind := range []windowKind{{"fixed", "align=first"}, {"window", ""}, {"fixed", ""}} {
		var all []found
		for _, per := range windowPeriods {
			if l, err := kind.limiter(per); err == nil && per <= max(s.span, limit.Minute) {
				n := windowNeeds(few, l)
				all = append(all, found{per, n.best()})
			}
		}
		slices.SortStableFunc(all, func(x, y found) int { return int(x.wrong - y.wrong) })
		for _, f := range all[:min(kept, len(all))] {
			for _, n := range f.sizes() {
				for n := max(1, n-1); n <= f.high+1 && n <= f.low+3; n++ {
					rate := fmt.Sprintf("%d/%s", n, limit.FormatPeriod(f.per))
					s.try("fail2ban:" + rate + ",bantime=" + ban)
					s.try("mod-evasive:" + rate + ",block=" + ban)
					s.try("fixed:" + rate + ",align=first,clock=1ms,cooldown=" + ban)
					s.try("fixed:" + rate + ",align=first,clock=1ms,cooldown=" + ban + "/extend")
					s.try("window:" + rate + ",cooldown=" + ban)
				}
			}
		}
	}
}

// streaks calls of for each streak of refusals: when it begins, its last refusal, and the next request that was admitted.
func streaks(all []timeline, of func(begin, last, next limit.Time)) {
	for i := range all {
		t := &all[i]
		for j := 0; j < len(t.at); j++ {
			if t.verdict[j] != Refused {
				continue
			}
			begin := t.at[j]
			for j+1 < len(t.at) && t.verdict[j+1] == Refused {
				j++
			}
			if j+1 < len(t.at) {
				of(begin, t.at[j], t.at[j+1])
			}
		}
	}
}

// banned is the length that most streaks agree on; 0 if there is none. A ban that each refusal extends counts from the last.
func (s *search) banned() (best limit.Time) {
	const oneIn = 10
	least := int64(math.MaxInt64)
	for _, length := range windowPeriods {
		for _, extends := range []bool{false, true} {
			var against, known, of int64
			streaks(s.few, func(begin, last, next limit.Time) {
				from := begin
				if extends {
					from = last
				}
				of++
				if last-begin >= length && !extends || next-from < length {
					against++
				} else if next-from < 2*length {
					known++
				}
			})
			if of > 0 && against < of/oneIn && known > of/oneIn && against-known < least {
				best, least = length, against-known
			}
		}
	}
	return best
}

// free are the requests that were admitted, and the first of each streak of refusals.
func free(all []timeline) (some []timeline) {
	for _, t := range all {
		var own timeline
		for j := range t.at {
			if j == 0 || t.verdict[j] != Refused || t.verdict[j-1] != Refused {
				own.at, own.verdict = append(own.at, t.at[j]), append(own.verdict, t.verdict[j])
			}
		}
		some = append(some, own)
	}
	return some
}
