package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Databases are put together run by run. A run is the same wherever it lies when it was started and finished at the same
// microsecond by the same command: it is taken in once, however often a database is merged. The run of a tail may have grown
// since it was taken in: then it takes the place of what it was.

// Merged says what became of the runs of another database.
type Merged struct {
	Runs  map[int32]int32 // taken in: their numbers there and here
	Known map[int32]int32 // that were here already
	Rows  []TableRows     // taken in, by table
}

// Merge takes in the runs of the database at path that are not here yet, in the order of their numbers, with new numbers:
// all of them, or none.
func (s *Store) Merge(ctx context.Context, path string) (*Merged, error) {
	if err := errors.Join(checkExists(path), s.checkOther(path)); err != nil {
		return nil, err
	}
	if err := s.attach(ctx, path); err != nil {
		return nil, err
	}
	m := &Merged{Runs: map[int32]int32{}, Known: map[int32]int32{}}
	defer s.duck.interruptWith(ctx)()
	err := s.duck.checkMergeable()
	if err != nil {
		err = fmt.Errorf("database %s: %w", path, err)
	}
	if err == nil {
		err = s.transact(ctx, func() error { return s.merge(m) })
	}
	return m, errors.Join(err, s.duck.exec("DETACH other"))
}

// attach opens the other database for reading.
func (s *Store) attach(ctx context.Context, path string) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	_, err = openWhole(ctx, path, Wait{}, func() (bool, error) {
		if err := s.duck.exec("ATTACH " + quoted(path, '\'') + " AS other (READ_ONLY)"); err != nil {
			return false, explainOpen(path, err)
		}
		return true, nil
	}, func(bool) { s.duck.exec("DETACH other") }) //nolint:errcheck // it was attached a moment ago
	return err
}

// checkOther keeps a database from being merged into itself.
func (s *Store) checkOther(path string) error {
	here, errHere := os.Stat(s.path)
	there, errThere := os.Stat(path)
	if errHere == nil && errThere == nil && os.SameFile(here, there) {
		return fmt.Errorf("database %s: is the one that the runs are to go into", path)
	}
	return nil
}

// checkMergeable wants another database of shadow's, with nothing in it that this one would not understand.
func (d *duck) checkMergeable() error {
	tables, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'other' AND table_name = 'shadow_schema'")
	if err != nil {
		return err
	}
	if tables == 0 {
		return errors.New("has none of shadow's tables")
	}
	return d.checkVersion("other.main.shadow_schema")
}

func (s *Store) merge(m *Merged) error {
	if err := s.number(m); err != nil || len(m.Runs) == 0 {
		return err
	}
	var pairs []string
	for there, here := range m.Runs {
		pairs = append(pairs, fmt.Sprintf("(%d::INTEGER, %d::INTEGER)", there, here))
	}
	tables, err := s.duck.runTables("other")
	if err != nil {
		return err
	}
	for _, table := range tables {
		rows, err := s.duck.number("SELECT count(*)::BIGINT FROM other.main." + table + " WHERE run IN " + idList(keys(m.Runs)))
		if err != nil {
			return err
		}
		// BY NAME, since a file in an older schema lacks columns, and has others in another place.
		err = s.duck.exec("INSERT INTO main." + table + " BY NAME SELECT t.* REPLACE (n.here AS run) FROM other.main." + table +
			" t JOIN (VALUES " + strings.Join(pairs, ", ") + ") n(there, here) ON n.there = t.run")
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		m.Rows = append(m.Rows, TableRows{table, rows})
	}
	return nil
}

// number gives the other's runs numbers of this database: new ones, unless they are here already. A run of a tail, whose inputs
// have no size, may be here as it was earlier; that goes, and leaves its number.
func (s *Store) number(m *Merged) error {
	var outgrown []int32
	next, err := s.duck.number("SELECT coalesce(max(run), 0)::BIGINT FROM runs")
	if err != nil {
		return err
	}
	err = s.duck.scan(`SELECT o.run, h.run, h.finished < o.finished OR h.lines < o.lines
		FROM (SELECT *, run NOT IN (SELECT run FROM other.main.inputs WHERE size IS NOT NULL) AS grows FROM other.main.runs) o
		LEFT JOIN (SELECT *, run NOT IN (SELECT run FROM main.inputs WHERE size IS NOT NULL) AS grows FROM main.runs) h
			ON h.started = o.started AND h.command = o.command AND (h.finished = o.finished AND h.lines = o.lines OR h.grows AND o.grows)
		ORDER BY o.run`, func(b *block) error {
		for row := range b.rows {
			there := values[int32](b, 0)[row]
			if !b.null(1, row) {
				here := values[int32](b, 1)[row]
				if values[bool](b, 2)[row] {
					m.Runs[there], outgrown = here, append(outgrown, here)
				} else {
					m.Known[there] = here
				}
				continue
			}
			if next++; next > maxRun {
				return errNoNumbers
			}
			m.Runs[there] = int32(next)
		}
		return nil
	})
	if err != nil || len(outgrown) == 0 {
		return err
	}
	return s.duck.forget(outgrown)
}

func keys(m map[int32]int32) (all []int32) {
	for key := range m {
		all = append(all, key)
	}
	return all
}
