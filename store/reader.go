package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"shadow/limit"
)

// A Reader answers what a report asks about stored runs. It shares the file with other readers, and with nobody who writes.
type Reader struct {
	ctx  context.Context
	path string
	duck *duck
	stop func() // lets go of ctx
}

// readerOptions are for questions of ours. What is too large for memory spills into a directory beside the database, which
// DuckDB removes again.
var readerOptions = map[string]string{
	"access_mode":                  "READ_ONLY",
	"enable_external_access":       "false",
	"autoinstall_known_extensions": "false",
	"autoload_known_extensions":    "false",
	"memory_limit":                 "1GB",
	"lock_configuration":           "true",
}

// OpenReader opens the database at path, which must be there, for reading. When ctx is done, what is being read is given up.
func OpenReader(ctx context.Context, path string, wait Wait) (*Reader, error) {
	if err := checkExists(path); err != nil {
		return nil, err
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	d, err := openWhole(ctx, path, wait, func() (*duck, error) { return openExplained(path, readerOptions) }, (*duck).close)
	if err != nil {
		return nil, err
	}
	r := &Reader{ctx: ctx, path: path, duck: d, stop: d.interruptWith(ctx)}
	if err := d.checkOurs(); err != nil {
		r.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return r, nil
}

// Close gives the file free.
func (r *Reader) Close() {
	r.stop()
	r.duck.close()
}

// ask is scan, with an error that says which file it is about.
func (r *Reader) ask(query string, take func(*block) error) error {
	err := context.Cause(r.ctx)
	if err == nil {
		err = r.duck.scan(query, take)
	}
	if cause := context.Cause(r.ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", r.path, err)
	}
	return nil
}

// each is ask, row by row.
func (r *Reader) each(query string, take func(b *block, row int) error) error {
	return r.ask(query, func(b *block) error {
		for row := range b.rows {
			if err := take(b, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkOurs reports an error unless the file has our schema.
func (d *duck) checkOurs() error {
	ours, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'shadow_schema'")
	if err != nil {
		return err
	}
	if ours == 0 {
		return d.noTables()
	}
	return d.checkVersion("shadow_schema")
}

// noTables returns what is wrong with a database that has none of our tables. A first run that was killed leaves one without any.
func (d *duck) noTables() error {
	others, err := d.number("SELECT count(*) FROM duckdb_tables() WHERE NOT internal")
	if err == nil && others == 0 {
		return errNoRuns
	}
	return errors.New("has none of shadow's tables: choose another file with --db")
}

var errNoRuns = errors.New("holds no runs yet: shadow replay makes one")

// idList is a list of numbers for SQL, NULL of none: (1, 2, 3).
func idList(ids []int32) string {
	texts := []string{"NULL"}
	for _, id := range ids {
		texts = append(texts, fmt.Sprint(id))
	}
	if len(ids) > 0 {
		texts = texts[1:]
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// moment is a time in SQL.
func moment(t limit.Time) string { return fmt.Sprintf("make_timestamp(%d)", t) }
