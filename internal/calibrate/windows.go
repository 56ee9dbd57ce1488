package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Windows of each kind, by their lengths.

// windowPeriods lists the periods of windows.
var windowPeriods = slices.Concat(
	times(limit.Millisecond, 100, 200, 250, 500, 1500, 2500),
	times(limit.Second, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 45, 50),
	times(limit.Second, 60, 75, 90, 120, 150, 180, 240, 300, 360, 420, 480, 600, 720, 900, 1200, 1500, 1800, 2700),
	times(limit.Hour, 1, 2, 3, 4, 6, 8, 12, 24))

func times(unit limit.Time, counts ...limit.Time) []limit.Time {
	return mapped.Of(counts, func(n limit.Time) limit.Time { return n * unit })
}

// A windowKind is a kind of windows: its limits by how they are written.
type windowKind struct{ algorithm, options string }

var windowKinds = []windowKind{
	{"window", ""},
	{"window", "charge=all"},
	{"fixed", ""},
	{"fixed", "align=first"},
	{"counter", ""},
	{"counter", "charge=all"},
	{"counter", "round=nearest"},
	{"symfony-sliding", ""},
	{"token", "refill=interval"},
	{"haproxy", ""},
	{"haproxy", "charge=admitted"},
}

func (k windowKind) spec(n int64, per limit.Time) limit.Spec {
	return limit.Spec{Algorithm: k.algorithm, Count: n, Period: per, Options: k.options}
}

// boundless is the size of a window that refuses no client: as many as one may have.
const boundless = limit.MaxRing

// A windowFit says how well the windows of a kind and a period fit: the sizes that are contradicted least.
type windowFit struct {
	per limit.Time
	size
}

// rank orders fits, those first that are contradicted least, and of those the usual ones.
func rank(all []windowFit, span limit.Time) {
	slices.SortStableFunc(all, func(x, y windowFit) int {
		return cmp.Or(cmp.Compare(x.wrong, y.wrong), cmp.Compare(rarity(x.per, span), rarity(y.per, span)))
	})
}

// windows judges the windows that are contradicted least, of each kind those of the best periods.
func (s *search) windows() {
	const scanned = 6
	for _, kind := range windowKinds {
		if !s.may(kind.algorithm + ":") {
			continue
		}
		likely := mapped.Of(kind.fits(s.periods(), s.few), func(f windowFit) limit.Time { return f.per })
		all := kind.fits(likely[:min(scanned, len(likely))], s.all)
		for _, f := range s.kept(s.refined(kind, all)) {
			for _, n := range f.sizes() {
				s.try(kind.spec(n, f.per).String())
			}
		}
	}
}

// periods returns the usual periods that the log is long enough for, in whole seconds where its stamps are.
func (s *search) periods() (all []limit.Time) {
	for _, per := range windowPeriods {
		if per > 2*s.span && per > limit.Minute {
			break
		}
		if !s.Whole || per%limit.Second == 0 {
			all = append(all, per)
		}
	}
	return all
}

// fits returns how well windows of each period fit, the best first. Periods that this kind does not have are left out.
func (k windowKind) fits(periods []limit.Time, by []timeline) (all []windowFit) {
	for _, per := range periods {
		if l, err := k.limiter(per); err == nil {
			n := windowNeeds(by, l)
			all = append(all, windowFit{per, n.best()})
		}
	}
	rank(all, span(by))
	return all
}

// refined adds periods around the best one, in ever smaller steps, while that is contradicted often.
func (s *search) refined(kind windowKind, all []windowFit) []windowFit {
	best := all[0]
	for step := 0.1; !s.Whole && step > 0.002 && best.wrong > s.requests()/500; step /= 3 {
		for _, factor := range []float64{1 - step, 1 + step} {
			per := limit.Time(float64(best.per)*factor) / limit.Millisecond * limit.Millisecond
			for _, f := range kind.fits([]limit.Time{per}, s.all) {
				if all = append(all, f); f.wrong < best.wrong {
					best = f
				}
			}
		}
	}
	rank(all, s.span)
	return all
}

// kept returns the best fits, and of those whose periods people do not write only the first few.
func (s *search) kept(all []windowFit) []windowFit {
	const kept = 3
	keep, odd := 2*kept, 0
	if s.Whole {
		keep = kept
	}
	all = slices.DeleteFunc(all, func(f windowFit) bool {
		if slices.Contains(windowPeriods, f.per) {
			return false
		}
		odd++
		return odd > kept
	})
	return all[:min(keep, len(all))]
}

// limiter returns a limiter of this kind with a size that no key reaches.
func (k windowKind) limiter(per limit.Time) (limit.Limiter, error) {
	p, err := policy.New(k.spec(boundless, per), request.ByClient)
	if err != nil {
		return nil, err
	}
	return p.Parts[0].Limiter, nil
}
