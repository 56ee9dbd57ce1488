package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The way out: answers to questions, by way of database/sql.

// Values of the driver that database/sql hands over as they are.
type (
	duckDecimal  = duckdb.Decimal
	duckInterval = duckdb.Interval
	duckMap      = duckdb.OrderedMap
	duckUnion    = duckdb.Union
)

// A connection is one for reading.
type connection struct {
	*sql.Conn
	db *sql.DB
}

func (c *connection) close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// openReader opens an existing file for reading.
func openReader(ctx context.Context, path string, settings map[string]string) (*connection, error) {
	options := url.Values{}
	for name, value := range settings {
		options.Set(name, value)
	}
	connector, err := duckdb.NewConnector(path+"?"+options.Encode(), nil)
	if err != nil {
		return nil, explainOpen(path, duckError(err))
	}
	db := sql.OpenDB(connector) // closes the connector
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, explainOpen(path, errors.Join(duckError(err), db.Close()))
	}
	return &connection{conn, db}, nil
}

// errSeveral refuses a question of several statements: the driver would run them all and hand over one answer, the last.
var errSeveral = errors.New("several statements, of which only the last one's answer would be shown: ask one at a time")

// checkSingle returns errSeveral if a question has several statements. DuckDB tells how it takes the question apart;
// nothing is run. What creates something may stand in front of the last statement, because DuckDB itself makes such of
// a PIVOT.
func checkSingle(path string, settings map[string]string, query string) error {
	d, err := openDuck(path, settings)
	if err != nil {
		return err
	}
	defer d.close()
	var parts mapping.ExtractedStatements
	n := mapping.ExtractStatements(d.conn, query, &parts)
	defer mapping.DestroyExtracted(&parts)
	for i := mapping.IdxT(0); i+1 < n; i++ {
		creates, err := d.creates(parts, i)
		switch {
		case err != nil && i == 0:
			return err
		case err != nil:
			return fmt.Errorf("%w\nIf an earlier statement would create that: %w", err, errSeveral)
		case !creates:
			return errSeveral
		}
	}
	return nil
}

// creates tells whether a part of a question creates something, and has no answer.
func (d *duck) creates(parts mapping.ExtractedStatements, i mapping.IdxT) (bool, error) {
	var statement mapping.PreparedStatement
	defer mapping.DestroyPrepare(&statement)
	if mapping.PrepareExtractedStatement(d.conn, parts, i, &statement) == mapping.StateError {
		return false, errors.New(strings.TrimSpace(mapping.PrepareError(statement)))
	}
	return mapping.PreparedStatementType(statement) == mapping.StatementTypeCreate, nil
}

// duckError takes DuckDB's own message out of the driver's wrapping.
func duckError(err error) error {
	if e, ok := errors.AsType[*duckdb.Error](err); ok {
		return errors.New(strings.TrimSpace(e.Msg))
	}
	return err
}
