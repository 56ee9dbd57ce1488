package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"shadow/limit"
)

// A number is a Go type that has the very same width and meaning as a DuckDB type.
type number interface {
	bool | int32 | int64 | uint16 | uint32 | uint64 | float64 | limit.Time
}

// A writer fills tables row by row, in the order of their columns in schema.sql. Events take a shorter way (see
// loader); everything else is small.
type writer struct {
	duck   *duck
	head   []any // that every row begins with
	tables map[string]*table
}

type table struct {
	*chunk
	name string
	row  int
	err  error // the first that happened
}

// writer is one whose rows all begin with the same values: the number of a run, or nothing.
func (d *duck) writer(head ...any) *writer { return &writer{d, head, map[string]*table{}} }

// add appends a row. The type of each value must be that of its column to the bit; strings are made printable; nil
// is NULL. Errors wait for done.
func (w *writer) add(name string, values ...any) {
	t := w.tables[name]
	if t == nil {
		t = &table{name: name}
		t.chunk, t.err = w.duck.newChunk(name)
		w.tables[name] = t
	}
	if t.err == nil && len(w.head)+len(values) != len(t.types) {
		t.err = fmt.Errorf("%d values for %d columns", len(w.head)+len(values), len(t.types))
	}
	if t.err != nil {
		return
	}
	for i, v := range w.head {
		t.set(i, v)
	}
	for i, v := range values {
		t.set(len(w.head)+i, v)
	}
	if t.row++; t.row == chunkRows {
		t.flush()
	}
}

func (t *table) flush() {
	if t.err == nil && t.row > 0 {
		t.err = t.send(t.row)
	}
	t.row = 0
}

// done brings the rows into the tables. All of them are closed, whatever error there is.
func (w *writer) done() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.tables)) {
		t := w.tables[name]
		t.flush()
		if t.err == nil {
			t.err = t.close()
		} else if t.chunk != nil {
			t.discard() //nolint:errcheck // the first error says more
		}
		if t.err != nil {
			errs = append(errs, fmt.Errorf("table %s: %w", name, t.err))
		}
	}
	return errors.Join(errs...)
}
