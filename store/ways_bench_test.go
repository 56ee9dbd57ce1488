//go:build !nostore

package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"shadow/replay"
	"shadow/store/duck"
)

// The ways into DuckDB that were not taken, which docs/decisions/0002 compares with BenchmarkWriteEvents: each writes
// events to a fresh file in one transaction.

// benchmarkWay measures rows a second, from BEGIN to the end of COMMIT.
func benchmarkWay(b *testing.B, rows int, write func(conn *sql.Conn, events []replay.Event) error) {
	events := batch(b, rows)
	for b.Loop() {
		b.StopTimer()
		connector, err := duckdb.NewConnector(dbPath(b)+"?threads=1", nil)
		if err != nil {
			b.Fatal(err)
		}
		db := sql.OpenDB(connector)
		conn, err := db.Conn(b.Context())
		if err == nil {
			_, err = conn.ExecContext(b.Context(), schemaSQL)
		}
		b.StartTimer()
		for _, step := range []func() error{
			func() error { _, err := conn.ExecContext(b.Context(), "BEGIN"); return err },
			func() error { return write(conn, events) },
			func() error { _, err := conn.ExecContext(b.Context(), "COMMIT"); return err },
		} {
			if err == nil {
				err = step()
			}
		}
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		conn.Close()
		db.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkWayInsert(b *testing.B) {
	benchmarkWay(b, 10_000, func(conn *sql.Conn, events []replay.Event) error {
		insert, err := conn.PrepareContext(b.Context(), "INSERT INTO events VALUES (?, ?, make_timestamp(?), ?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, e := range events {
			if _, err := insert.Exec(1, e.Policy, int64(e.At), e.Client, e.Action, e.Status, e.Count); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkWayAppendRow(b *testing.B) {
	benchmarkWay(b, 4<<20, func(conn *sql.Conn, events []replay.Event) error {
		return conn.Raw(func(raw any) error {
			appender, err := duckdb.NewAppenderFromConn(raw.(driver.Conn), "", "events")
			if err != nil {
				return err
			}
			for i := range events {
				e := &events[i]
				if err := appender.AppendRow(int32(1), e.Policy, timeOf(e), e.Client, e.Action, e.Status, e.Count); err != nil {
					return err
				}
			}
			return appender.Close()
		})
	})
}

func BenchmarkWayTableFunction(b *testing.B) {
	benchmarkWay(b, 4<<20, func(conn *sql.Conn, events []replay.Event) error {
		function := duckdb.ChunkTableFunction{
			BindArguments: func(map[string]any, ...any) (duckdb.ChunkTableSource, error) { return &eventSource{events}, nil },
		}
		if err := duckdb.RegisterTableUDF(conn, "our_events", function); err != nil {
			return err
		}
		_, err := conn.ExecContext(b.Context(), "INSERT INTO events FROM our_events()")
		return err
	})
}

// An eventSource hands events to DuckDB when DuckDB asks for them.
type eventSource struct{ events []replay.Event }

func (s *eventSource) ColumnInfos() (columns []duckdb.ColumnInfo) {
	for _, c := range []struct {
		name string
		is   duckdb.Type
	}{
		{"run", duckdb.TYPE_INTEGER},
		{"policy", duckdb.TYPE_INTEGER},
		{"time", duckdb.TYPE_TIMESTAMP},
		{"client", duckdb.TYPE_INTEGER},
		{"action", duckdb.TYPE_INTEGER},
		{"status", duckdb.TYPE_USMALLINT},
		{"count", duckdb.TYPE_UINTEGER},
	} {
		info, err := duckdb.NewTypeInfo(c.is)
		if err != nil {
			panic(err) // they are plain types
		}
		columns = append(columns, duckdb.ColumnInfo{Name: c.name, T: info})
	}
	return columns
}

func (s *eventSource) Init() {}

func (s *eventSource) Cardinality() *duckdb.CardinalityInfo { return nil }

func (s *eventSource) FillChunk(chunk duckdb.DataChunk) error {
	n := min(duck.ChunkRows, len(s.events))
	for i := range s.events[:n] {
		e := &s.events[i]
		if err := errors.Join(
			duckdb.SetChunkValue(chunk, 0, i, int32(1)), duckdb.SetChunkValue(chunk, 1, i, e.Policy),
			duckdb.SetChunkValue(chunk, 2, i, timeOf(e)), duckdb.SetChunkValue(chunk, 3, i, e.Client),
			duckdb.SetChunkValue(chunk, 4, i, e.Action), duckdb.SetChunkValue(chunk, 5, i, e.Status),
			duckdb.SetChunkValue(chunk, 6, i, e.Count),
		); err != nil {
			return err
		}
	}
	s.events = s.events[n:]
	return chunk.SetSize(n)
}

func timeOf(e *replay.Event) time.Time { return time.UnixMicro(int64(e.At)).UTC() }
