package duck

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"shadow/limit"
)

// A number is a Go type that has the very same width and meaning as a DuckDB type.
type number interface {
	bool | int32 | int64 | uint16 | uint32 | uint64 | float64 | limit.Time
}

// A Writer fills tables row by row, in the order of their columns in schema.sql. Events take a shorter way (see
// Column); everything else is small.
type Writer struct {
	duck   *Conn
	tables map[string]*table
}

type table struct {
	*Chunk
	row int
	err error // the first that happened
}

// Writer returns a writer of rows.
func (d *Conn) Writer() *Writer { return &Writer{d, map[string]*table{}} }

// Add appends a row. The type of each value must be that of its column to the bit; strings are made printable; nil
// is NULL. Errors wait for Done.
func (w *Writer) Add(name string, values ...any) {
	t := w.tables[name]
	if t == nil {
		t = new(table)
		t.Chunk, t.err = w.duck.NewChunk(name)
		w.tables[name] = t
	}
	if t.err == nil && len(values) != len(t.types) {
		t.err = fmt.Errorf("%d values for %d columns", len(values), len(t.types))
	}
	if t.err != nil {
		return
	}
	for i, v := range values {
		t.set(i, v)
	}
	if t.row++; t.row == ChunkRows {
		t.flush()
	}
}

func (t *table) flush() {
	if t.err == nil && t.row > 0 {
		t.err = t.Send(t.row)
	}
	t.row = 0
}

// Done brings the rows into the tables. All of them are closed, whatever error there is.
func (w *Writer) Done() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.tables)) {
		t := w.tables[name]
		t.flush()
		if t.err == nil {
			t.err = t.Close()
		} else if t.Chunk != nil {
			t.Discard() //nolint:errcheck // the first error says more
		}
		if t.err != nil {
			errs = append(errs, fmt.Errorf("table %s: %w", name, t.err))
		}
	}
	return errors.Join(errs...)
}

// CheckTime refuses what DuckDB's TIMESTAMP cannot hold: it reserves the largest values for ±infinity, and its
// calendar begins in 290308 BC.
func CheckTime(t limit.Time) error {
	if t < -9223372022400000000 || t == math.MaxInt64 {
		return fmt.Errorf("time %d µs: outside of what the database can store", t)
	}
	return nil
}
