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
