package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"shadow/limit"
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

// muchFree is the share of a file that may be free before it is written again. What is free the next runs use: a database
// that loses a run a night and gets one stays as large as it is.
const muchFree = 0.25

// prune deletes the runs that --retain does not keep.
func (r *replayRun) prune(ctx context.Context) error {
	if r.retain == 0 {
		return nil
	}
	db, err := store.Open(r.db, store.Options{})
	if err != nil {
		return fmt.Errorf("--retain: %w", err)
	}
	old, err := db.FinishedBefore(limit.Time(r.started.UnixMicro()) - limit.Time(r.retain))
	if err != nil || len(old) == 0 {
		return closeAfter(db, err)
	}
	w := io.Discard
	if r.verbose {
		w = r.cmd.ErrOrStderr()
	}
	return deleteRuns(ctx, w, db, r.db, old, muchFree)
}
