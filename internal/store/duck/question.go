//go:build !nostore && !js

package duck

import (
	"context"
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

// A Question is a connection that answers one.
type Question struct {
	ctx       context.Context
	conn      *Conn
	statement mapping.PreparedStatement
	result    mapping.Result
	chunk     mapping.DataChunk
	abandoned bool // a step is under way for which no caller waits: nothing may be released
}

// Ask begins with a question: what it executes first, and then, until ctx ends, its answer. The connection is closed
// with it, whatever the error.
func Ask(ctx context.Context, d *Conn, text string) (*Question, error) {
	q := &Question{ctx: ctx, conn: d}
	return q, q.step(func() error {
		reading, err := d.checkReads(text)
		if err != nil {
			return err
		}
		return q.start(reading)
	})
}

// step runs do, which calls DuckDB, until it ends or ctx does.
func (q *Question) step(do func() error) error {
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
		mapping.Interrupt(q.conn.conn) // again and again: DuckDB forgets it when it begins a statement
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
func (q *Question) start(text string) error {
	var parts mapping.ExtractedStatements
	n := mapping.ExtractStatements(q.conn.conn, text, &parts)
	defer mapping.DestroyExtracted(&parts)
	for i := range n {
		q.release()
		if mapping.PrepareExtractedStatement(q.conn.conn, parts, i, &q.statement) == mapping.StateError {
			return problem(strings.TrimSpace(mapping.PrepareError(q.statement)))
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

func (q *Question) execute() error {
	var pending mapping.PendingResult
	defer mapping.DestroyPending(&pending)
	// Deprecated it is, but there is nothing else that does not compute the whole answer first.
	if bindings.PendingPreparedStreaming(q.statement, &pending) == mapping.StateError {
		return problem(strings.TrimSpace(mapping.PendingError(pending)))
	}
	if mapping.ExecutePending(pending, &q.result) == mapping.StateError {
		return q.failed()
	}
	return nil
}

// Next makes the next chunk the current one. It returns io.EOF after the last.
func (q *Question) Next() error { return q.step(q.fetch) }

func (q *Question) fetch() error {
	mapping.DestroyDataChunk(&q.chunk)
	if q.chunk = mapping.FetchChunk(q.result); q.chunk.Ptr != nil {
		return nil
	}
	if err := q.failed(); err != nil {
		return err
	}
	return io.EOF
}

// Columns are the names of the answer's columns, and what reads their values.
func (q *Question) Columns() (names []string, values []Vector) {
	for i := range mapping.ColumnCount(&q.result) {
		names = append(names, mapping.ColumnName(&q.result, i))
		values = append(values, newVector(mapping.ColumnLogicalType(&q.result, i)))
	}
	return names, values
}

// Point makes values read the chunk, and returns how many rows it has.
func (q *Question) Point(values []Vector) int {
	for i := range values {
		values[i].point(mapping.DataChunkGetVector(q.chunk, mapping.IdxT(i)))
	}
	return int(mapping.DataChunkGetSize(q.chunk))
}

// failed returns what is wrong with the result, if anything is.
func (q *Question) failed() error {
	if text := strings.TrimSpace(mapping.ResultError(&q.result)); text != "" {
		return problem(text)
	}
	return nil
}

// release gives back what one statement took.
func (q *Question) release() {
	mapping.DestroyDataChunk(&q.chunk)
	mapping.DestroyResult(&q.result)
	mapping.DestroyPrepare(&q.statement)
}

// Close lets go of the connection, unless something is under way for which no caller waits.
func (q *Question) Close() {
	if !q.abandoned {
		q.release()
		q.conn.Close()
	}
}
