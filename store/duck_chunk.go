package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"shadow/limit"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The way in: rows on their way into a table, column by column, in the memory of DuckDB.

// A chunk is a handful of rows on their way into a table, as one vector per column.
type chunk struct {
	appender mapping.Appender
	rows     mapping.DataChunk
	logical  []mapping.LogicalType
	types    []mapping.Type   // of the columns
	vectors  []mapping.Vector // of the columns
	data     []unsafe.Pointer // of the vectors: chunkRows values each, until the next send
}

// chunkRows is how many rows fit in a chunk.
var chunkRows = int(mapping.VectorSize())

func (d *duck) newChunk(table string) (*chunk, error) {
	c := new(chunk)
	if mapping.AppenderCreateExt(d.conn, "", "", table, &c.appender) == mapping.StateError {
		return nil, errors.Join(problem(mapping.AppenderError(c.appender)), c.discard())
	}
	for i := range mapping.AppenderColumnCount(c.appender) {
		t := mapping.AppenderColumnType(c.appender, i)
		c.logical = append(c.logical, t)
		c.types = append(c.types, mapping.GetTypeId(t))
	}
	c.rows = mapping.CreateDataChunk(c.logical)
	c.vectors, c.data = make([]mapping.Vector, len(c.types)), make([]unsafe.Pointer, len(c.types))
	c.point()
	return c, nil
}

// point finds the vectors and their data, which may move when the chunk is emptied.
func (c *chunk) point() {
	for i := range c.data {
		c.vectors[i] = mapping.DataChunkGetVector(c.rows, mapping.IdxT(i))
		c.data[i] = mapping.VectorGetData(c.vectors[i])
	}
}

// A number is a Go type that has the very same width and meaning as a DuckDB type.
type number interface {
	bool | int32 | int64 | uint16 | uint32 | uint64 | float64 | limit.Time
}

// column is column i of the chunk, valid until the next send. It panics when T is not exactly the column's type.
func column[T number](c *chunk, i int) []T {
	if want := duckType[T](); c.types[i] != want {
		panic(fmt.Sprintf("store: column %d has DuckDB type %d, not %d", i, c.types[i], want))
	}
	return unsafe.Slice((*T)(c.data[i]), chunkRows)
}

func duckType[T number]() mapping.Type {
	switch any(*new(T)).(type) {
	case bool:
		return mapping.TypeBoolean
	case int32:
		return mapping.TypeInteger
	case int64:
		return mapping.TypeBigInt
	case uint16:
		return mapping.TypeUSmallInt
	case uint32:
		return mapping.TypeUInteger
	case uint64:
		return mapping.TypeUBigInt
	case float64:
		return mapping.TypeDouble
	default: // limit.Time: microseconds since the epoch, as DuckDB counts
		return mapping.TypeTimestamp
	}
}

// send hands the first n rows over and empties the chunk.
func (c *chunk) send(n int) error {
	mapping.DataChunkSetSize(c.rows, mapping.IdxT(n))
	if mapping.AppendDataChunk(c.appender, c.rows) == mapping.StateError {
		return problem(mapping.AppenderError(c.appender))
	}
	mapping.DataChunkReset(c.rows)
	c.point()
	return nil
}

// close brings all that was sent into the table, as part of the running transaction.
func (c *chunk) close() error {
	var err error
	if mapping.AppenderFlush(c.appender) == mapping.StateError {
		err = problem(mapping.AppenderError(c.appender))
	}
	return errors.Join(err, c.discard())
}

// discard frees the chunk; what was sent since the appender's last flush is lost.
func (c *chunk) discard() error {
	mapping.AppenderClear(c.appender)
	mapping.DestroyDataChunk(&c.rows)
	for i := range c.logical {
		mapping.DestroyLogicalType(&c.logical[i])
	}
	c.logical = nil
	if mapping.AppenderDestroy(&c.appender) == mapping.StateError {
		return errors.New("cannot close the appender")
	}
	return nil
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

// set puts a value into column i of the row.
func (t *table) set(i int, value any) {
	wants := func(want mapping.Type) {
		if t.types[i] != want {
			panic(fmt.Sprintf("store: table %s, column %d has DuckDB type %d, not %d", t.name, i, t.types[i], want))
		}
	}
	switch v := value.(type) {
	case nil:
		mapping.VectorEnsureValidityWritable(t.vectors[i])
		mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(t.vectors[i]), mapping.IdxT(t.row))
	case string: // it must be valid UTF-8
		wants(mapping.TypeVarchar)
		mapping.VectorAssignStringElement(t.vectors[i], mapping.IdxT(t.row), encodeText(v))
	case []byte:
		wants(mapping.TypeBlob)
		mapping.VectorAssignStringElementLen(t.vectors[i], mapping.IdxT(t.row), v)
	case bool:
		column[bool](t.chunk, i)[t.row] = v
	case int32:
		column[int32](t.chunk, i)[t.row] = v
	case int64:
		column[int64](t.chunk, i)[t.row] = v
	case float64:
		column[float64](t.chunk, i)[t.row] = v
	case uint64:
		column[uint64](t.chunk, i)[t.row] = v
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
