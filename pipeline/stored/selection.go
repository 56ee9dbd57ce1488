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
	Run      string // a number, or last
	Since    string // a moment: all runs with requests since then
	Day      string // the run that is about most of it
	Timezone string

	zone  *time.Location // after verify
	notes []string       // on how moments were read
}

// A selector picks runs out of all, in the order of what they are about.
type selector func(all []store.RunFact) ([]store.RunFact, error)

func (f *Selection) verify() (selector, error) {
	var err error
	if f.zone, err = pipeline.ZoneOf(f.Timezone); err != nil {
		return nil, err
	}
	f.Run = cmp.Or(f.Run, "last")
	now := time.Now().In(f.zone)
	f.notes = pipeline.ZoneNotes(now, "since", f.Since, "day", f.Day)
	switch {
	case f.Day != "" && f.Since != "", f.Run != "last" && f.Day+f.Since != "":
		return nil, pipeline.Usage("--run, --day and --since say the same in three ways: state one")
	case f.Day != "":
		from, err := pipeline.ParseMoment(f.Day, now)
		if err != nil {
			return nil, pipeline.BadFlag("day", f.Day, err)
		}
		return ofDay(f.Day, from, now.Location()), nil
	case f.Since != "":
		since, err := pipeline.ParseMoment(f.Since, now)
		if err != nil {
			return nil, pipeline.BadFlag("since", f.Since, err)
		}
		return sinceMoment(f.Since, since), nil
	}
	if err := verifyRun(f.Run); err != nil {
		return nil, err
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
func ofDay(text string, at limit.Time, zone *time.Location) selector {
	y, m, d := time.UnixMicro(int64(at)).In(zone).Date()
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
			return nil, noneOf(all, "of "+text)
		}
		return []store.RunFact{*best}, nil
	}
}

// sinceMoment are the replays that have requests since a moment.
func sinceMoment(text string, since limit.Time) selector {
	return func(all []store.RunFact) (chosen []store.RunFact, err error) {
		for _, run := range all {
			if run.Policies > 0 && run.Requests > 0 && run.Last >= since {
				chosen = append(chosen, run)
			}
		}
		if chosen == nil {
			return nil, noneOf(all, "since "+text)
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
