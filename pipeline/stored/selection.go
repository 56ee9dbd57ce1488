package stored

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"shadow/limit"
	"shadow/pipeline"
	"shadow/store"
)

// Which stored runs are meant. One is named by its number; a day and a moment are those of the log, whenever it was
// replayed.

// A Selection names the runs that a report is about.
type Selection struct {
	Run      string          // a number, or last
	Since    pipeline.Moment // all runs with requests since then
	Day      pipeline.Moment // the run that is about most of it
	Timezone *time.Location  // nil: UTC

	notes []string // on how moments were read
}

// A selector picks runs out of all, in the order of what they are about.
type selector func(all []store.RunFact) ([]store.RunFact, error)

func (f *Selection) verify() (selector, error) {
	f.Run, f.Timezone = cmp.Or(f.Run, "last"), cmp.Or(f.Timezone, time.UTC)
	now := time.Now().In(f.Timezone)
	f.notes = append(f.Since.ZoneNote("since", now), f.Day.ZoneNote("day", now)...)
	switch {
	case f.Day != "" && f.Since != "", f.Run != "last" && f.Day+f.Since != "":
		return nil, pipeline.Usage("--run, --day and --since say the same in three ways: state one")
	case f.Day != "":
		return ofDay(f.Day, now), nil
	case f.Since != "":
		return sinceMoment(f.Since, now), nil
	}
	return func(all []store.RunFact) ([]store.RunFact, error) {
		run, err := chosenRun(all, f.Run)
		if err != nil {
			return nil, err
		}
		return []store.RunFact{*run}, nil
	}, nil
}

// chosenRun is the run of that number; the last is the last replay, if there is any.
func chosenRun(all []store.RunFact, text string) (*store.RunFact, error) {
	if text == "last" {
		for i := range slices.Backward(all) {
			if all[i].Policies > 0 {
				return &all[i], nil
			}
		}
	}
	return FindRun(all, text)
}

// ofDay is the replay that shares most time with a day; of several that share as much, the last.
func ofDay(day pipeline.Moment, now time.Time) selector {
	zone := now.Location()
	y, m, d := time.UnixMicro(int64(day.At(now))).In(zone).Date()
	from := limit.Time(time.Date(y, m, d, 0, 0, 0, 0, zone).UnixMicro())
	until := limit.Time(time.Date(y, m, d+1, 0, 0, 0, 0, zone).UnixMicro())
	return func(all []store.RunFact) ([]store.RunFact, error) {
		var best *store.RunFact
		var most limit.Time
		for i := range all {
			if common, ok := all[i].Span(from, until); ok && all[i].Policies > 0 && common >= most {
				best, most = &all[i], common
			}
		}
		if best == nil {
			return nil, noneOf(all, "of "+day.String())
		}
		return []store.RunFact{*best}, nil
	}
}

// sinceMoment are the replays that have requests since a moment.
func sinceMoment(moment pipeline.Moment, now time.Time) selector {
	since := moment.At(now)
	return func(all []store.RunFact) (chosen []store.RunFact, err error) {
		for _, run := range all {
			if run.Policies > 0 && run.Requests > 0 && run.Last >= since {
				chosen = append(chosen, run)
			}
		}
		if chosen == nil {
			return nil, noneOf(all, "since "+moment.String())
		}
		slices.SortStableFunc(chosen, func(a, b store.RunFact) int { return cmp.Compare(a.Last, b.Last) })
		return chosen, nil
	}
}

func noneOf(all []store.RunFact, when string) error {
	if len(all) == 0 {
		return noRun(all, "")
	}
	return fmt.Errorf("no run has requests %s (`shadow runs` lists what each is about)", when)
}
