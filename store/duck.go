package store

// The files duck*.go are the ones that know the DuckDB driver. Everything goes through its lower layer (package mapping):
// that lets us fill and read DuckDB's vectors in place. A row of seven integers costs a seventh of what the driver's
// AppendRow takes, a Go type can only be written to the column type of the same width, where AppendRow narrows silently, and
// an answer is computed while it is read.
//
// The driver keeps a cache of open databases. DuckDB locks a file against other processes only; the cache is what keeps one
// process from opening the same file twice.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// A duck is one connection to a database file.
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
	for _, name := range settingOrder(settings) {
		value := settings[name]
		if mapping.SetConfig(config, name, value) == mapping.StateError {
			return nil, fmt.Errorf("DuckDB refuses the setting %s=%s", name, value)
		}
	}
	d := new(duck)
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

// settingOrder puts what forbids other settings behind them.
func settingOrder(settings map[string]string) []string {
	return slices.SortedFunc(maps.Keys(settings), func(x, y string) int {
		last := func(name string) int {
			return slices.Index([]string{"enable_external_access", "lock_configuration"}, name)
		}
		return cmp.Or(cmp.Compare(last(x), last(y)), cmp.Compare(x, y))
	})
}

func (d *duck) close() {
	mapping.Disconnect(&d.conn)
	mapping.Close(&d.db)
}

// interruptWith makes what runs end early when ctx is done, until stop is called, once.
func (d *duck) interruptWith(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		mapping.Interrupt(d.conn)
		close(done)
	})
	return func() {
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

// number runs a query whose answer is one BIGINT.
func (d *duck) number(query string) (int64, error) {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return 0, problem(mapping.ResultError(&res))
	}
	rows := mapping.FetchChunk(res)
	defer mapping.DestroyDataChunk(&rows)
	if mapping.ColumnType(&res, 0) != mapping.TypeBigInt || rows.Ptr == nil || mapping.DataChunkGetSize(rows) != 1 {
		return 0, fmt.Errorf("the answer to %q is not one BIGINT", query)
	}
	return *(*int64)(mapping.VectorGetData(mapping.DataChunkGetVector(rows, 0))), nil
}

// The way back: answers to questions of ours, whole vectors at a time. A column of
// integers is a slice.

// A block is some rows of an answer, column by column. It is valid until scan goes on.
type block struct {
	rows  int
	types []mapping.Type
	data  []unsafe.Pointer // of the vectors
	valid []unsafe.Pointer // masks; nil: nothing is NULL
}

// scan asks a question of ours, in which nothing may stand that comes from a log, and hands over the answer block by block.
func (d *duck) scan(query string, take func(*block) error) error {
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, query, &res) == mapping.StateError {
		return problem(mapping.ResultError(&res))
	}
	b := &block{types: make([]mapping.Type, mapping.ColumnCount(&res))}
	b.data, b.valid = make([]unsafe.Pointer, len(b.types)), make([]unsafe.Pointer, len(b.types))
	for i := range b.types {
		b.types[i] = mapping.ColumnType(&res, mapping.IdxT(i))
	}
	for {
		rows := mapping.FetchChunk(res)
		if rows.Ptr == nil {
			return nil
		}
		b.point(rows)
		err := take(b)
		mapping.DestroyDataChunk(&rows)
		if err != nil {
			return err
		}
	}
}

func (b *block) point(rows mapping.DataChunk) {
	b.rows = int(mapping.DataChunkGetSize(rows))
	for i := range b.data {
		vector := mapping.DataChunkGetVector(rows, mapping.IdxT(i))
		b.data[i], b.valid[i] = mapping.VectorGetData(vector), mapping.VectorGetValidity(vector)
	}
}

// values is column i of the block, whose type must be T to the bit. What stands in the place of NULL means nothing.
func values[T number](b *block, i int) []T {
	if want := duckType[T](); b.types[i] != want {
		panic(fmt.Sprintf("store: column %d of an answer has DuckDB type %d, not %d", i, b.types[i], want))
	}
	return unsafe.Slice((*T)(b.data[i]), b.rows)
}

// orElse is a value of column i, or what stands for NULL.
func orElse[T number](b *block, i, row int, null T) T {
	if b.null(i, row) {
		return null
	}
	return values[T](b, i)[row]
}

// text is a name as it was before it was made fit for a VARCHAR, "" for NULL.
func (b *block) text(i, row int) string {
	if b.types[i] != mapping.TypeVarchar {
		panic(fmt.Sprintf("store: column %d of an answer has DuckDB type %d, not VARCHAR", i, b.types[i]))
	}
	if b.null(i, row) {
		return ""
	}
	return decodeText(string(b.raw(i, row)))
}

// bytes is a value of a BLOB column.
func (b *block) bytes(i, row int) []byte {
	if b.types[i] != mapping.TypeBlob {
		panic(fmt.Sprintf("store: column %d of an answer has DuckDB type %d, not BLOB", i, b.types[i]))
	}
	return b.raw(i, row)
}

// raw is a value of a BLOB or VARCHAR column, as it is kept.
func (b *block) raw(i, row int) []byte {
	at := (*mapping.StringT)(unsafe.Add(b.data[i], row*int(unsafe.Sizeof(mapping.StringT{}))))
	return []byte(mapping.StringTData(at))
}

func (b *block) null(i, row int) bool {
	if b.valid[i] == nil {
		return false
	}
	word := *(*uint64)(unsafe.Add(b.valid[i], row/64*8))
	return word>>(row%64)&1 == 0
}
