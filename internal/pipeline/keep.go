package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"shadow/internal/store"
	"shadow/report/format"
)

// InDatabase does something in the database at path. Where that fails and keeps nothing, it leaves nothing where
// nothing was.
func InDatabase(path string, do func(db *store.Store) (kept bool, err error)) error {
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	db, err := store.Open(path)
	if err != nil {
		return err
	}
	b := &database{path: path, fresh: fresh}
	begun.Store(b)
	defer begun.CompareAndSwap(b, nil)
	kept, err := do(db)
	if err != nil && fresh && !kept {
		err = errors.Join(err, store.Remove(path))
	}
	return err
}

// A DoneError reports what went wrong after a database was changed, so that the command must not be repeated.
type DoneError struct {
	done string
	error
}

// Unwrap returns what went wrong.
func (e *DoneError) Unwrap() error { return e.error }

func (e *DoneError) Error() string { return e.done + ": " + e.error.Error() }

// Afterwards says of an error that the run of that number is stored. What the result itself is about stays as it is.
func Afterwards(database, number string, err error) error {
	if err == nil || number == "" || errors.As(err, new(IncompleteError)) || errors.As(err, new(HeldError)) {
		return err
	}
	return &DoneError{fmt.Sprintf("run %s is stored in %s, do not repeat it", number, database), err}
}

// A Keeping says where a run is kept.
type Keeping struct {
	DB      string
	NoStore bool
}

// keep makes a run in the database: all of it, or nothing. do does the work and finishes the run, which is nil if
// nothing is to be kept. It returns what reports call the database and the run.
func (l *Logs) keep(
	ctx context.Context, k Keeping, events store.Events, do func(*store.Run) error,
) (path, number string, err error) {
	if k.NoStore {
		return "", "", do(nil)
	}
	stored := false
	err = InDatabase(k.DB, func(db *store.Store) (kept bool, err error) {
		run, err := db.Begin(ctx, store.RunInfo{
			Command: l.Command, Version: l.Version, Started: l.Started, Timezone: l.Timezone.String(), Events: events,
		})
		if err != nil {
			return false, err
		}
		if err := do(run); err != nil {
			return false, errors.Join(err, run.Abort())
		}
		stored, number = true, fmt.Sprint(run.ID())
		begun.Store(&database{path: k.DB, stored: number})
		return true, nil
	})
	if stored {
		err = Afterwards(k.DB, number, err)
	}
	return k.DB, number, err
}

// errIdle ends a run that has judged no request: there is nothing to keep.
var errIdle = errors.New("nothing was judged")

// Deleted says what became of a database that runs were deleted from.
type Deleted struct {
	Database string  `json:"database"`
	Runs     []int32 `json:"runs"`
	Rows     int64   `json:"rows"`         // of all tables
	Before   int64   `json:"bytes_before"` // of all files; 0: nothing was deleted
	After    int64   `json:"bytes_after"`  // likewise
}

// Write writes what was deleted for people, or as JSON.
func (d *Deleted) Write(w io.Writer, output string) error {
	if output == "json" {
		return format.WriteJSON(w, format.RunsDeleteSchema, d)
	}
	fmt.Fprintf(w, "deleted %s (%s)\n", format.Runs(d.Runs), format.Count(d.Rows, "row"))
	fmt.Fprintf(w, "%s: %s, before %s\n", d.Database, format.Size(d.After), format.Size(d.Before))
	return nil
}

// DeleteRuns forgets runs.
func DeleteRuns(ctx context.Context, db *store.Store, path string, runs []int32) (*Deleted, error) {
	removed, err := db.Delete(ctx, runs)
	if err != nil {
		return nil, err
	}
	return &Deleted{Database: path, Runs: runs, Rows: removed.Rows, Before: removed.Before, After: removed.After}, nil
}
