package stored

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/request"
	"shadow/internal/store"
	"shadow/limit"
	"shadow/report/history"
)

// What a report is compared with. Runs are in the order of what they are about, whenever they were made.

const (
	trendRuns  = 14 // runs that a trend goes back
	recentDays = 7  // days in which repeat offenders are looked for …
	repeatDays = 3  // … on how many of which they were hit
)

// What Report.Compare may be.
const (
	ComparePrevious = "previous"
	CompareWeek     = "7d"
	CompareNone     = "none"
)

// byTime orders runs by their last request.
func byTime(a, b store.RunFact) int {
	return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Run, b.Run))
}

// A comparison is which runs go into a history.
type comparison struct {
	base, trend, recent []store.RunFact
	days                [][2]limit.Time
}

// compareRuns picks, of all runs that have a policy in common with those of a report, the ones that go before them.
func (f *Report) compareRuns(all []store.RunFact) comparison {
	now := f.runs
	first, last := now[0].First, now[0].Last
	for _, run := range now {
		first, last = min(first, run.First), max(last, run.Last)
	}
	var earlier []store.RunFact
	for _, run := range all {
		isNow := slices.ContainsFunc(now, func(n store.RunFact) bool { return n.Run == run.Run })
		if !isNow && run.Requests > 0 && byTime(run, now[len(now)-1]) < 0 {
			earlier = append(earlier, run)
		}
	}
	slices.SortFunc(earlier, byTime)
	var c comparison
	y, m, d := time.UnixMicro(int64(last)).In(f.Timezone).Date()
	for i := range recentDays {
		from := time.Date(y, m, d-recentDays+1+i, 0, 0, 0, 0, f.Timezone).UnixMicro()
		until := time.Date(y, m, d-recentDays+2+i, 0, 0, 0, 0, f.Timezone).UnixMicro()
		c.days = append(c.days, [2]limit.Time{limit.Time(from), limit.Time(until)})
	}
	c.base = f.baseOf(earlier, now, first, last)
	c.trend = append(slices.Clone(earlier[max(0, len(earlier)-trendRuns+len(now)):]), now...)
	for _, run := range append(slices.Clone(earlier), now...) {
		if run.Last >= c.days[0][0] {
			c.recent = append(c.recent, run)
		}
	}
	return c
}

// degraded are the runs with degraded verdicts among those that some are compared with.
func (c *comparison) degraded(now []int32) []int32 {
	runs := []int32{}
	for _, run := range slices.Concat(c.base, c.trend, c.recent) {
		if run.Degraded > 0 && !slices.Contains(now, run.Run) {
			runs = append(runs, run.Run)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// baseOf are the earlier runs that are compared with: those of the week before, or the one before; of several runs that
// are reported together, those of as long a time before.
func (f *Report) baseOf(earlier, now []store.RunFact, first, last limit.Time) (base []store.RunFact) {
	from := first - recentDays*limit.Day
	if f.Compare == ComparePrevious && len(now) > 1 {
		from = first - (last - first)
	}
	if f.Compare == CompareWeek || len(now) > 1 {
		for _, run := range earlier {
			if run.Last >= from && run.Last < max(first, last) {
				base = append(base, run)
			}
		}
	}
	if f.Compare == ComparePrevious && base == nil && len(earlier) > 0 {
		base = earlier[len(earlier)-1:]
	}
	return base
}

// history returns what has changed, nil if no flag asks for it.
func (f *Report) history() (*history.History, error) {
	if f.Compare == CompareNone {
		return nil, nil
	}
	now := numbersOf(f.runs)
	alike, err := f.db.Alike(now)
	if err != nil {
		return nil, err
	}
	c := f.compareRuns(slices.DeleteFunc(slices.Clone(f.all), func(run store.RunFact) bool {
		return !slices.Contains(alike, run.Run)
	}))
	h, err := f.db.History(f.loaded, store.Question{
		Now: now, Base: numbersOf(c.base), Trend: numbersOf(c.trend), Recent: numbersOf(c.recent),
		Days: c.days, Often: repeatDays, Top: f.Top,
	})
	if err != nil {
		return nil, err
	}
	h.Compare, h.Degraded, h.Repeat = f.Compare, c.degraded(now), history.Repeat{HitDays: repeatDays, OfDays: recentDays}
	h.SafeLimits, err = f.safeLimits()
	return h, err
}

// safeLimits compares the latest curves up to the runs of a report with earlier ones: those of the run with curves
// before, or, with 7d, of the earliest within a week.
func (f *Report) safeLimits() (*history.SafeLimits, error) {
	last := f.runs[len(f.runs)-1]
	var swept []store.RunFact
	for _, run := range f.all {
		if run.Curves > 0 && run.Last <= last.Last {
			swept = append(swept, run)
		}
	}
	if len(swept) < 2 {
		return nil, nil
	}
	slices.SortFunc(swept, byTime)
	newest := swept[len(swept)-1]
	for i := range slices.Backward(swept[:len(swept)-1]) {
		if f.Compare == CompareWeek && i > 0 && swept[i-1].Last >= newest.Last-recentDays*limit.Day {
			continue
		}
		if limits, err := f.db.SafeLimits(swept[i].Run, newest.Run, f.Protect); err != nil || limits != nil {
			return limits, err
		}
	}
	return nil, nil
}

// DefaultProtect says which clients a safe limit does not hit where no flag names others.
var DefaultProtect = store.Spare{Class: request.Browser, PerMillion: 999_000}

// ParseProtect reads browsers=99.9%.
func ParseProtect(text string) (store.Spare, error) {
	name, share, _ := strings.Cut(text, "=")
	percent, err := flagvalue.ParsePercent(share)
	for class := range request.ClassCount {
		if err == nil && (name == class.String() || name == class.String()+"s") {
			return store.Spare{Class: class, PerMillion: int64(percent*1e4 + 0.5)}, nil
		}
	}
	return store.Spare{}, errors.New("want a class and a share, such as browsers=99.9%")
}

// FormatProtect is the text that ParseProtect reads.
func FormatProtect(s store.Spare) string {
	return s.Class.String() + "s=" + flagvalue.FormatPercent(float64(s.PerMillion)/1e4)
}
