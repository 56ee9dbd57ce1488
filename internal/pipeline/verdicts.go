package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"shadow/internal/store"
	"shadow/internal/traffic"
	"shadow/replay"
	"shadow/report"
	"shadow/report/traces"
	"shadow/report/verdicts"
)

// verdictFormats are the formats of files of verdicts, by the endings of their names. Parquet is made of what stands in
// plain lines first.
var verdictFormats = map[string]verdicts.Format{
	".csv": verdicts.CSV, ".json": verdicts.JSON, ".jsonl": verdicts.JSON, ".ndjson": verdicts.JSON, parquet: verdicts.Plain,
}

const parquet = ".parquet"

// CheckVerdictsName reports what is wrong with the name of a file of verdicts.
func CheckVerdictsName(name string) error {
	if _, known := verdictFormats[filepath.Ext(name)]; !known {
		return errors.New("want a file that ends in .csv, .jsonl or .parquet, which says its format")
	}
	return nil
}

// A verdictFile is one that verdicts are written to. It gets its name once it is whole.
type verdictFile struct {
	*verdicts.Writer
	name string
	part *os.File // without this name yet; it is gone where something fails
}

// partOf begins a file that is to get a name beside it.
func partOf(name string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
}

// openVerdicts begins the file of --verdicts, if it is wanted.
func (r *Replay) openVerdicts() (err error) {
	if r.Verdicts == "" {
		return nil
	}
	if err := r.Spares("verdicts", r.Verdicts); err != nil {
		return err
	}
	v := &verdictFile{name: r.Verdicts}
	if v.part, err = partOf(v.name); err != nil {
		return fmt.Errorf("--verdicts: %w", err)
	}
	v.Writer = verdicts.New(v.part, verdictFormats[filepath.Ext(v.name)], r.Read.Tables, r.Policies, r.Anonymizer)
	r.verdicts, r.Read.Lines = v, true
	r.observers = append(r.observers, v)
	return nil
}

// Observe implements replay.Observer, with an error that names the file.
func (v *verdictFile) Observe(b *traffic.Batch, all []replay.Verdicts) error {
	return v.explain(v.Writer.Observe(b, all))
}

func (v *verdictFile) explain(err error) error {
	if err != nil {
		err = fmt.Errorf("--verdicts %s: %w", v.name, err)
	}
	return err
}

// finish gives the file its name. A nil one has none.
func (v *verdictFile) finish(ctx context.Context) error {
	if v == nil {
		return nil
	}
	err := v.Finish()
	if err == nil && strings.HasSuffix(v.name, parquet) {
		err = v.toParquet(ctx)
	}
	if err == nil {
		err = v.part.Close()
	}
	if err == nil {
		err = os.Rename(v.part.Name(), v.name)
	}
	return v.explain(err)
}

// toParquet puts Parquet in the place of the plain lines.
func (v *verdictFile) toParquet(ctx context.Context) error {
	plain := v.part
	part, err := partOf(v.name)
	if err != nil {
		return err
	}
	v.part = part
	return cmp.Or(
		store.WriteParquet(ctx, plain.Name(), part.Name(), verdicts.Head()), plain.Close(), os.Remove(plain.Name()))
}

// abandon removes what was not finished.
func (v *verdictFile) abandon() {
	if v != nil {
		v.part.Close()           //nolint:errcheck // it is closed, or not wanted
		os.Remove(v.part.Name()) // it has got its name, unless something failed
	}
}

// CheckTraceName reports what is wrong with the name of a trace.
func CheckTraceName(name string) error {
	if filepath.Ext(name) != parquet {
		return errors.New("want a file that ends in .parquet")
	}
	return nil
}

// A traceFile is one that requests are written to without their people. It gets its name once it is whole.
type traceFile struct {
	name  string
	part  *os.File
	names *report.Anonymizer
}

// openTrace begins the file of --trace, if it is wanted.
func (r *Replay) openTrace() error {
	if r.Trace == "" {
		return nil
	}
	if r.Trace == r.Verdicts {
		return Usage("--trace and --verdicts name one file: %s", r.Trace)
	}
	if err := r.Spares("trace", r.Trace); err != nil {
		return err
	}
	key, err := r.key()
	if err != nil {
		return err
	}
	f := &traceFile{name: r.Trace}
	if f.names, err = report.NewAnonymizer("hash", key); err != nil {
		return err
	}
	if f.part, err = partOf(f.name); err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	r.trace, r.severalPasses = f, true
	return nil
}

// abandon removes what was not finished.
func (f *traceFile) abandon() {
	if f != nil {
		f.part.Close()           //nolint:errcheck // DuckDB has written it, or it is not wanted
		os.Remove(f.part.Name()) // it has got its name, unless something failed
	}
}

// writeTrace writes the requests that are kept as a trace. It comes once all is read, since who a client is shows only
// then.
func (r *Replay) writeTrace(ctx context.Context) (err error) {
	f := r.trace
	if f == nil {
		return nil
	}
	f.names.Know(r.Read.Tables.Clients)
	w := traces.New(r.Read.Tables, r.who(), f.names)
	lines, to, err := os.Pipe()
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		err := each(ctx, r.requests.Pass(), w.See)
		if err == nil {
			err = w.Begin(to)
		}
		if err == nil {
			err = errors.Join(each(ctx, r.requests.Pass(), w.Take), w.Finish())
		}
		written <- errors.Join(err, to.Close())
	}()
	err = store.WriteParquet(ctx, fmt.Sprintf("/dev/fd/%d", lines.Fd()), f.part.Name(), traces.Columns)
	lines.Close() //nolint:errcheck // it ends who still writes
	if err = errors.Join(<-written, err); err == nil {
		err = os.Rename(f.part.Name(), f.name)
	}
	if err != nil {
		err = fmt.Errorf("--trace %s: %w", f.name, err)
	}
	return err
}
