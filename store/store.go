package store

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"

	"shadow/store/duck"
)

//go:embed schema.sql
var schemaSQL string

//go:embed views.sql
var viewsSQL string

// SchemaVersion is that of schema.sql and views.sql. A file of another version is neither read nor written.
const SchemaVersion = 2

// Options bound what the database may take from the machine. The zero value is the default.
type Options struct {
	MemoryMB int  // at most this much for DuckDB's buffers; 0 is defaultMemoryMB
	Threads  int  // for DuckDB's own work besides the caller's goroutines; 0 is 1
	Wait     Wait // for a process that has the file open
}

const defaultMemoryMB = 64

func (o Options) settings() duck.Settings {
	return slices.Concat(duck.NoExtensions, duck.Settings{
		{"memory_limit", fmt.Sprintf("%dMB", cmp.Or(o.MemoryMB, defaultMemoryMB))},
		{"threads", fmt.Sprint(cmp.Or(o.Threads, 1))},
		{"checkpoint_threshold", "1TB"}, // DuckDB never checkpoints by itself (see checkpoint.go)
	})
}

// A Store is a database file opened for writing. Until Close no other process can open it, not even to read: a
// long-lived process should open it, store a run, and close it.
type Store struct {
	path    string // of the file itself, which the path that was given may be a link to
	duck    *duck.Conn
	file    *os.File // to read blocks from; closed after duck, since closing it gives up the lock that DuckDB has
	journal *journal // of a checkpoint that failed
	busy    bool     // a Run is under way
}

// Open opens the database at path for writing, and creates it when there is no such file.
func Open(path string, o Options) (*Store, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	s, err := openWhole(context.Background(), path, o.Wait, func() (*Store, error) { return open(path, o.settings()) }, (*Store).letGo)
	if err != nil {
		return nil, err
	}
	if err := prepare(s.duck); err != nil {
		s.letGo()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return s, nil
}

// open opens the file at path, and creates it when there is none.
func open(path string, with duck.Settings) (*Store, error) {
	if err := create(path, with); err != nil {
		return nil, err
	}
	d, err := openExplained(path, with)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, duck: d}
	// A checkpoint that DuckDB writes when it closes the file is not ours.
	if err := d.Exec("PRAGMA disable_checkpoint_on_shutdown"); err != nil {
		d.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	if s.file, err = os.Open(path); err != nil {
		d.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return s, nil
}

// Close ends a Run that is still under way, without a trace, and gives the file free.
func (s *Store) Close() error {
	if s.duck == nil {
		return nil
	}
	if s.busy {
		return errors.New("store: Close before the end of a Run")
	}
	s.letGo()
	if s.journal == nil {
		return nil
	}
	return errors.Join(s.journal.file.Close(), mend(s.path))
}

// letGo gives the file free.
func (s *Store) letGo() {
	s.duck.Close()
	s.duck = nil
	s.file.Close() //nolint:errcheck // it only read
}

// prepare creates the schema in an empty database and checks its version in any other.
func prepare(d *duck.Conn) error {
	ours, others, err := countTables(d)
	switch {
	case err != nil:
		return err
	case ours > 0:
		if err := checkVersion(d, "shadow_schema"); err != nil {
			return err
		}
		return renew(d)
	case others > 0:
		return errors.New("has tables, but none of shadow's: it belongs to something else; choose another file with --db")
	}
	return d.Exec("BEGIN;" + schemaSQL + viewsSQL + "COMMIT;")
}

// renew gives a database of the first release the views that it lacks. It writes only then: what writes
// nothing leaves no log of changes behind.
func renew(d *duck.Conn) error {
	stale, err := duck.One[bool](d, "SELECT coalesce(NOT bool_or(contains(sql, 'FROM policies')), true) FROM duckdb_views() "+
		"WHERE database_name = current_database() AND view_name = 'latest_policy_totals'")
	if err == nil && stale {
		err = d.Exec("BEGIN;" + viewsSQL + "COMMIT;")
	}
	return err
}

// hasTable reports whether a database has a table; "" is the one that was opened.
func hasTable(d *duck.Conn, database, table string) (bool, error) {
	of := "current_database()"
	if database != "" {
		of = "'" + database + "'"
	}
	n, err := duck.One[int64](d, "SELECT count(*) FROM duckdb_tables() WHERE database_name = "+of+" AND table_name = '"+table+"'")
	return n > 0, err
}

// checkOurs reports an error unless the file has our schema.
func checkOurs(d *duck.Conn) error {
	ours, others, err := countTables(d)
	switch {
	case err != nil:
		return err
	case ours > 0:
		return checkVersion(d, "shadow_schema")
	case others > 0:
		return errors.New("has none of shadow's tables: choose another file with --db")
	}
	return errors.New("holds no runs yet: shadow replay makes one") // a first run that was killed leaves a file without any table
}

// countTables counts the tables that say which schema the file has, and all others.
func countTables(d *duck.Conn) (ours, others int64, err error) {
	n, err := duck.One[[2]int64](d, `SELECT count(*) FILTER (table_name = 'shadow_schema'), count(*) FILTER (NOT internal AND table_name != 'shadow_schema')
		FROM duckdb_tables()`)
	return n[0], n[1], err
}

// checkVersion reports an error unless the schema whose version stands in a table is ours.
func checkVersion(d *duck.Conn, table string) error {
	version, err := duck.One[int32](d, "SELECT version FROM "+table)
	if err == nil && version != SchemaVersion {
		err = fmt.Errorf("was written by another version of shadow (schema %d, this one has %d): use that version, or choose another file with --db",
			version, SchemaVersion)
	}
	return err
}
