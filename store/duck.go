//go:build !nostore

package store

// The files duck*.go and query_kind.go are the ones that know the DuckDB driver. Everything goes through its lower layer
// (package mapping): that lets us fill and read DuckDB's vectors in place. A row of seven integers costs a seventh of
// what the driver's AppendRow takes, a Go type can only be written to the column type of the same width, where
// AppendRow narrows silently, and an answer is computed while it is read.
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

// DuckDB is the version of the DuckDB in this program, or "".
func DuckDB() string { return mapping.LibraryVersion() }

// A duck is one connection to a database file.
type duck struct {
	db   mapping.Database
	conn mapping.Connection
	ctx  context.Context // of what is under way
	name string          // that errors of questions carry; "": their callers add it
}

// openDuck opens the file, creating it when there is none.
func openDuck(path string, all settings) (*duck, error) {
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
	d := &duck{ctx: context.Background()}
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

func (d *duck) close() {
	mapping.Disconnect(&d.conn)
	mapping.Close(&d.db)
}

// interruptWith makes what runs end early when ctx is done, until stop is called, once.
func (d *duck) interruptWith(ctx context.Context) (stop func()) {
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

// exec runs one or several statements of ours; nothing that comes from a log may stand in them.
func (d *duck) exec(query string) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return problem(mapping.ResultError(&res))
	}
	return nil
}

// columnTypes are those that a field can take, to the bit. A pointer is one to an int64, nil for NULL; bytes are as
// they are kept.
var columnTypes = map[reflect.Kind][]mapping.Type{
	reflect.Bool: {mapping.TypeBoolean}, reflect.Int32: {mapping.TypeInteger}, reflect.Int64: {mapping.TypeBigInt, mapping.TypeTimestamp},
	reflect.Uint64: {mapping.TypeUBigInt}, reflect.Float64: {mapping.TypeDouble}, reflect.Pointer: {mapping.TypeBigInt},
	reflect.String: {mapping.TypeVarchar}, reflect.Slice: {mapping.TypeBlob, mapping.TypeVarchar},
}

// scan brings row by row of an answer into fields from a place on, which take empties again.
func (d *duck) scan(query string, fields []field, to unsafe.Pointer, take func() error) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return problem(mapping.ResultError(&res))
	}
	if n := int(mapping.ColumnCount(&res)); n != len(fields) {
		panic(fmt.Sprintf("store: an answer has %d columns, not %d", n, len(fields)))
	}
	columns := make([]vector, len(fields))
	for i, f := range fields {
		columns[i].kind = mapping.ColumnType(&res, mapping.IdxT(i))
		if !slices.Contains(columnTypes[f.kind], columns[i].kind) {
			panic(fmt.Sprintf("store: column %d of an answer has DuckDB type %d, which does not fit %v", i, columns[i].kind, f.kind))
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
func (v *vector) copyTo(to unsafe.Pointer, kind reflect.Kind, row int) {
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
		*(*string)(to) = decodeText(v.raw(row))
	case reflect.Slice:
		*(*[]byte)(to) = []byte(v.raw(row))
	}
}
