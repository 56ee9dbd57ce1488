//go:build !nostore && !js

package duck

// Everything goes through the lower layer of the driver (package mapping): that lets us fill and read DuckDB's vectors
// in place. A row of seven integers costs a seventh of what the driver's AppendRow takes, a Go type can only be written
// to the column type of the same width, where AppendRow narrows silently, and an answer is computed while it is read.
//
// The driver keeps a cache of open databases. DuckDB locks a file against other processes only; the cache is what
// keeps one process from opening the same file twice.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Built reports whether this program can keep databases.
const Built = true

// Version returns the version of the DuckDB in this program, or "".
func Version() string { return mapping.LibraryVersion() }

// A Conn is one connection to a database file.
type Conn struct {
	db   mapping.Database
	conn mapping.Connection
	ctx  context.Context // of what is under way
	Name string          // that errors of questions carry; "": their callers add it
}

// Open opens the file, creating it when there is none.
func Open(path string, all Settings) (*Conn, error) {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return nil, errors.New("cannot set up DuckDB")
	}
	defer mapping.DestroyConfig(&config)
	for _, s := range all {
		if mapping.SetConfig(config, s[0], s[1]) == mapping.StateError {
			return nil, fmt.Errorf("DuckDB refuses the setting %s=%s", s[0], s[1])
		}
	}
	d := &Conn{ctx: context.Background()}
	var message string
	if mapping.GetOrCreateFromCache(duckdb.GetInstanceCache(), path, &d.db, config, &message) == mapping.StateError {
		mapping.Close(&d.db)
		return nil, problem(message)
	}
	if mapping.Connect(d.db, &d.conn) == mapping.StateError {
		mapping.Close(&d.db)
		return nil, errors.New("cannot connect to the database")
	}
	return d, nil
}

// Close gives the file free.
func (d *Conn) Close() {
	mapping.Disconnect(&d.conn)
	mapping.Close(&d.db)
}

// InterruptWith makes what runs end early when ctx is done, until stop is called, once.
func (d *Conn) InterruptWith(ctx context.Context) (stop func()) {
	d.ctx = ctx
	done := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		mapping.Interrupt(d.conn)
		close(done)
	})
	return func() {
		d.ctx = context.Background()
		if !undo() {
			<-done
		}
	}
}

// Exec runs one or several statements of ours; nothing that comes from a log may stand in them.
func (d *Conn) Exec(query string) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return problem(mapping.ResultError(&res))
	}
	return nil
}

// columnTypes lists the types of columns that a field can take, to the bit. A pointer is one to an int64, nil for NULL; bytes are as
// they are kept.
var columnTypes = map[reflect.Kind][]mapping.Type{
	reflect.Bool: {mapping.TypeBoolean}, reflect.Int32: {mapping.TypeInteger}, reflect.Int64: {mapping.TypeBigInt, mapping.TypeTimestamp},
	reflect.Uint64: {mapping.TypeUBigInt}, reflect.Float64: {mapping.TypeDouble}, reflect.Pointer: {mapping.TypeBigInt},
	reflect.String: {mapping.TypeVarchar}, reflect.Slice: {mapping.TypeBlob, mapping.TypeVarchar},
}

// scan brings row by row of an answer into fields from a place on, which take empties again.
func (d *Conn) scan(query string, fields []field, to unsafe.Pointer, take func() error) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return problem(mapping.ResultError(&res))
	}
	if n := int(mapping.ColumnCount(&res)); n != len(fields) {
		panic(fmt.Sprintf("duck: an answer has %d columns, not %d", n, len(fields)))
	}
	columns := make([]Vector, len(fields))
	for i, f := range fields {
		columns[i].kind = mapping.ColumnType(&res, mapping.IdxT(i))
		if !slices.Contains(columnTypes[f.kind], columns[i].kind) {
			panic(fmt.Sprintf("duck: column %d of an answer has DuckDB type %d, which does not fit %v", i, columns[i].kind, f.kind))
		}
	}
	for {
		rows := mapping.FetchChunk(res)
		if rows.Ptr == nil {
			return nil
		}
		for i := range columns {
			columns[i].point(mapping.DataChunkGetVector(rows, mapping.IdxT(i)))
		}
		var err error
		for row := 0; row < int(mapping.DataChunkGetSize(rows)) && err == nil; row++ {
			for i, f := range fields {
				columns[i].copyTo(unsafe.Add(to, f.offset), f.kind, row)
			}
			err = take()
		}
		mapping.DestroyDataChunk(&rows)
		if err != nil {
			return err
		}
	}
}

// copyTo puts a value into a field, unless it is NULL. A text becomes the name that it was made of.
func (v *Vector) copyTo(to unsafe.Pointer, kind reflect.Kind, row int) {
	if v.null(row) {
		return
	}
	switch kind {
	case reflect.Bool:
		*(*bool)(to) = as[bool](v, row)
	case reflect.Int32:
		*(*int32)(to) = as[int32](v, row)
	case reflect.Int64:
		*(*int64)(to) = as[int64](v, row)
	case reflect.Uint64:
		*(*uint64)(to) = as[uint64](v, row)
	case reflect.Float64:
		*(*float64)(to) = as[float64](v, row)
	case reflect.Pointer:
		n := as[int64](v, row)
		*(**int64)(to) = &n
	case reflect.String:
		*(*string)(to) = DecodeText(v.raw(row))
	case reflect.Slice:
		*(*[]byte)(to) = []byte(v.raw(row))
	}
}
