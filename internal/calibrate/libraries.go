package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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

// steps judges buckets that are filled in steps, and hold more than one, where no other limit explains the verdicts. In
// the long run they let through what the best other bucket does, or nearly so.
func (s *search) steps(best rate) {
	const kept, oneIn, near, most = 3, 200, 0.5, 30
	if !s.unexplained(oneIn) {
		return
	}
	for _, kind := range []string{"token:%d/%s,burst=%d,refill=interval", "envoy-local:%d/%s,burst=%d"} {
		var all []rate
		for _, per := range s.periods() {
			middle := best.perSecond * seconds(per)
			for n := math.Ceil(middle * (1 - near)); n <= min(middle*(1+near), most) && n > 0; n++ {
				if j, err := newJudge(fmt.Sprintf(kind, int64(n), limit.FormatPeriod(per), boundless), false); err == nil {
					needs := windowNeeds(s.few, j.limiters[0])
					all = append(all, rate{n: int64(n), per: per, size: needs.best()})
				}
			}
		}
		slices.SortStableFunc(all, func(x, y rate) int { return cmp.Compare(x.wrong, y.wrong) })
		for _, r := range all[:min(kept, len(all))] {
			for _, hold := range r.sizes() {
				s.try(fmt.Sprintf(kind, r.n, limit.FormatPeriod(r.per), hold))
			}
		}
	}
}

// windowsOfLibraries judges what libraries make of the numbers that explain most so far, if people write them.
func (s *search) windowsOfLibraries() {
	const numbers, oneIn = 6, 2000 // numbers of each algorithm
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
		of[spec.Algorithm]++
		if spec.Algorithm == "token" || strings.Contains(text, "cooldown") {
			s.try(text + ",clock=1ms")
		}
		if spec.Algorithm == "token" {
			s.try(afresh(spec))
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		per, longer := limit.FormatPeriod(p.per), limit.FormatPeriod(p.per+limit.Microsecond)
		s.try(fmt.Sprintf("fixed:%d/%s,align=first,clock=1ms", p.n, per))
		s.try(fmt.Sprintf("fixed:%d/%s,align=first,clock=1s", p.n, per))
		s.try(fmt.Sprintf("fixed:%d/%s,align=first", p.n, longer))
		s.try(fmt.Sprintf("fixed:%d/%s,align=first,clock=1ms", p.n, limit.FormatPeriod(p.per+limit.Millisecond)))
		s.try(fmt.Sprintf("window:%d/%s", p.n, longer))
		s.try(fmt.Sprintf("counter:%d/%s,round=nearest", p.n, per))
		s.try(fmt.Sprintf("counter:%d/%s,round=down", p.n, per))
	}
}

// afresh is a token bucket of the same rate and size that is filled evenly, and holds one token at first.
func afresh(spec limit.Spec) string {
	if spec.Period < limit.Second && limit.Second%spec.Period == 0 {
		spec.Count, spec.Period = spec.Count*int64(limit.Second/spec.Period), limit.Second
	}
	return strings.TrimSuffix(strings.TrimSuffix(spec.String(), "refill=interval"), ",") + ",initial=1"
}
