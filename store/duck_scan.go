package store

import (
	"fmt"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

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
