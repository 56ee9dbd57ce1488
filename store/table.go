package store

import (
	"fmt"

	"shadow/limit"
)

// A table fills one table row by row. Events take a shorter way (see loader); everything else is small.
type table struct {
	*chunk
	name string
	row  int
	err  error // the first that happened
}

func (d *duck) table(name string) *table {
	c, err := d.newChunk(name)
	return &table{chunk: c, name: name, err: err}
}

// add appends a row. The type of each value must be that of its column to the bit; strings are made printable; nil
// is NULL. Errors wait for done.
func (t *table) add(values ...any) {
	if t.err != nil {
		return
	}
	if len(values) != len(t.types) {
		t.err = fmt.Errorf("%d values for %d columns", len(values), len(t.types))
		return
	}
	for i, v := range values {
		t.set(i, v)
	}
	if t.row++; t.row == chunkRows {
		t.flush()
	}
}

func (t *table) set(i int, value any) {
	switch v := value.(type) {
	case nil:
		t.setNull(i, t.row)
	case string:
		t.setText(i, t.row, encodeText(v))
	case []byte:
		t.setBytes(i, t.row, v)
	case bool:
		column[bool](t.chunk, i)[t.row] = v
	case int32:
		column[int32](t.chunk, i)[t.row] = v
	case int64:
		column[int64](t.chunk, i)[t.row] = v
	case uint64:
		column[uint64](t.chunk, i)[t.row] = v
	case float64:
		column[float64](t.chunk, i)[t.row] = v
	case limit.Time:
		if err := checkTime(v); err != nil && t.err == nil {
			t.err = err
		}
		column[limit.Time](t.chunk, i)[t.row] = v
	default:
		panic(fmt.Sprintf("store: table %s, column %d: no DuckDB type for %T", t.name, i, value))
	}
}

func (t *table) flush() {
	if t.err == nil && t.row > 0 {
		t.err = t.send(t.row)
	}
	t.row = 0
}

// done brings the rows into the table and tells the first error of all.
func (t *table) done() error {
	t.flush()
	if t.chunk != nil {
		closing := t.close
		if t.err != nil {
			closing = t.discard
		}
		if err := closing(); t.err == nil {
			t.err = err
		}
	}
	if t.err != nil {
		return fmt.Errorf("table %s: %w", t.name, t.err)
	}
	return nil
}
