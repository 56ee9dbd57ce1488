package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"shadow/report/format"
	"shadow/store"
)

// keepRun makes a run in the database: all of it, or nothing. do does the work and finishes the run. It returns the
// run's number.
func keepRun(ctx context.Context, path string, info store.RunInfo, do func(*store.Run) error) (int32, error) {
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return 0, err
	}
	run, err := db.Begin(ctx, info)
	if err == nil {
		if err = do(run); err != nil {
			err = errors.Join(err, run.Abort())
		}
	}
	if err != nil && fresh { // leave nothing where nothing was; until Close the file is ours alone
		err = errors.Join(err, db.Remove())
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return 0, err
	}
	return run.ID(), nil
}

// muchFree is the share of a file that may be free before it is written again. What is free the next runs use: a
// database that loses a run a night and gets one stays as large as it is.
const muchFree = 0.25

// runInfo is what is noted of a run before it begins.
func (l *Logs) runInfo() store.RunInfo {
	return store.RunInfo{Command: l.Command, Version: l.Version, Started: l.Started, Timezone: l.Timezone.String()}
}

// DeleteRuns forgets runs and closes the database. If a larger share of the file than spare is free then, it is written
// again.
func DeleteRuns(ctx context.Context, w io.Writer, db *store.Store, path string, runs []int32, spare float64) error {
	rows, err := db.Delete(ctx, runs)
	if err != nil {
		db.Close() //nolint:errcheck // the first error tells more
		return err
	}
	var sum int64
	for _, t := range rows {
		sum += t.Rows
	}
	fmt.Fprintf(w, "deleted %s (%s)\n", format.Runs(runs), format.Count(sum, "row"))
	free, err := db.Free()
	if err != nil || free <= spare {
		return CloseAfter(db, err)
	}
	before, after, err := db.Shrink(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s, before %s\n", path, format.Size(after), format.Size(before))
	return nil
}

// CloseAfter closes a database after something that may have failed.
func CloseAfter(db *store.Store, err error) error { return errors.Join(err, db.Close()) }
