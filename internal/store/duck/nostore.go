//go:build nostore || js

package duck

import (
	"context"
	"unsafe"

	"shadow/limit"
)

// A build with the tag nostore has no DuckDB in it, and so needs no C compiler. Opening a database is an error, and what
// would follow is never reached.

// Built reports whether this program can keep databases.
const Built = false

// Version returns the version of the DuckDB in this program, or "".
func Version() string { return "" }

// A Conn is never there, and so is none of what follows.
type Conn struct {
	ctx  context.Context
	Name string
}

func Open(string, Settings) (*Conn, error)                             { return nil, ErrNotBuilt }
func (*Conn) Close()                                                   {}
func (*Conn) InterruptWith(context.Context) (stop func())              { return func() {} }
func (*Conn) Exec(string) error                                        { return ErrNotBuilt }
func (*Conn) scan(string, []field, unsafe.Pointer, func() error) error { return ErrNotBuilt }
func (*Conn) NewChunk(string) (*Chunk, error)                          { return nil, ErrNotBuilt }

type Chunk struct{ types []struct{} }

const ChunkRows = 1

func Column[T bool | int32 | uint16 | uint32 | limit.Time](*Chunk, int) []T { return nil }
func (*Chunk) Send(int) error                                               { return ErrNotBuilt }
func (*Chunk) Take(*Question) error                                         { return ErrNotBuilt }
func (*Chunk) Close() error                                                 { return ErrNotBuilt }
func (*Chunk) Discard() error                                               { return ErrNotBuilt }
func (*table) set(int, any)                                                 {}

type Question struct{}

func Ask(context.Context, *Conn, string) (*Question, error) { return nil, ErrNotBuilt }
func (*Question) Next() error                               { return ErrNotBuilt }
func (*Question) Columns() ([]string, []Vector)             { return nil, nil }
func (*Question) Point([]Vector) int                        { return 0 }
func (*Question) Close()                                    {}

type Vector struct{}

func (Vector) Value(int) (any, error) { return nil, ErrNotBuilt }
