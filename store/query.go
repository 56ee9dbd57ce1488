package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
)

// Rows are the answer to a question, row by row.
type Rows struct {
	// Columns are the names of the columns.
	Columns []string

	types  []string // DuckDB's names of the columns' types
	rows   *sql.Rows
	cells  []any // of the current row, as the driver hands them over
	into   []any // pointers to cells
	closer func() error
	ctx    context.Context
}

// Query asks the database at path, which it can neither change nor leave: the file is opened for reading only, other
// files cannot be reached from SQL, and no statement can loosen that. It never creates the file. The rows must be
// closed.
func Query(ctx context.Context, path, query string) (_ *Rows, err error) {
	if err := errors.Join(checkExists(path), checkQuery(query)); err != nil {
		return nil, err
	}
	opened, err := patiently(ctx, func() (*connection, error) { return openReader(ctx, path, readerOptions) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	conn, closer := opened.Conn, opened.close
	if err := checkSingle(path, readerOptions, query); err != nil {
		return nil, errors.Join(err, closer())
	}
	rows, err := conn.QueryContext(ctx, query) //nolint:rowserrcheck // Rows.Next checks
	if err != nil {
		return nil, errors.Join(explainMissing(ctx, conn, path, explainQuery(ctx, err)), closer())
	}
	r := &Rows{rows: rows, closer: closer, ctx: ctx}
	if err := r.describe(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// readerOptions hold from the moment of opening, and the last one keeps them. Answers too large for memory spill into
// a directory beside the database, which DuckDB removes again.
var readerOptions = map[string]string{
	"access_mode":                  "READ_ONLY",
	"enable_external_access":       "false",
	"autoinstall_known_extensions": "false",
	"autoload_known_extensions":    "false",
	"memory_limit":                 "1GB",
	"lock_configuration":           "true",
	"duckdb_api":                   "go", // as the driver itself sets it: connections to one file must agree
}

func (r *Rows) describe() error {
	types, err := r.rows.ColumnTypes()
	if err != nil {
		return duckError(err)
	}
	for _, t := range types {
		r.Columns = append(r.Columns, t.Name())
		r.types = append(r.types, t.DatabaseTypeName())
	}
	r.cells, r.into = make([]any, len(types)), make([]any, len(types))
	for i := range r.cells {
		r.into[i] = &r.cells[i]
	}
	return nil
}

// Next returns the next row, or io.EOF. The caller may keep it. Its values are what encoding/json and Text
// understand: nil, bool, int64, uint64, float64, string, json.Number for what is too exact for those, []any and
// map[string]any.
func (r *Rows) Next() (_ []any, err error) {
	defer func() { // the driver panics on maps whose keys are blobs, UUIDs or bits
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot read the answer: %v", p)
		}
	}()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return nil, explainQuery(r.ctx, err)
		}
		return nil, io.EOF
	}
	if err := r.rows.Scan(r.into...); err != nil {
		return nil, duckError(err)
	}
	row := make([]any, len(r.cells))
	for i, cell := range r.cells {
		row[i] = plainValue(cell, r.types[i])
	}
	return row, nil
}

// Close gives the database free.
func (r *Rows) Close() error { return errors.Join(r.rows.Close(), r.closer()) }

func explainQuery(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return duckError(err)
}

// explainMissing adds to an error about a name that is not there why that may be: the file has an older schema.
func explainMissing(ctx context.Context, conn *sql.Conn, path string, err error) error {
	text := err.Error()
	if !strings.HasPrefix(text, "Catalog Error") && !strings.HasPrefix(text, "Binder Error") {
		return err
	}
	var version int64
	row := conn.QueryRowContext(ctx, "SELECT version::BIGINT FROM shadow_schema")
	if row.Scan(&version) != nil || version >= schemaVersion {
		return err
	}
	return fmt.Errorf("%w\ndatabase %s: was written by an older shadow, and lacks newer tables and columns: the next shadow replay --db %s brings it up to date",
		err, path, path)
}

// checkQuery refuses DuckDB's own logging, the one thing that the options do not hold: told to log into a file, DuckDB
// 1.5 finds out only at the end that it may not, and takes the process down with an exception that nobody catches.
func checkQuery(query string) error {
	if strings.Contains(strings.ToLower(query), "enable_logging") {
		return errors.New("enable_logging is not available here")
	}
	return nil
}

// checkExists keeps a question from being asked of a file that is not there.
func checkExists(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("database %s: no such file: shadow replay makes one, --db names another", path)
	case err != nil:
		return fmt.Errorf("database %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("database %s: is a directory", path)
	}
	return nil
}

// checkPath refuses names that the driver's reader would take for options, or for a database in memory.
func checkPath(path string) error {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return fmt.Errorf("database %q: want the name of a file", path)
	}
	if _, err := url.Parse(path); err != nil || strings.ContainsAny(path, "?#") {
		return fmt.Errorf("database %q: the name of a database cannot contain ?, #, control characters or a lone %%", path)
	}
	return nil
}
