package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"shadow/store/duck"
)

// Databases are put together run by run. A run is the same wherever it lies when it was started and finished at the
// same microsecond by the same command: it is taken in once, however often a database is merged. The run of a tail
// may have grown since it was taken in: then it takes the place of what it was.

// Merged says what became of the runs of another database.
type Merged struct {
	Runs  map[int32]int32 // taken in: their numbers there and here
	Known map[int32]int32 // that were here already
	Rows  []TableRows     // taken in, by table
}

// Merge takes in the runs of the databases at paths that are not here yet, in the order of their numbers, with new
// numbers: those of all databases, or none.
func (s *Store) Merge(ctx context.Context, paths ...string) (all []*Merged, err error) {
	defer s.duck.InterruptWith(ctx)()
	names := make([]string, len(paths))
	for i, path := range paths {
		all = append(all, &Merged{Runs: map[int32]int32{}, Known: map[int32]int32{}})
		if twin := slices.IndexFunc(paths[:i], func(other string) bool { return isSame(path, other) }); twin >= 0 {
			names[i] = names[twin]
			continue
		}
		name := fmt.Sprintf("other%d", i)
		if err := s.attach(ctx, path, name); err != nil {
			return nil, err
		}
		defer s.duck.Exec("DETACH " + name) //nolint:errcheck // what is committed stays so
		if err := s.checkOther(name); err != nil {
			return nil, fmt.Errorf("database %s: %w", path, err)
		}
		names[i] = name
	}
	return all, s.transact(ctx, func() error {
		for i, m := range all {
			if err := s.merge(m, names[i]); err != nil {
				return fmt.Errorf("database %s: %w", paths[i], err)
			}
		}
		return nil
	})
}

// isSame reports whether two paths lead to one file.
func isSame(path, other string) bool {
	x, errX := os.Stat(path)
	y, errY := os.Stat(other)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// attach attaches another database, under a name.
func (s *Store) attach(ctx context.Context, path, name string) error {
	if err := checkExists(path); err != nil {
		return err
	}
	if isSame(s.path, path) {
		return fmt.Errorf("database %s: is the one that the runs are to go into", path)
	}
	from, err := realPath(path)
	if err != nil {
		return err
	}
	attach := func() (bool, error) {
		err := s.duck.Exec("ATTACH " + quoted(from, '\'') + " AS " + name + " (READ_ONLY)")
		if err != nil {
			err = explainOpen(from, err)
		}
		return true, err
	}
	_, err = openWhole(ctx, from, Wait{}, attach, func(bool) { s.duck.Exec("DETACH " + name) }) //nolint:errcheck // it was attached a moment ago
	return err
}

// checkOther reports an error unless an attached database has our schema.
func (s *Store) checkOther(name string) error {
	ours, err := hasTable(s.duck, name, "shadow_schema")
	if err == nil && !ours {
		err = errors.New("has none of shadow's tables")
	}
	if err == nil {
		err = checkVersion(s.duck, name+".main.shadow_schema")
	}
	return err
}

// merge takes in what an attached database has.
func (s *Store) merge(m *Merged, name string) error {
	if err := s.number(m, name); err != nil || len(m.Runs) == 0 {
		return err
	}
	var pairs []string
	for there, here := range m.Runs {
		pairs = append(pairs, fmt.Sprintf("(%d::INTEGER, %d::INTEGER)", there, here))
	}
	tables, err := rowsOf(s.duck, name, slices.Collect(maps.Keys(m.Runs)))
	if err != nil {
		return err
	}
	m.Rows = tables
	for _, t := range tables {
		// BY NAME, since a file in an older schema lacks columns, and has others in another place.
		err = s.duck.Exec("INSERT INTO main." + t.Table + " BY NAME SELECT t.* REPLACE (n.here AS run) FROM " + name + ".main." + t.Table +
			" t JOIN (VALUES " + strings.Join(pairs, ", ") + ") n(there, here) ON n.there = t.run")
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Table, err)
		}
	}
	return nil
}

// number gives the other's runs numbers of this database: new ones, unless they are here already. A run of a tail,
// whose inputs have no size, may be here as it was earlier; that goes, and leaves its number.
func (s *Store) number(m *Merged, name string) error {
	last, err := duck.One[int32](s.duck, "SELECT max(run) FROM runs")
	if err != nil {
		return err
	}
	type row struct {
		There, Here int32
		Grown       bool
	}
	var outgrown []int32
	err = duck.Each(s.duck, `SELECT o.run, h.run, h.finished < o.finished OR h.lines < o.lines
		FROM (SELECT *, run NOT IN (SELECT run FROM `+name+`.main.inputs WHERE size IS NOT NULL) AS grows FROM `+name+`.main.runs) o
		LEFT JOIN (SELECT *, run NOT IN (SELECT run FROM main.inputs WHERE size IS NOT NULL) AS grows FROM main.runs) h
			ON h.started = o.started AND h.command = o.command AND (h.finished = o.finished AND h.lines = o.lines OR h.grows AND o.grows)
		ORDER BY o.run`, func(r *row) error {
		switch {
		case r.Grown:
			m.Runs[r.There], outgrown = r.Here, append(outgrown, r.Here)
		case r.Here > 0:
			m.Known[r.There] = r.Here
		case last == math.MaxInt32:
			return errNoNumbers
		default:
			last++
			m.Runs[r.There] = last
		}
		return nil
	})
	if err != nil || len(outgrown) == 0 {
		return err
	}
	return forget(s.duck, outgrown)
}
