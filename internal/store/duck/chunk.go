//go:build !nostore && !js

package duck

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"shadow/limit"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The way in: rows on their way into a table, column by column, in the memory of DuckDB.

// A Chunk is a handful of rows on their way into a table, as one vector per column.
type Chunk struct {
	table    string
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
	c := &Chunk{table: table}
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
	c.check(i, reflect.TypeFor[T]())
	return unsafe.Slice((*T)(c.data[i]), ChunkRows)
}

// check panics when a column does not hold values of a Go type.
func (c *Chunk) check(i int, t reflect.Type) {
	if want, known := typesInTables[t]; !known || c.types[i] != want {
		panic(fmt.Sprintf("duck: table %s, column %d has DuckDB type %d, which is not that of %v", c.table, i, c.types[i], t))
	}
}

// typesInTables has the type of the columns that hold values of a Go type, to the bit.
var typesInTables = map[reflect.Type]mapping.Type{
	reflect.TypeFor[bool]():       mapping.TypeBoolean,
	reflect.TypeFor[int32]():      mapping.TypeInteger,
	reflect.TypeFor[int64]():      mapping.TypeBigInt,
	reflect.TypeFor[uint16]():     mapping.TypeUSmallInt,
	reflect.TypeFor[uint32]():     mapping.TypeUInteger,
	reflect.TypeFor[uint64]():     mapping.TypeUBigInt,
	reflect.TypeFor[float64]():    mapping.TypeDouble,
	reflect.TypeFor[limit.Time](): mapping.TypeTimestamp, // microseconds since the epoch, as DuckDB counts
	reflect.TypeFor[string]():     mapping.TypeVarchar,
	reflect.TypeFor[[]byte]():     mapping.TypeBlob,
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
	if value == nil {
		mapping.VectorEnsureValidityWritable(t.vectors[i])
		mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(t.vectors[i]), mapping.IdxT(t.row))
		return
	}
	is := reflect.TypeOf(value)
	t.check(i, is)
	switch v := value.(type) {
	case string: // it must be valid UTF-8
		mapping.VectorAssignStringElement(t.vectors[i], mapping.IdxT(t.row), EncodeText(v))
		return
	case []byte:
		mapping.VectorAssignStringElementLen(t.vectors[i], mapping.IdxT(t.row), v)
		return
	case limit.Time:
		if err := CheckTime(v); err != nil && t.err == nil {
			t.err = err
		}
	}
	reflect.NewAt(is, unsafe.Add(t.data[i], t.row*int(is.Size()))).Elem().Set(reflect.ValueOf(value))
}
