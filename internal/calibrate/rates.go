package calibrate

import (
	"cmp"
	"slices"

	"shadow/limit"
)

// Rates of buckets: those that people write, and those near the best of all.

// A rate is a number of requests per length of time as a limit has it.
type rate struct {
	n         int64
	per       limit.Time
	perSecond float64 // as the limiter keeps it
	nginx     bool
	size
}

// ratePeriods are the lengths by which rates are written, the usual ones first.
var ratePeriods = []limit.Time{
	limit.Second, limit.Minute, limit.Hour, limit.Day, 10 * limit.Second, 30 * limit.Second, 5 * limit.Minute, 15 * limit.Minute,
	10 * limit.Minute, 2 * limit.Second, 5 * limit.Second, 20 * limit.Second, 2 * limit.Minute, 30 * limit.Minute,
}

const usualPeriods = 4

// rates returns the rates of buckets with the fewest contradictions: of all numbers that people write, and of those
// near the best rate of all.
func (s *search) rates() (kept []rate) {
	const odd = 6
	scanned, each := 6, 2 // of each period
	if s.Whole {
		scanned, each = 20, 6
	}
	least, most := 0.5/seconds(s.span), 5000.0
	all := slices.DeleteFunc(simpleRates(least, most), func(r rate) bool {
		return s.Only && (s.Prefer != "nginx" || r.per != limit.Second && r.per != limit.Minute)
	})
	all = sized(all, s.few, bucketNeeds)
	if len(all) == 0 {
		return nil
	}
	all = sized(ofEach(all, scanned), s.all, bucketNeeds)
	kept = ofEach(all, each)
	if s.Whole || all[0].wrong <= s.requests()/explained {
		return kept // whole seconds are too coarse for numbers that people do not write
	}
	try := func(perSecond float64) int64 { n := bucketNeeds(s.few, perSecond); return n.best().wrong }
	best, wrong := all[0].perSecond, try(all[0].perSecond)
	for r := least; r < most; r *= 1.03 {
		if got := try(r); got < wrong {
			best, wrong = r, got
		}
	}
	for step := 0.02; step > 0.0005; step /= 2 {
		for _, r := range []float64{best * (1 - step), best * (1 + step)} {
			if got := try(r); got < wrong {
				best, wrong = r, got
			}
		}
	}
	near := sized(ratesNear(best, 0.02), s.all, bucketNeeds)
	return append(kept, near[:min(odd, len(near))]...)
}

// sized finds the size for each rate. The best come first.
func sized(all []rate, by []timeline, needs func([]timeline, float64) needs) []rate {
	for i := range all {
		n := needs(by, all[i].perSecond)
		all[i].size = n.best()
	}
	slices.SortStableFunc(all, func(x, y rate) int { return cmp.Compare(x.wrong, y.wrong) })
	return all
}

// ofEach are the first so many rates of each period. A rate by the day is near any other, so it would crowd those out.
func ofEach(all []rate, n int) (some []rate) {
	of := map[limit.Time]int{}
	for _, r := range all {
		if of[r.per]++; of[r.per] <= n {
			some = append(some, r)
		}
	}
	return some
}

// rateList collects rates, each once: the first way in which it is written.
type rateList struct {
	all         []rate
	seen        map[float64]bool
	least, most float64
}

func (l *rateList) add(n int64, per limit.Time) {
	list := func(r rate) {
		if r.perSecond >= l.least && r.perSecond <= l.most && !l.seen[r.perSecond] {
			l.seen[r.perSecond] = true
			l.all = append(l.all, r)
		}
	}
	if n < 1 {
		return
	}
	list(rate{n: n, per: per, perSecond: float64(n) / seconds(per)})
	if per == limit.Second || per == limit.Minute { // as nginx keeps it
		list(rate{n: n, per: per, perSecond: float64(n*1000/int64(per/limit.Second)) / 1000, nginx: true})
	}
}

// simpleRates returns the rates with few digits.
func simpleRates(least, most float64) []rate {
	l := &rateList{seen: map[float64]bool{}, least: least, most: most}
	for i, per := range ratePeriods {
		upTo := int64(30)
		if i < usualPeriods {
			upTo = 120
		}
		for n := int64(1); n <= upTo; n++ {
			l.add(n, per)
		}
		if i >= usualPeriods {
			continue
		}
		for _, tens := range []int64{10, 100, 1000} {
			for n := int64(10); n < 100; n++ {
				l.add(n*tens, per)
			}
		}
	}
	return l.all
}

// ratesNear are the rates that lie near one.
func ratesNear(perSecond, near float64) []rate {
	l := &rateList{seen: map[float64]bool{}, least: perSecond * (1 - near), most: perSecond * (1 + near)}
	const each = 3 // numbers above and below
	for _, per := range ratePeriods {
		middle := int64(perSecond * seconds(per))
		for n := middle - each; n <= middle+each+1; n++ {
			l.add(n, per)
		}
	}
	return l.all
}
