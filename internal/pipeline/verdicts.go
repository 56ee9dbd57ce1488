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

// openVerdicts begins the file of --verdicts, if it is wanted.
func (r *Replay) openVerdicts() (err error) {
	if r.Verdicts == "" {
		return nil
	}
	v := &verdictFile{name: r.Verdicts}
	if v.part, err = os.CreateTemp(filepath.Dir(v.name), "."+filepath.Base(v.name)+".*.part"); err != nil {
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
	part, err := os.CreateTemp(filepath.Dir(v.name), "."+filepath.Base(v.name)+".*.part")
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

// writeTrace writes the requests that are kept as a trace, whole or not at all. Without a name none is wanted. It comes
// once all is read, since who a client is shows only then.
func (l *Logs) writeTrace(ctx context.Context, name string) (err error) {
	if name == "" {
		return nil
	}
	key, err := l.key()
	if err != nil {
		return err
	}
	names, err := report.NewAnonymizer("hash", key)
	if err != nil {
		return err
	}
	names.Know(l.Read.Tables.Clients)
	w := traces.New(l.Read.Tables, l.who(), names)
	if err := each(ctx, l.requests.Pass(), w.See); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	defer os.Remove(part.Name()) // it has got its name, unless something failed
	defer part.Close()           //nolint:errcheck // DuckDB has written it
	lines, to, err := os.Pipe()
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		err := cmp.Or(w.Begin(to), each(ctx, l.requests.Pass(), w.Take), w.Finish())
		written <- errors.Join(err, to.Close())
	}()
	err = store.WriteParquet(ctx, fmt.Sprintf("/dev/fd/%d", lines.Fd()), part.Name(), traces.Columns)
	lines.Close() //nolint:errcheck // it ends who still writes
	if err = errors.Join(err, <-written); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		err = fmt.Errorf("--trace %s: %w", name, err)
	}
	return err
}
