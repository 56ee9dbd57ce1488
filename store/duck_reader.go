package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// The way out: answers to questions, by way of database/sql.

// Values of the driver that database/sql hands over as they are.
type (
	duckDecimal  = duckdb.Decimal
	duckInterval = duckdb.Interval
	duckMap      = duckdb.OrderedMap
	duckUnion    = duckdb.Union
)

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
