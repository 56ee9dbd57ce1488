package logfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
)

// Parquet is taken for a compression of lines of JSON: an object for each row, with the names of columns. A database
// reads it. So that this package needs none, that is handed in.

// ReadParquet writes the rows of a file of Parquet to another one, as lines of JSON, until a write fails. It is set before
// anything is read; nil: this program cannot read Parquet.
var ReadParquet func(from, to *os.File) error

// unparquet makes lines of JSON of a file.
const unparquet = `duckdb -c "COPY (FROM read_parquet('/dev/stdin')) TO '/dev/stdout' (FORMAT json)" <`

// A parquetReader reads the lines while they are made.
type parquetReader struct {
	*os.File
	done chan error // why there are no more
}

// openParquet reads all of a file before its first line: where its columns lie stands at its end. It keeps the copy
// without a name, so that nothing is left of it.
func openParquet(r *bufio.Reader) (_ io.ReadCloser, err error) {
	if ReadParquet == nil {
		return nil, errUnsupported
	}
	whole, err := os.CreateTemp("", "shadow-*.parquet")
	if err != nil {
		return nil, fmt.Errorf("no room for a copy of the Parquet: %v", err) //nolint:errorlint // the log can be read
	}
	err = os.Remove(whole.Name())
	if err == nil {
		_, err = io.Copy(whole, r)
	}
	if err != nil {
		return nil, errors.Join(err, whole.Close())
	}
	lines, to, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, whole.Close())
	}
	p := &parquetReader{lines, make(chan error, 1)}
	go func() {
		p.done <- ReadParquet(whole, to)
		to.Close()
		whole.Close()
	}()
	return p, nil
}

// Read reads the next lines. What went wrong is known at their end.
func (p *parquetReader) Read(b []byte) (n int, err error) {
	if n, err = p.File.Read(b); err == io.EOF {
		failed := <-p.done
		p.done <- failed
		err = cmp.Or(failed, err)
	}
	return n, err
}
