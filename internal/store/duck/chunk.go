//go:build !nostore && !js

package duck

import (
	"errors"
	"fmt"
	"unsafe"

	"shadow/limit"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The way in: rows on their way into a table, column by column, in the memory of DuckDB.

// A Chunk is a handful of rows on their way into a table, as one vector per column.
type Chunk struct {
	appender mapping.Appender
	rows     mapping.DataChunk
	logical  []mapping.LogicalType
	types    []mapping.Type   // of the columns
	vectors  []mapping.Vector // of the columns
	data     []unsafe.Pointer // of the vectors: ChunkRows values each, until the next Send
}

// ChunkRows counts the rows that fit in a chunk.
var ChunkRows = int(mapping.VectorSize())

// NewChunk is an empty one for a table.
func (d *Conn) NewChunk(table string) (*Chunk, error) {
	c := new(Chunk)
	if mapping.AppenderCreateExt(d.conn, "", "", table, &c.appender) == mapping.StateError {
		return nil, errors.Join(problem(mapping.AppenderError(c.appender)), c.Discard())
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
func (c *Chunk) point() {
	for i := range c.data {
		c.vectors[i] = mapping.DataChunkGetVector(c.rows, mapping.IdxT(i))
		c.data[i] = mapping.VectorGetData(c.vectors[i])
	}
}

// Column is column i of the chunk, valid until the next Send. It panics when T is not exactly the column's type.
func Column[T number](c *Chunk, i int) []T {
	if want := duckType[T](); c.types[i] != want {
		panic(fmt.Sprintf("duck: column %d has DuckDB type %d, not %d", i, c.types[i], want))
	}
	return unsafe.Slice((*T)(c.data[i]), ChunkRows)
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

// Send hands the first n rows over and empties the chunk.
func (c *Chunk) Send(n int) error {
	mapping.DataChunkSetSize(c.rows, mapping.IdxT(n))
	if mapping.AppendDataChunk(c.appender, c.rows) == mapping.StateError {
		return problem(mapping.AppenderError(c.appender))
	}
	mapping.DataChunkReset(c.rows)
	c.point()
	return nil
}

// Take hands the chunk over that a question is at, whose columns have the types of the table's.
func (c *Chunk) Take(q *Question) error {
	if mapping.AppendDataChunk(c.appender, q.chunk) == mapping.StateError {
		return problem(mapping.AppenderError(c.appender))
	}
	return nil
}

// Close brings all that was sent into the table, as part of the running transaction.
func (c *Chunk) Close() error {
	var err error
	if mapping.AppenderFlush(c.appender) == mapping.StateError {
		err = problem(mapping.AppenderError(c.appender))
	}
	return errors.Join(err, c.Discard())
}

// Discard frees the chunk; what was sent since the appender's last flush is lost.
func (c *Chunk) Discard() error {
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
			panic(fmt.Sprintf("duck: table %s, column %d has DuckDB type %d, not %d", t.name, i, t.types[i], want))
		}
	}
	switch v := value.(type) {
	case nil:
		mapping.VectorEnsureValidityWritable(t.vectors[i])
		mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(t.vectors[i]), mapping.IdxT(t.row))
	case string: // it must be valid UTF-8
		wants(mapping.TypeVarchar)
		mapping.VectorAssignStringElement(t.vectors[i], mapping.IdxT(t.row), EncodeText(v))
	case []byte:
		wants(mapping.TypeBlob)
		mapping.VectorAssignStringElementLen(t.vectors[i], mapping.IdxT(t.row), v)
	case bool:
		Column[bool](t.Chunk, i)[t.row] = v
	case int32:
		Column[int32](t.Chunk, i)[t.row] = v
	case int64:
		Column[int64](t.Chunk, i)[t.row] = v
	case float64:
		Column[float64](t.Chunk, i)[t.row] = v
	case uint16:
		Column[uint16](t.Chunk, i)[t.row] = v
	case uint32:
		Column[uint32](t.Chunk, i)[t.row] = v
	case uint64:
		Column[uint64](t.Chunk, i)[t.row] = v
	case limit.Time:
		if err := CheckTime(v); err != nil && t.err == nil {
			t.err = err
		}
		Column[limit.Time](t.Chunk, i)[t.row] = v
	default:
		panic(fmt.Sprintf("duck: table %s, column %d: no DuckDB type for %T", t.name, i, value))
	}
}
