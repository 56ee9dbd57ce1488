package stored

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"shadow/internal/escape"
	"shadow/internal/mapped"
	"shadow/internal/pipeline"
	"shadow/internal/pipeline/flagvalue"
	"shadow/internal/store"
	"shadow/limit"
	"shadow/report/format"
)

// A Database is one of runs.
type Database struct{ Path string }

// Runs lists the runs of the database.
func (d *Database) Runs(ctx context.Context) ([]store.RunFact, error) {
	r, err := store.OpenReader(ctx, d.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Runs()
}

// Delete forgets the runs that are named, and those that were stored longer ago than older, if that is not 0. It says
// so on out, for people or as JSON.
func (d *Database) Delete(ctx context.Context, out io.Writer, output string, named []string, older limit.Time) error {
	all, err := d.Runs(ctx)
	if err != nil {
		return err
	}
	chosen := map[int32]bool{}
	for _, text := range named {
		run, err := FindRun(all, text)
		if err != nil {
			return err
		}
		chosen[run.Run] = true
	}
	var doomed []int32
	now := limit.Time(time.Now().UnixMicro())
	for i := range all {
		if old := older > 0 && all[i].Finished < now-older; old || chosen[all[i].Run] {
			doomed = append(doomed, all[i].Run)
		}
	}
	if len(doomed) == 0 {
		if output == "json" {
			return (&pipeline.Deleted{Database: d.Path, Runs: []int32{}}).Write(out, output)
		}
		fmt.Fprintf(out, "no run was stored more than %s ago\n", limit.FormatPeriod(older))
		return nil
	}
	db, err := store.Open(d.Path)
	if err != nil {
		return err
	}
	deleted, err := pipeline.DeleteRuns(ctx, db, d.Path, doomed)
	if deleted != nil {
		err = errors.Join(err, deleted.Write(out, output))
	}
	return err
}

// FindRun is the run of that number, or the last one.
func FindRun(all []store.RunFact, text string) (*store.RunFact, error) {
	if text == "last" && len(all) > 0 {
		return &all[len(all)-1], nil
	}
	if err := VerifyRun(text); err != nil {
		return nil, pipeline.Usage("%w", err)
	}
	for i := range all {
		if fmt.Sprint(all[i].Run) == text {
			return &all[i], nil
		}
	}
	return nil, noRun(all, text)
}

// VerifyRun is the error of a text that is no number of a run, and not last.
func VerifyRun(text string) error {
	if n, err := strconv.ParseInt(text, 10, 32); text != "last" && (err != nil || n < 1) {
		return fmt.Errorf("run %q: want the number of a run, or last", text)
	}
	return nil
}

// noRun says that there is no such run, and which there are.
func noRun(all []store.RunFact, text string) error {
	if len(all) == 0 {
		return fmt.Errorf("the database has no runs yet: shadow replay makes one")
	}
	return fmt.Errorf("there is no run %s: the database has %d, from %d to %d (`shadow report runs` lists them)",
		text, len(all), all[0].Run, all[len(all)-1].Run)
}

// Which stored runs are meant. One is named by its number; a day and a moment are those of the log, whenever it was
// replayed.

// A Selection names the runs that a report is about: those that all of it holds of.
type Selection struct {
	Run      string           // a number, or last; "": last, unless a moment or a day is named
	Since    flagvalue.Moment // all runs with requests since then
	Day      flagvalue.Moment // the run that is about most of it
	Timezone *time.Location   // nil: UTC

	notes []string // on how moments were read
}

// A selector picks runs out of all, in the order of what they are about.
type selector func(all []store.RunFact) ([]store.RunFact, error)

func (f *Selection) selector() selector {
	f.Timezone = cmp.Or(f.Timezone, time.UTC)
	now := time.Now().In(f.Timezone)
	f.notes = append(f.Since.ZoneNote("since", now), f.Day.ZoneNote("day", now)...)
	var all []selector
	if text := f.Run; text != "" || f.Day+f.Since == "" {
		all = append(all, func(all []store.RunFact) ([]store.RunFact, error) {
			run, err := chosenRun(all, cmp.Or(text, "last"))
			if err != nil {
				return nil, err
			}
			return []store.RunFact{*run}, nil
		})
	}
	if f.Since != "" {
		all = append(all, sinceMoment(f.Since, now))
	}
	if f.Day != "" {
		all = append(all, ofDay(f.Day, now))
	}
	return func(runs []store.RunFact) (_ []store.RunFact, err error) {
		for i := 0; i < len(all) && err == nil; i++ {
			if runs, err = all[i](runs); err != nil && i > 0 {
				err = fmt.Errorf("of the runs that the other flags name: %w", err)
			}
		}
		return runs, err
	}
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
func ofDay(day flagvalue.Moment, now time.Time) selector {
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
func sinceMoment(moment flagvalue.Moment, now time.Time) selector {
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
	return fmt.Errorf("no run has requests %s (`shadow report runs` lists what each is about)", when)
}

// Merged says what of some databases was taken into another.
type Merged struct {
	Database string       `json:"database"`
	From     []MergedFrom `json:"from"`
}

// MergedFrom says what was taken in from one database.
type MergedFrom struct {
	Database string    `json:"database"`
	Runs     []RunPair `json:"runs"`
	Known    []RunPair `json:"known"` // that were there already
	Rows     int64     `json:"rows"`  // taken in, of all tables
}

// A RunPair is a run as two databases number it.
type RunPair struct {
	There int32 `json:"from"`
	Here  int32 `json:"run"`
}

func pairsOf(runs map[int32]int32) []RunPair {
	return mapped.Of(slices.Sorted(maps.Keys(runs)), func(there int32) RunPair { return RunPair{there, runs[there]} })
}

// Merge merges databases, all of them or none, and writes what it took in, for people or as JSON.
func Merge(ctx context.Context, w io.Writer, output, into string, from []string) error {
	merged := Merged{Database: into, From: []MergedFrom{}}
	err := pipeline.InDatabase(into, func(db *store.Store) (kept bool, err error) {
		defer pipeline.Storing()()
		all, err := db.Merge(ctx, from...)
		if err != nil {
			return false, err
		}
		for i, m := range all {
			kept = kept || len(m.Runs) > 0
			merged.From = append(merged.From, MergedFrom{Database: from[i], Runs: pairsOf(m.Runs), Known: pairsOf(m.Known), Rows: m.Rows})
		}
		return kept, nil
	})
	if err != nil {
		return err
	}
	if output == "json" {
		return format.WriteJSON(w, format.MergeSchema, merged)
	}
	return merged.write(w)
}

// write writes what was taken in, a line for each database.
func (m *Merged) write(w io.Writer) error {
	var text strings.Builder
	for _, took := range m.From {
		fmt.Fprintf(&text, "%s: took in %s (%s)",
			escape.Visible(took.Database), format.Count(int64(len(took.Runs)), "run"), format.Count(took.Rows, "row"))
		if len(took.Runs) > 0 {
			here := mapped.Of(took.Runs, func(pair RunPair) int32 { return pair.Here })
			slices.Sort(here)
			fmt.Fprintf(&text, " as %s", format.Runs(here))
		}
		if len(took.Known) > 0 {
			fmt.Fprintf(&text, "; had %s already", format.Count(int64(len(took.Known)), "run"))
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}
