package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"shadow/limit"
	"shadow/store/duck"
)

// Runs go as they came: whole or not at all. DuckDB keeps the room of what was deleted for what comes next, and the
// file as large as it was; Shrink writes it again.

// runTables are ours that hold something of a run.
var runTables = []string{
	"runs", "inputs", "unreadable_lines", "warnings", "findings", "policies", "parts", "clients", "agents", "actions",
	"client_tallies", "action_tallies", "events", "curves", "curve_points", "client_identities", "not_http",
	"request_times",
}

// TableRows is how many rows of a table something is about.
type TableRows struct {
	Table string
	Rows  int64
}

// Delete forgets runs, and returns how many rows each table has lost. A run that is not there is an error, and then
// none is forgotten.
func (s *Store) Delete(ctx context.Context, runs []int32) (rows []TableRows, err error) {
	defer s.duck.InterruptWith(ctx)()
	err = s.transact(ctx, func() error {
		if rows, err = rowsOf(s.duck, "", runs); err != nil {
			return err
		}
		if rows[0].Rows != int64(len(runs)) { // of table runs
			return fmt.Errorf("it has %d of the runs %s", rows[0].Rows, idList(runs))
		}
		return forget(s.duck, runs)
	})
	return rows, err
}

// forget deletes runs from each of our tables.
func forget(d *duck.Conn, runs []int32) error {
	for _, table := range runTables {
		if err := d.Exec("DELETE FROM " + table + " WHERE run IN " + idList(runs)); err != nil {
			return err
		}
	}
	return nil
}

// transact does something in one transaction, which is durable when there is no error and has left no trace when
// there is.
func (s *Store) transact(ctx context.Context, do func() error) error {
	if s.busy {
		return errors.New("store: in the middle of a Run")
	}
	err := s.duck.Exec("BEGIN")
	if err == nil {
		err = do()
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		s.duck.Exec("ROLLBACK") //nolint:errcheck // what is not committed is lost in any case
		return s.wrap(err)
	}
	return nil
}

// rowsOf counts the rows of some runs in each of our tables, in this database or in one that is attached.
func rowsOf(d *duck.Conn, database string, runs []int32) (rows []TableRows, err error) {
	for _, table := range runTables {
		of := ""
		if database != "" {
			of = database + ".main."
		}
		n, err := duck.One[int64](d, "SELECT count(*) FROM "+of+table+" WHERE run IN "+idList(runs))
		if err != nil {
			return nil, err
		}
		rows = append(rows, TableRows{table, n})
	}
	return rows, nil
}

// FinishedBefore are the runs that were finished before a moment.
func (s *Store) FinishedBefore(t limit.Time) ([]int32, error) {
	runs, err := duck.List[int32](s.duck, "SELECT run FROM runs WHERE finished < "+moment(t)+" ORDER BY run")
	if err != nil {
		return nil, s.wrap(err)
	}
	return runs, nil
}

// A file that lost runs is as large as before, with free blocks in it that the next runs use. To give them back it is
// copied, with whatever else people keep in it, and the copy takes its place in one step: whoever opens the path finds
// the one or the other, whole. The old file stays locked until it is gone.

// Free returns which share of the file is free, from 0 to 1.
func (s *Store) Free() (float64, error) {
	blocks, err := duck.One[[2]int64](s.duck, "SELECT total_blocks::BIGINT, free_blocks::BIGINT FROM pragma_database_size() WHERE database_name = current_database()")
	if err != nil {
		return 0, s.wrap(err)
	}
	return float64(blocks[1]) / float64(max(blocks[0], 1)), nil
}

// Shrink writes the file again without what is free in it, and closes the store. It returns the size before and
// after, in bytes. After an error the file is as it was, and the store is closed as well.
func (s *Store) Shrink(ctx context.Context) (before, after int64, err error) {
	before, err = s.shrink(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return before, before, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return before, before, err
	}
	return before, info.Size(), nil
}

func (s *Store) shrink(ctx context.Context) (before int64, err error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0, err
	}
	fresh := s.path + ".shrunk"
	if err := RemoveFile(fresh); err != nil { // of a Shrink that was killed
		return info.Size(), err
	}
	err = s.checkpoint() // a log of changes must not outlive its file
	if err == nil {
		err = s.copyTo(ctx, fresh)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.Join(os.Chmod(fresh, info.Mode().Perm()), sameOwner(fresh, info), syncFile(fresh))
	}
	if err == nil {
		err = os.Rename(fresh, s.path)
	}
	if err != nil {
		return info.Size(), errors.Join(s.wrap(fmt.Errorf("cannot be rewritten: %w", err)), RemoveFile(fresh))
	}
	return info.Size(), nil
}

// copyTo copies all that is in the database into a new file.
func (s *Store) copyTo(ctx context.Context, path string) error {
	defer s.duck.InterruptWith(ctx)()
	name, err := duck.One[string](s.duck, "SELECT current_database()")
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"ATTACH " + quoted(path, '\'') + " AS shrunk",
		"COPY FROM DATABASE " + quoted(name, '"') + " TO shrunk",
		"CHECKPOINT shrunk",
		"DETACH shrunk",
	} {
		if err := s.duck.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a text in SQL: a string in ', a name in ".
func quoted(text string, mark byte) string {
	m := string(mark)
	return m + strings.ReplaceAll(text, m, m+m) + m
}

// Remove removes the file, as when nothing of it is to stay. The store is still to be closed, and until then the file
// is its own.
func (s *Store) Remove() error { return RemoveFile(s.path) }

// RemoveFile removes a database and what lies beside it, as far as it is there.
func RemoveFile(path string) error {
	for _, name := range []string{path, path + ".wal", journalOf(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
