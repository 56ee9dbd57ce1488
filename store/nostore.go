//go:build nostore

package store

import (
	"context"
	"unsafe"

	"shadow/limit"
)

// A build with the tag nostore has no DuckDB in it, and so needs no C compiler. Opening a database is an error, and what
// would follow is never reached.

// Built reports whether this program can keep databases.
const Built = false

// DuckDB is the version of the DuckDB in this program, or "".
func DuckDB() string { return "" }

type duck struct {
	ctx  context.Context
	name string
}

func openDuck(string, settings) (*duck, error)                         { return nil, errNotBuilt }
func (*duck) close()                                                   {}
func (*duck) interruptWith(context.Context) (stop func())              { return func() {} }
func (*duck) exec(string) error                                        { return errNotBuilt }
func (*duck) scan(string, []field, unsafe.Pointer, func() error) error { return errNotBuilt }
func (*duck) newChunk(string) (*chunk, error)                          { return nil, errNotBuilt }
func (*duck) harden() error                                            { return errNotBuilt }
func (*duck) checkReads(string) (string, error)                        { return "", errNotBuilt }

type chunk struct{ types []struct{} }

const chunkRows = 1

func column[T bool | int32 | uint16 | uint32 | limit.Time](*chunk, int) []T { return nil }
func (*chunk) send(int) error                                               { return errNotBuilt }
func (*chunk) take(*question) error                                         { return errNotBuilt }
func (*chunk) close() error                                                 { return errNotBuilt }
func (*chunk) discard() error                                               { return errNotBuilt }
func (*table) set(int, any)                                                 {}

type question struct {
	ctx    context.Context
	duck   *duck
	memory int64
}

func (*question) step(func() error) error       { return errNotBuilt }
func (*question) start(string) error            { return errNotBuilt }
func (*question) fetch() error                  { return errNotBuilt }
func (*question) columns() ([]string, []vector) { return nil, nil }
func (*question) point([]vector) int            { return 0 }
func (*question) close()                        {}

type vector struct{}

func (vector) value(int) (any, error) { return nil, errNotBuilt }
