package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"shadow/internal/store/duck"
)

// Rows are the answer to a question, row by row.
type Rows struct {
	// Columns are the names of the columns.
	Columns []string

	folder   folder
	conn     *duck.Conn
	memory   int64 // bytes that the question may take
	question *duck.Question
	vectors  []duck.Vector
	row      int // the next one of the chunk
	rows     int // of the chunk
	ctx      context.Context
	stop     context.CancelCauseFunc
}

// QueryOptions bound what a question may take.
type QueryOptions struct {
	Memory int64 // bytes; 0 is DefaultQueryMemory
}

// DefaultQueryMemory bounds the memory of a question in bytes, unless more is allowed.
const DefaultQueryMemory = 2 << 30

// Query asks the database at path, and only reads: see duck/reads.go. It never creates the folder. The rows must be
// closed.
//
// When ctx ends, so does the question, within a second: what does not react to that is left running, until the
// process ends.
func Query(ctx context.Context, path, text string, o QueryOptions) (_ *Rows, err error) {
	o.Memory = cmp.Or(o.Memory, DefaultQueryMemory)
	f := folder(path)
	all, err := f.listWhole()
	if err != nil {
		return nil, err
	}
	d, err := openViews(f, all, querySettings(o.Memory))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, f.wrap(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	go watchMemory(ctx, o.Memory, func() { stop(errMemory(o.Memory)) })
	r := &Rows{folder: f, conn: d, memory: o.Memory, ctx: ctx, stop: stop}
	if r.question, err = duck.Ask(ctx, d, text); err != nil {
		err = r.explain(err)
		r.Close() //nolint:errcheck // the error that is returned says more
		return nil, err
	}
	r.Columns, r.vectors = r.question.Columns()
	return r, nil
}

// querySettings hold from the moment of opening. DuckDB does not count the texts that functions make, so it gets a half of
// the memory to count, and watchMemory has an eye on all of it.
func querySettings(memory int64) duck.Settings {
	return duck.Settings{
		{"allow_persistent_secrets", "false"},
		{"temp_directory", ""}, // what takes too much memory fails, and writes nothing
		{"memory_limit", fmt.Sprintf("%dKiB", memory/2>>10)},
	}
}

// Next returns the next row, or io.EOF. The caller may keep it. Its values are what encoding/json and Text
// understand: nil, bool, int64, uint64, float64, string, json.Number for what is too exact for those, []any and
// map[string]any.
func (r *Rows) Next() ([]any, error) {
	for r.row == r.rows {
		err := r.question.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, r.explain(err)
		}
		r.row, r.rows = 0, r.question.Point(r.vectors)
	}
	row := make([]any, len(r.vectors))
	for i := range r.vectors {
		value, err := r.vectors[i].Value(r.row)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", r.Columns[i], err)
		}
		row[i] = value
	}
	r.row++
	return row, nil
}

// Close frees what the question has.
func (r *Rows) Close() error {
	r.question.Close()
	r.stop(nil)
	return nil
}

// explain puts DuckDB's errors into words of ours.
func (r *Rows) explain(err error) error {
	if cause := context.Cause(r.ctx); cause != nil {
		return cause
	}
	switch text := err.Error(); {
	case errors.Is(err, duck.ErrDamaged):
		return r.folder.wrap(err)
	case strings.HasPrefix(text, "Out of Memory Error"):
		return errMemory(r.memory)
	case strings.HasPrefix(text, "Permission Error"): // openViews allows the files of runs alone
		return errors.New("query only reads its database, and reaches no other file")
	}
	return err
}

func errMemory(limit int64) error {
	return fmt.Errorf("the question takes more than the %d MiB of memory that it may have: ask for less, or allow more with --memory", limit>>20)
}

// memoryInterval lies between two looks at the memory. In that time a machine fills about 100 MB.
const memoryInterval = 20 * time.Millisecond

// watchMemory calls exceeded when the process has come to hold more than limit bytes beyond what it holds now. It
// looks until ctx ends.
func watchMemory(ctx context.Context, limit int64, exceeded func()) {
	begun, ok := resident()
	if !ok {
		return
	}
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now, ok := resident(); ok && now-begun > limit {
			exceeded()
			return
		}
	}
}

// resident returns how many bytes of memory the process holds for itself alone, without what it shares with files.
// Where the system does not tell, only DuckDB's own account bounds a question.
func resident() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	var size, resident, shared int64 // pages
	if _, errScan := fmt.Sscan(string(text), &size, &resident, &shared); err != nil || errScan != nil {
		return 0, false
	}
	return (resident - shared) * int64(os.Getpagesize()), true
}
