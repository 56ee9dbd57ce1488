package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
)

//go:embed schema.sql
var schemaSQL string

//go:embed views.sql
var viewsSQL string

//go:embed upgrade-2.sql
var upgrade2SQL string

//go:embed upgrade-3.sql
var upgrade3SQL string

//go:embed upgrade-4.sql
var upgrade4SQL string

//go:embed upgrade-5.sql
var upgrade5SQL string

//go:embed upgrade-6.sql
var upgrade6SQL string

//go:embed upgrade-7.sql
var upgrade7SQL string

//go:embed upgrade-8.sql
var upgrade8SQL string

// upgrades bring a file from the schema with the number of their place, from 1 on, to the next.
var upgrades = []string{upgrade2SQL, upgrade3SQL, upgrade4SQL, upgrade5SQL, upgrade6SQL, upgrade7SQL, upgrade8SQL}

// schemaVersion is that of schema.sql and views.sql. A change that an older shadow cannot read raises it.
const schemaVersion = 8

// Options bound what the database may take from the machine. The zero value is the default.
type Options struct {
	MemoryMB int // at most this much for DuckDB's buffers; 0 is defaultMemoryMB
	Threads  int // for DuckDB's own work besides the caller's goroutines; 0 is 1
}

const defaultMemoryMB = 64

func (o Options) settings() map[string]string {
	if o.MemoryMB == 0 {
		o.MemoryMB = defaultMemoryMB
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	return map[string]string{
		"memory_limit":                 fmt.Sprintf("%dMB", o.MemoryMB),
		"threads":                      fmt.Sprint(o.Threads),
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		// The log of changes stays the one commit until we checkpoint: a commit then is one write that either
		// reaches the disk or does not (see Run.commit).
		"checkpoint_threshold": "1TB",
	}
}

// A Store is a database file opened for writing. Until Close no other process can open it, not even to read: a
// long-lived process should open it, store a run, and close it.
type Store struct {
	path    string
	duck    *duck
	version int64 // of the schema that the file has; the next Run that is stored brings it up to date
	busy    bool  // a Run is under way
}

// Open opens the database at path for writing, and creates it when there is no such file.
func Open(path string, o Options) (*Store, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	before, errBefore := os.Stat(path)
	d, err := patiently(context.Background(), func() (*duck, error) { return openExplained(path, o.settings()) })
	if err != nil {
		return nil, err
	}
	if after, err := os.Stat(path); errBefore == nil && (err != nil || !os.SameFile(before, after)) {
		d.close()
		return nil, fmt.Errorf("database %s: another process has just written it anew: try again", path) // see shrink.go
	}
	version, err := d.prepare()
	if err != nil {
		d.close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return &Store{path: path, duck: d, version: version}, nil
}

// Close ends a Run that is still under way, without a trace, and gives the file free.
func (s *Store) Close() error {
	if s.duck == nil {
		return nil
	}
	if s.busy {
		return errors.New("store: Close before the end of a Run")
	}
	s.duck.close()
	s.duck = nil
	return nil
}

// prepare creates the schema in an empty database and checks its version in any other. It returns the version.
func (d *duck) prepare() (int64, error) {
	ours, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'shadow_schema'")
	if err != nil {
		return 0, err
	}
	if ours > 0 {
		return d.version()
	}
	others, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE NOT internal")
	if err != nil {
		return 0, err
	}
	if others > 0 {
		return 0, errors.New("has tables, but none of shadow's: it belongs to something else; choose another file with --db")
	}
	return schemaVersion, d.exec("BEGIN;" + schemaSQL + viewsSQL + "COMMIT;")
}

func checkVersion(version int64) error {
	switch {
	case version > schemaVersion:
		return fmt.Errorf("was written by a newer shadow (schema %d, this one knows %d): update shadow, or choose another file with --db",
			version, schemaVersion)
	case version < 1:
		return fmt.Errorf("has schema %d, which no shadow has written", version)
	}
	return nil
}
