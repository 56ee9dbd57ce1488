//go:build !nostore

package store

import (
	"errors"
	"fmt"
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

// take hands the chunk over that a question is at, whose columns have the types of the table's.
func (c *chunk) take(q *question) error {
	if mapping.AppendDataChunk(c.appender, q.chunk) == mapping.StateError {
		return problem(mapping.AppenderError(c.appender))
	}
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
