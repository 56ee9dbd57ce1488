package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/store/duck"
)

// A Store is a database that runs are written to. Several processes may write to one at a time, and read it meanwhile.
type Store struct {
	folder

	table *duck.Conn // on which the pieces of a tail are made, one after the other; nil: not yet
	place *workplace // its own
}

// Open returns the database at path, and makes the folder when there is none.
func Open(path string) (*Store, error) {
	s := &Store{folder: folder(path)}
	if path != "" {
		if err := s.create(); err != nil {
			return nil, err
		}
	}
	return s, s.check()
}

// Close frees what Append has kept from call to call.
func (s *Store) Close() error {
	if s.table == nil {
		return nil
	}
	s.table.Close()
	s.table = nil
	return s.place.leave()
}

// The most megabytes of DuckDB's buffers while a run is written, and while batches of a tail are. In a flood these have
// many new names, which are joined and sorted in memory.
const runMemoryMB, tailMemoryMB = 64, 512

// openTable returns the database in memory on which the pieces of a tail are made.
func (s *Store) openTable(ctx context.Context) (*duck.Conn, error) {
	if s.table != nil {
		// After a catalog that a full disk cut, DuckDB answers no question on any database that is open with it.
		_, err := os.Stat(s.place.path)
		if err == nil && s.table.Exec("USE memory; DETACH DATABASE IF EXISTS shadow") == nil {
			return s.table, nil
		}
		s.Close() //nolint:errcheck // another folder has taken the place of this one, or no answer will come
	}
	var err error
	if s.place, err = s.work(ctx); err != nil {
		return nil, err
	}
	if s.table, err = openDesk(s.place.overflow(), tailMemoryMB); err != nil {
		return nil, errors.Join(err, s.place.leave())
	}
	return s.table, nil
}

// emptyTables empties the tables of schema.sql.
func emptyTables(d *duck.Conn) error {
	var text strings.Builder
	for _, t := range tableDefs() {
		text.WriteString("TRUNCATE " + t.name + ";")
	}
	return d.Exec(text.String())
}

// openDesk opens a database in memory in which files are made, with the tables of schema.sql, empty. What does not fit
// into memory lies in overflow.
func openDesk(overflow string, memoryMB int) (*duck.Conn, error) {
	d, err := duck.Open(":memory:", slices.Concat(duck.NoExtensions, duck.Settings{
		{"memory_limit", fmt.Sprintf("%dMB", memoryMB)},
		{"threads", "1"}, // besides the caller's goroutines
		{"temp_directory", overflow},
	}))
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, t := range tableDefs() {
		text.WriteString("CREATE TABLE " + t.name + " (" + t.list(func(name, is string) string { return name + " " + is }) + ");")
	}
	if err := d.Exec(text.String()); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// writeTables writes the tables that have rows to files in dir.
func writeTables(d *duck.Conn, dir string) error {
	var count []string
	for i, t := range tableDefs() {
		count = append(count, "SELECT "+fmt.Sprint(i)+" WHERE EXISTS (FROM "+t.name+")")
	}
	filled, err := duck.List[int32](d, strings.Join(count, " UNION ALL "))
	for i := 0; i < len(filled) && err == nil; i++ {
		name := tableDefs()[filled[i]].name
		err = writeFile(d, name, filepath.Join(dir, name+".parquet"))
	}
	return err
}

// writeFile writes the rows of a table or of a query in parentheses to a file.
func writeFile(d *duck.Conn, rows, path string) error {
	return d.Exec("COPY " + rows + " TO " + literal(path) +
		" (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, USE_TMP_FILE false)")
}

// overflow is the folder of what does not fit into memory.
func (w *workplace) overflow() string { return filepath.Join(w.path, "overflow") }

// finish makes durable what a workplace has.
func (w *workplace) finish(ctx context.Context) error {
	err := os.RemoveAll(w.overflow())
	if err == nil {
		err = filepath.WalkDir(w.path, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = syncPath(path)
			}
			return err
		})
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return full(err)
}
