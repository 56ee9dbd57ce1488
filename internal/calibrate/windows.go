package calibrate

import (
	"cmp"
	"slices"

	"shadow/internal/policy"
	"shadow/internal/request"
	"shadow/limit"
)

// Windows of each kind, by their lengths.

// windowPeriods lists the periods of windows.
var windowPeriods = func() (all []limit.Time) {
	for _, n := range []limit.Time{100, 200, 250, 500, 1500, 2500} {
		all = append(all, n*limit.Millisecond)
	}
	for _, n := range []limit.Time{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 45, 50} {
		all = append(all, n*limit.Second)
	}
	for _, n := range []limit.Time{60, 75, 90, 120, 150, 180, 240, 300, 360, 420, 480, 600, 720, 900, 1200, 1500, 1800, 2700} {
		all = append(all, n*limit.Second)
	}
	for _, n := range []limit.Time{1, 2, 3, 4, 6, 8, 12, 24} {
		all = append(all, n*limit.Hour)
	}
	return all
}()

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

// windows judges the windows that are contradicted least, of each kind those of the best periods.
func (s *search) windows() {
	const scanned, kept = 6, 3
	for _, kind := range windowKinds {
		type found struct {
			per limit.Time
			size
		}
		var all []found
		try := func(per limit.Time, by []timeline) (f found, ok bool) {
			l, err := kind.limiter(per)
			if err != nil {
				return f, false
			}
			n := windowNeeds(by, l)
			f = found{per, n.best()}
			all = append(all, f)
			return f, true
		}
		rank := func(all []found) {
			slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(x.wrong, y.wrong) })
		}
		for _, per := range windowPeriods {
			if per > 2*s.span && per > limit.Minute {
				break
			}
			if !s.Whole || per%limit.Second == 0 {
				try(per, s.few)
			}
		}
		rank(all)
		likely := all[:min(scanned, len(all))]
		all = nil
		for _, f := range likely {
			try(f.per, s.all)
		}
		rank(all)
		best := all[0]
		for step := 0.1; !s.Whole && step > 0.002 && best.wrong > s.requests()/500; step /= 3 {
			for _, factor := range []float64{1 - step, 1 + step} {
				per := limit.Time(float64(best.per)*factor) / limit.Millisecond * limit.Millisecond
				if f, ok := try(per, s.all); ok && f.wrong < best.wrong {
					best = f
				}
			}
		}
		rank(all)
		keep, odd := 2*kept, 0 // odd ones have lengths that people do not write
		if s.Whole {
			keep = kept
		}
		all = slices.DeleteFunc(all, func(f found) bool {
			if slices.Contains(windowPeriods, f.per) {
				return false
			}
			odd++
			return odd > kept
		})
		for _, f := range all[:min(keep, len(all))] {
			for _, n := range f.sizes() {
				s.try(kind.spec(n, f.per).String())
			}
		}
	}
}

// limiter returns a limiter of this kind with a size that no key reaches.
func (k windowKind) limiter(per limit.Time) (limit.Limiter, error) {
	p, err := policy.New(k.spec(boundless, per), request.ByClient)
	if err != nil {
		return nil, err
	}
	return p.Parts[0].Limiter, nil
}
