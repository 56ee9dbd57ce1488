package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"shadow/store/duck"
)

// Rows are the answer to a question, row by row.
type Rows struct {
	// Columns are the names of the columns.
	Columns []string

	path     string
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
	Wait   Wait  // for a process that has the file open
}

// DefaultQueryMemory is what a question may take of memory, unless more is allowed.
const DefaultQueryMemory = 2 << 30

// Query asks the database at path, and only reads: see duck/reads.go. It never creates the file. The rows must be
// closed.
//
// When ctx ends, so does the question, within a second: what does not react to that is left running, until the
// process ends.
func Query(ctx context.Context, path, text string, o QueryOptions) (_ *Rows, err error) {
	o.Memory = cmp.Or(o.Memory, DefaultQueryMemory)
	d, path, err := openRead(ctx, path, o.Wait, querySettings(o.Memory))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	go watchMemory(ctx, o.Memory, func() { stop(errMemory(o.Memory)) })
	r := &Rows{path: path, conn: d, memory: o.Memory, ctx: ctx, stop: stop}
	if r.question, err = duck.Ask(ctx, d, text); err != nil {
		err = r.explain(err)
		r.Close() //nolint:errcheck // the error that is returned says more
		return nil, err
	}
	r.Columns, r.vectors = r.question.Columns()
	return r, nil
}

// querySettings hold from the moment of opening, and Harden keeps them. DuckDB does not count the texts that
// functions make, so it gets a half of the memory to count, and watchMemory has an eye on all of it.
func querySettings(memory int64) duck.Settings {
	return slices.Concat(duck.ReadOnly, duck.Settings{
		{"allow_persistent_secrets", "false"},
		{"temp_directory", ""}, // what takes too much memory fails, and writes nothing
		{"memory_limit", fmt.Sprintf("%dKiB", memory/2>>10)},
		{"enable_external_access", "false"},
	})
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

// Close gives the database free.
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
	case strings.HasPrefix(text, "Out of Memory Error"):
		return errMemory(r.memory)
	case strings.Contains(text, "LocalFileSystem"): // the one that Harden disables
		return errors.New("query only reads its database, and reaches no other file")
	case strings.HasPrefix(text, "Catalog Error"), strings.HasPrefix(text, "Binder Error"):
		if other := checkOurs(r.conn); other != nil { // the name may be missing because the file has no runs
			return fmt.Errorf("database %s: %w", r.path, other)
		}
	}
	return err
}

func errMemory(limit int64) error {
	return fmt.Errorf("the question takes more than the %d MiB of memory that it may have: ask for less, or allow more with --memory", limit>>20)
}

// openRead opens a database that is there, to read it, and returns its own path.
func openRead(ctx context.Context, path string, wait Wait, with duck.Settings) (d *duck.Conn, real string, err error) {
	if err := checkExists(path); err != nil {
		return nil, "", err
	}
	if path, err = realPath(path); err != nil {
		return nil, "", err
	}
	d, err = openWhole(ctx, path, wait, func() (*duck.Conn, error) { return openExplained(path, with) }, (*duck.Conn).Close)
	return d, path, err
}

// checkExists keeps a question from being asked of a file that is not there.
func checkExists(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("database %s: no such file: shadow replay makes one, --db names another", path)
	case err != nil:
		return fmt.Errorf("database %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("database %s: is a directory", path)
	}
	return nil
}

// checkPath refuses names that the driver's reader would take for options, or for a database in memory, and a pipe, which
// DuckDB waits for.
func checkPath(path string) error {
	if !duck.Built {
		return duck.ErrNotBuilt
	}
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return fmt.Errorf("database %q: want the name of a file", path)
	}
	if _, err := url.Parse(path); err != nil || strings.ContainsAny(path, "?#") {
		return fmt.Errorf("database %q: the name of a database cannot contain ?, #, control characters or a lone %%", path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("database %s: is no regular file", path)
	}
	return nil
}

// memoryInterval is how often the memory is looked at. In that time a machine fills about 100 MB.
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
