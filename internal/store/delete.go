package store

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"shadow/internal/store/duck"
	"shadow/limit"
)

// Runs go as they came: whole or not at all.

// Removed says what became of a database that runs were removed from.
type Removed struct {
	Rows          int64 // of all tables
	Before, After int64 // bytes of all files
}

// Delete forgets runs. A run that is not there is an error, and then none is forgotten.
func (s *Store) Delete(ctx context.Context, runs []int32) (*Removed, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx) // before the reader looks: a batch of a tail that lands now would not be noted
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := OpenReader(ctx, string(s.folder))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows, err := r.rowsOf(runs)
	if err != nil {
		return nil, err
	}
	removed := &Removed{Rows: rows, Before: s.size()}
	if err := s.forget(r, runs); err != nil {
		return nil, s.wrap(plain(err))
	}
	removed.After = s.size()
	return removed, nil
}

// forget removes runs. What the next night of a series goes on from stays, and how far a tail has come. The folder must
// be locked.
func (f folder) forget(r *Reader, runs []int32) error {
	err := duck.Each(r.duck, "SELECT tail, max(batch), arg_max(run, batch) FROM tails GROUP BY tail", func(t *struct {
		Tail  string
		Batch int64
		Run   int32
	},
	) error {
		if !slices.Contains(runs, t.Run) {
			return nil
		}
		return f.noteTail(t.Run, t.Tail, t.Batch)
	})
	if err != nil {
		return err
	}
	all, err := f.list()
	if err != nil {
		return err
	}
	var doomed []runFolder
	for _, r := range all {
		if len(r.pieces) > 0 && slices.Contains(runs, r.run) {
			doomed = append(doomed, r)
		}
	}
	if len(doomed) != len(runs) {
		return fmt.Errorf("it has %d of the runs %s", len(doomed), idList(runs))
	}
	var pieces []string
	for _, r := range doomed {
		for _, p := range r.pieces {
			pieces = append(pieces, filepath.Join(filepath.Base(f.run(r.run)), p.name))
		}
		for _, s := range r.stale {
			pieces = append(pieces, filepath.Join(filepath.Base(f.run(r.run)), filepath.Base(s.path)))
		}
	}
	d, err := duck.Open(":memory:", duck.NoExtensions)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := f.hide(pieces); err != nil {
		return err
	}
	f.tidy(d)
	return nil
}

// size returns how many bytes all files of the folder have.
func (f folder) size() (bytes int64) {
	filepath.WalkDir(string(f), func(_ string, e fs.DirEntry, err error) error { //nolint:errcheck // as far as it can be seen
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // see above
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// rowsOf counts the rows of some runs in all tables.
func (r *Reader) rowsOf(runs []int32) (rows int64, err error) {
	for _, t := range tableDefs() {
		n, err := duck.One[int64](r.duck, "SELECT count(*) FROM "+t.name+" WHERE run IN "+idList(runs))
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// FinishedBefore returns the runs that were finished before a moment.
func (s *Store) FinishedBefore(ctx context.Context, t limit.Time) ([]int32, error) {
	r, err := OpenReader(ctx, string(s.folder))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return duck.List[int32](r.duck, "SELECT run FROM runs WHERE finished < "+moment(t)+" ORDER BY run")
}
