package store

// The files duck*.go are the ones that know the DuckDB driver. Two ways lead through it:
//
//   - writing (duck_chunk.go) goes through the driver's lower layer (package mapping), because only that lets us fill
//     DuckDB's vectors in place: a row of seven integers costs a seventh of what the driver's AppendRow takes, and a Go
//     type can only be written to the column type of the same width, where AppendRow narrows silently;
//   - reading (duck_reader.go) goes through database/sql, which turns every DuckDB type into a Go value.
//
// Both ways share the driver's cache of open databases. DuckDB locks a file against other processes only; the cache
// is what keeps one process from opening the same file twice.

import (
	"context"
	"errors"
	"fmt"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
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
