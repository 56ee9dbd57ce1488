package stored

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"shadow/limit"
	"shadow/pipeline"
	"shadow/store"
)

// A Database is one of runs, and how long to wait for whoever writes it.
type Database struct {
	Path string
	Wait time.Duration
}

// Waiting returns how to wait. Who has the database open is told to w.
func (d *Database) Waiting(w io.Writer) store.Wait {
	return store.Wait{For: max(d.Wait, 1), Tell: func(busy error) {
		fmt.Fprintf(w, "shadow: %v; waiting for up to %v (--wait)\n", busy, d.Wait)
	}}
}

// Open opens the database to read it. Who has it open is told to w.
func (d *Database) Open(ctx context.Context, w io.Writer) (*store.Reader, error) {
	return store.OpenReader(ctx, d.Path, d.Waiting(w))
}

// Runs lists the runs of the database.
func (d *Database) Runs(ctx context.Context, w io.Writer) ([]store.RunFact, error) {
	r, err := d.Open(ctx, w)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Runs()
}

// Delete forgets the runs that are named, and those that were stored longer ago than older, if that is not 0. It says
// so on out.
func (d *Database) Delete(ctx context.Context, out, errs io.Writer, named []string, older limit.Time) error {
	all, err := d.Runs(ctx, errs)
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
		fmt.Fprintf(out, "no run was stored more than %s ago\n", limit.FormatPeriod(older))
		return nil
	}
	db, err := store.Open(d.Path, store.Options{Wait: d.Waiting(errs)})
	if err != nil {
		return err
	}
	return pipeline.DeleteRuns(ctx, out, db, d.Path, doomed, 0)
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
	return fmt.Errorf("there is no run %s: the database has %d, from %d to %d (`shadow runs` lists them)",
		text, len(all), all[0].Run, all[len(all)-1].Run)
}
