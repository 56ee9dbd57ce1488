package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/logfile"
	"shadow/internal/store/duck"
)

// WriteParquet writes what a file of CSV holds, with a head, as Parquet. columns are the names and types of its columns in
// SQL, in a list as read_csv takes them. The file to is replaced where it is.
func WriteParquet(ctx context.Context, from, to, columns string) error {
	d, err := inMemory()
	if err != nil {
		return err
	}
	defer d.Close()
	defer d.InterruptWith(ctx)()
	return d.Exec(fmt.Sprintf(`COPY (SELECT * FROM read_csv(%s, header = true, delim = ',', quote = '"', escape = '"', columns = %s))
		TO %s (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)`, literal(from), columns, literal(to)))
}

func init() {
	if duck.Built {
		logfile.ReadParquet = readParquet
	}
}

// readParquet writes what a file of Parquet holds to another one, as lines of JSON.
func readParquet(from, to *os.File) error {
	d, err := inMemory()
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Exec(fmt.Sprintf("COPY (FROM read_parquet('/dev/fd/%d')) TO '/dev/fd/%d' (FORMAT json, USE_TMP_FILE false)",
		from.Fd(), to.Fd()))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, duck.ErrDamaged):
		return errors.New("it is cut, or no Parquet")
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(text)
}

// inMemory opens a database that keeps nothing.
func inMemory() (*duck.Conn, error) {
	return duck.Open(":memory:", slices.Concat(duck.NoExtensions, duck.Settings{
		{"memory_limit", "512MB"}, {"threads", "1"}, {"temp_directory", ""},
	}))
}

// QueryParquet asks a question as Query does, and writes the answer as Parquet. DuckDB writes Parquet to files only, and
// a question reaches none: so its answer goes, chunk by chunk, into a database of its own in a folder that is removed, and
// is copied from there.
func QueryParquet(ctx context.Context, w io.Writer, path, text string, o QueryOptions) (err error) {
	rows, err := Query(ctx, path, text, o)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // it has no error
	types, err := typesOf(ctx, path, text, o)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "shadow-query-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	to := filepath.Join(dir, "answer.parquet")
	if err := rows.toParquet(ctx, filepath.Join(dir, "answer.duckdb"), to, types); err != nil {
		return err
	}
	answer, err := os.Open(to)
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(w, answer)
	return err
}

// typesOf are the types of the columns of an answer, in SQL.
func typesOf(ctx context.Context, path, text string, o QueryOptions) (types []string, err error) {
	described, err := Query(ctx, path, "DESCRIBE FROM (\n"+strings.TrimRight(text, "; \t\r\n\v\f")+"\n)", o)
	if err != nil {
		return nil, errors.New("there is no Parquet of EXPLAIN, nor of a PIVOT that does not name its values: PIVOT … ON … IN (…)")
	}
	defer described.Close() //nolint:errcheck // it has no error
	for {
		row, err := described.Next()
		if errors.Is(err, io.EOF) {
			return types, nil
		}
		if err != nil {
			return nil, err
		}
		types = append(types, row[1].(string))
	}
}

// toParquet writes all rows to a file, by way of a database. Both are new.
func (r *Rows) toParquet(ctx context.Context, by, to string, types []string) error {
	d, err := duck.Open(by, slices.Concat(duck.NoExtensions, duck.Settings{
		{"memory_limit", fmt.Sprintf("%dKiB", r.memory/4>>10)}, {"threads", "1"}, // beside the half that the question has
	}))
	if err != nil {
		return err
	}
	defer d.Close()
	defer d.InterruptWith(ctx)()
	var columns, out []string
	taken := map[string]bool{} // names, as DuckDB compares them
	for i, t := range types {
		name := r.Columns[i]
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", r.Columns[i], n)
		}
		taken[strings.ToLower(name)] = true
		columns = append(columns, fmt.Sprintf("c%d %s", i, t))
		// Parquet has no integers of 128 bits, and DuckDB would round what is one.
		out = append(out, fmt.Sprintf("c%d::%s AS %s", i, huge().ReplaceAllString(t, "BIGINT"), identifier(name)))
	}
	// Names and types are those of the question: they could reach no other file, whatever stands in them.
	err = d.Exec("SET allowed_paths = [" + literal(to) + "]; SET enable_external_access = false; SET lock_configuration = true; " +
		"CREATE TABLE answer (" + strings.Join(columns, ", ") + ")")
	if err != nil {
		return err
	}
	c, err := d.NewChunk("answer")
	if err != nil {
		return err
	}
	for err == nil {
		if err = r.question.Next(); err == nil {
			err = c.Take(r.question)
		}
	}
	if !errors.Is(err, io.EOF) {
		return errors.Join(r.explain(err), c.Discard())
	}
	if err := c.Close(); err != nil {
		return err
	}
	return d.Exec("COPY (SELECT " + strings.Join(out, ", ") + " FROM answer) TO " + literal(to) + " (FORMAT parquet, COMPRESSION zstd)")
}

var huge = lazy.Regexp(`\bU?HUGEINT\b`)

// identifier is the name of a column in SQL.
func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// literal is a text in SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
