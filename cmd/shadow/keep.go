package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

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
		err = errors.Join(err, os.Remove(path))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return 0, err
	}
	return run.ID(), nil
}
