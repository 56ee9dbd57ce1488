//go:build !nostore

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The way out: answers to questions of other people, one chunk at a time. DuckDB computes the next chunk when it is
// asked for, so an answer takes the same memory however long it is.
//
// A question may take long anywhere in DuckDB, and a single call of a function (repeat, say) does not react to an
// interrupt. Each step that may take long therefore runs in a goroutine of its own. When ctx ends, it is interrupted;
// when that does not help within graceAfterInterrupt, it is abandoned: nothing is written, so the end of the process
// may cut it off.

const (
	graceAfterInterrupt = 500 * time.Millisecond
	interruptInterval   = 50 * time.Millisecond
)

// A question is a connection that answers one.
type question struct {
	ctx       context.Context
	duck      *duck
	memory    int64 // bytes that it may take
	statement mapping.PreparedStatement
	result    mapping.Result
	chunk     mapping.DataChunk
	abandoned bool // a step is under way that nobody waits for: nothing may be released
}

// step runs do, which calls DuckDB, until it ends or ctx does.
func (q *question) step(do func() error) error {
	if cause := context.Cause(q.ctx); cause != nil {
		return cause
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-q.ctx.Done():
	}
	for deadline := time.Now().Add(graceAfterInterrupt); time.Now().Before(deadline); {
		mapping.Interrupt(q.duck.conn) // again and again: DuckDB forgets it when it begins a statement
		select {
		case <-done: //nolint:errcheck // only when it ends matters here
			return context.Cause(q.ctx)
		case <-time.After(interruptInterval):
		}
	}
	q.abandoned = true
	return context.Cause(q.ctx)
}

// start executes what is to be executed first, and begins with the last statement of those that text consists of.
func (q *question) start(text string) error {
	var parts mapping.ExtractedStatements
	n := mapping.ExtractStatements(q.duck.conn, text, &parts)
	defer mapping.DestroyExtracted(&parts)
	for i := range n {
		q.release()
		if mapping.PrepareExtractedStatement(q.duck.conn, parts, i, &q.statement) == mapping.StateError {
			return errors.New(strings.TrimSpace(mapping.PrepareError(q.statement)))
		}
		kind := mapping.PreparedStatementType(q.statement)
		mayRun := kind == mapping.StatementTypeSelect || kind == mapping.StatementTypeExplain
		if i+1 < n { // in front of the last one stand the types that DuckDB makes of the values of a PIVOT
			mayRun = kind == mapping.StatementTypeCreate
		}
		if !mayRun {
			return fmt.Errorf("query only reads: DuckDB takes it for a statement of kind %d", kind)
		}
		if err := q.execute(); err != nil {
			return err
		}
	}
	return nil
}

func (q *question) execute() error {
	var pending mapping.PendingResult
	defer mapping.DestroyPending(&pending)
	// Deprecated it is, but there is nothing else that does not compute the whole answer first.
	if bindings.PendingPreparedStreaming(q.statement, &pending) == mapping.StateError {
		return errors.New(strings.TrimSpace(mapping.PendingError(pending)))
	}
	if mapping.ExecutePending(pending, &q.result) == mapping.StateError {
		return q.failed()
	}
	return nil
}

// fetch makes the next chunk the current one. It returns io.EOF after the last.
func (q *question) fetch() error {
	mapping.DestroyDataChunk(&q.chunk)
	if q.chunk = mapping.FetchChunk(q.result); q.chunk.Ptr != nil {
		return nil
	}
	if err := q.failed(); err != nil {
		return err
	}
	return io.EOF
}

// columns are the names of the answer's columns, and what reads their values.
func (q *question) columns() (names []string, values []vector) {
	for i := range mapping.ColumnCount(&q.result) {
		names = append(names, mapping.ColumnName(&q.result, i))
		values = append(values, newVector(mapping.ColumnLogicalType(&q.result, i)))
	}
	return names, values
}

// point makes values read the chunk, and returns how many rows it has.
func (q *question) point(values []vector) int {
	for i := range values {
		values[i].point(mapping.DataChunkGetVector(q.chunk, mapping.IdxT(i)))
	}
	return int(mapping.DataChunkGetSize(q.chunk))
}

// failed is what is wrong with the result, if anything is.
func (q *question) failed() error {
	if text := strings.TrimSpace(mapping.ResultError(&q.result)); text != "" {
		return errors.New(text)
	}
	return nil
}

// release gives back what one statement took.
func (q *question) release() {
	mapping.DestroyDataChunk(&q.chunk)
	mapping.DestroyResult(&q.result)
	mapping.DestroyPrepare(&q.statement)
}

func (q *question) close() {
	if !q.abandoned {
		q.release()
		q.duck.close()
	}
}
