package store

// The one file that knows the DuckDB driver. Two ways lead through it:
//
//   - writing goes through the driver's lower layer (package mapping), because only that lets us fill DuckDB's vectors
//     in place: a row of seven integers costs a seventh of what the driver's AppendRow takes, and a Go type can only be
//     written to the column type of the same width, where AppendRow narrows silently;
//   - reading goes through database/sql, which turns every DuckDB type into a Go value.
//
// Both ways share the driver's cache of open databases. DuckDB locks a file against other processes only; the cache
// is what keeps one process from opening the same file twice.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unsafe"

	"shadow/limit"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Values of the driver that database/sql hands over as they are.
type (
	duckDecimal  = duckdb.Decimal
	duckInterval = duckdb.Interval
	duckMap      = duckdb.OrderedMap
	duckUnion    = duckdb.Union
)

// A duck is one read-write connection to a database file.
type duck struct {
	db   mapping.Database
	conn mapping.Connection
}

// openDuck opens the file, creating it when there is none.
func openDuck(path string, settings map[string]string) (*duck, error) {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return nil, errors.New("cannot set up DuckDB")
	}
	defer mapping.DestroyConfig(&config)
	for name, value := range settings {
		if mapping.SetConfig(config, name, value) == mapping.StateError {
			return nil, fmt.Errorf("DuckDB refuses the setting %s=%s", name, value)
		}
	}
	d := new(duck)
	var message string
	if mapping.GetOrCreateFromCache(duckdb.GetInstanceCache(), path, &d.db, config, &message) == mapping.StateError {
		mapping.Close(&d.db)
		return nil, errors.New(message)
	}
	if mapping.Connect(d.db, &d.conn) == mapping.StateError {
		mapping.Close(&d.db)
		return nil, errors.New("cannot connect to the database")
	}
	return d, nil
}

func (d *duck) close() {
	mapping.Disconnect(&d.conn)
	mapping.Close(&d.db)
}

// exec runs one or several statements of ours; nothing that comes from a log may stand in them.
func (d *duck) exec(query string) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return errors.New(mapping.ResultError(&res))
	}
	return nil
}

// number runs a query whose answer is one BIGINT.
func (d *duck) number(query string) (int64, error) {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return 0, errors.New(mapping.ResultError(&res))
	}
	rows := mapping.FetchChunk(res)
	defer mapping.DestroyDataChunk(&rows)
	if mapping.ColumnType(&res, 0) != mapping.TypeBigInt || rows.Ptr == nil || mapping.DataChunkGetSize(rows) != 1 {
		return 0, fmt.Errorf("the answer to %q is not one BIGINT", query)
	}
	return *(*int64)(mapping.VectorGetData(mapping.DataChunkGetVector(rows, 0))), nil
}

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
		return nil, errors.Join(errors.New(mapping.AppenderError(c.appender)), c.discard())
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
	bool | int32 | int64 | uint16 | uint32 | uint64 | limit.Time
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
	default: // limit.Time: microseconds since the epoch, as DuckDB counts
		return mapping.TypeTimestamp
	}
}

// setText puts a string, which must be valid UTF-8, into a VARCHAR column.
func (c *chunk) setText(i, row int, text string) {
	if c.types[i] != mapping.TypeVarchar {
		panic(fmt.Sprintf("store: column %d has DuckDB type %d, not VARCHAR", i, c.types[i]))
	}
	mapping.VectorAssignStringElement(c.vectors[i], mapping.IdxT(row), text)
}

func (c *chunk) setNull(i, row int) {
	mapping.VectorEnsureValidityWritable(c.vectors[i])
	mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(c.vectors[i]), mapping.IdxT(row))
}

// send hands the first n rows over and empties the chunk.
func (c *chunk) send(n int) error {
	mapping.DataChunkSetSize(c.rows, mapping.IdxT(n))
	if mapping.AppendDataChunk(c.appender, c.rows) == mapping.StateError {
		return errors.New(mapping.AppenderError(c.appender))
	}
	mapping.DataChunkReset(c.rows)
	c.point()
	return nil
}

// close brings all that was sent into the table, as part of the running transaction.
func (c *chunk) close() error {
	var err error
	if mapping.AppenderFlush(c.appender) == mapping.StateError {
		err = errors.New(mapping.AppenderError(c.appender))
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

// openReader opens an existing file for reading.
func openReader(ctx context.Context, path string, settings map[string]string) (*sql.Conn, func() error, error) {
	options := url.Values{}
	for name, value := range settings {
		options.Set(name, value)
	}
	connector, err := duckdb.NewConnector(path+"?"+options.Encode(), nil)
	if err != nil {
		return nil, nil, duckError(err)
	}
	db := sql.OpenDB(connector) // closes the connector
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(duckError(err), db.Close())
	}
	return conn, func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

// duckError takes DuckDB's own message out of the driver's wrapping.
func duckError(err error) error {
	if e, ok := errors.AsType[*duckdb.Error](err); ok {
		return errors.New(strings.TrimSpace(e.Msg))
	}
	return err
}
