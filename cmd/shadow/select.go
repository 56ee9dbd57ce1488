package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"shadow/limit"
	"shadow/store"
)

// Which stored runs are meant. One is named by its number; a day and a moment are those of the log, whenever it was replayed.

// selectFlags name the runs that a report is about.
type selectFlags struct {
	run, since, day, timezone string

	zone  *time.Location // after verify
	notes []string       // on how moments were read
}

// A selector picks runs out of all, in the order of what they are about.
type selector func(all []store.RunFact) ([]store.RunFact, error)

func (f *selectFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.run, "run", "last", "`number` of the run, or last")
	flags.StringVar(&f.since, "since", "", "all runs with requests since a `moment` (2026-11-19, yesterday, 7d), put together")
	flags.StringVar(&f.day, "day", "", "the run that is about most of a `day` (2026-11-19, yesterday)")
	flags.StringVar(&f.timezone, "timezone", "UTC", "`zone` of days, and of dates that do not name theirs, such as Europe/Berlin or Local")
	completeWords(cmd, "run", "last")
}

func (f *selectFlags) verify() (selector, error) {
	var err error
	if f.zone, err = zoneOf(f.timezone); err != nil {
		return nil, err
	}
	now := time.Now().In(f.zone)
	f.notes = zoneNotes(now, "since", f.since, "day", f.day)
	switch {
	case f.day != "" && f.since != "", f.run != "last" && f.day+f.since != "":
		return nil, usage("--run, --day and --since say the same in three ways: state one")
	case f.day != "":
		from, err := parseMoment(f.day, now)
		if err != nil {
			return nil, badFlag("day", f.day, err)
		}
		return ofDay(f.day, from, now.Location()), nil
	case f.since != "":
		since, err := parseMoment(f.since, now)
		if err != nil {
			return nil, badFlag("since", f.since, err)
		}
		return sinceMoment(f.since, since), nil
	}
	if err := verifyRun(f.run); err != nil {
		return nil, err
	}
	return func(all []store.RunFact) ([]store.RunFact, error) {
		run, err := chosenRun(all, f.run)
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
	return findRun(all, text)
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
	return func(all []store.RunFact) (picked []store.RunFact, err error) {
		for _, run := range all {
			if run.Policies > 0 && run.Requests > 0 && run.Last >= since {
				picked = append(picked, run)
			}
		}
		if picked == nil {
			return nil, noneOf(all, "since "+text)
		}
		slices.SortStableFunc(picked, func(a, b store.RunFact) int { return cmp.Compare(a.Last, b.Last) })
		return picked, nil
	}
}

func noneOf(all []store.RunFact, when string) error {
	if len(all) == 0 {
		return noRun(all, "")
	}
	return fmt.Errorf("no run has requests %s (`shadow runs` lists what each is about)", when)
}
