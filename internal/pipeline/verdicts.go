package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

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

// A partFile gets its name once it is whole.
type partFile struct {
	flag, name string
	part       *os.File // without this name yet; it is gone where something fails
}

// beginPart begins the file that a flag names.
func beginPart(flag, name string) (partFile, error) {
	part, err := partOf(name)
	if err != nil {
		err = fmt.Errorf("--%s: %w", flag, err)
	}
	return partFile{flag, name, part}, err
}

// explain returns an error that names the file.
func (f *partFile) explain(err error) error {
	if err != nil {
		err = fmt.Errorf("--%s %s: %w", f.flag, f.name, err)
	}
	return err
}

// abandon removes what was not finished.
func (f *partFile) abandon() {
	f.part.Close()           //nolint:errcheck // it is closed, or not wanted, or DuckDB has written it
	os.Remove(f.part.Name()) // it has got its name, unless something failed
}

// abandon removes files that were not finished.
func (r *Replay) abandon() {
	if r.verdicts != nil {
		r.verdicts.abandon()
	}
	if r.trace != nil {
		r.trace.abandon()
	}
}

// A verdictFile is one that verdicts are written to.
type verdictFile struct {
	*verdicts.Writer
	partFile
}

// parts holds the names that partOf has given.
var parts struct {
	sync.Mutex
	names []string
}

// partOf begins a file that is to get a name beside it.
func partOf(name string) (*os.File, error) {
	parts.Lock()
	defer parts.Unlock()
	part, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err == nil {
		parts.names = append(parts.names, part.Name())
	}
	return part, err
}

// RemoveParts removes files that have not got their names when the program ends, however it does. No other one is begun.
func RemoveParts() {
	parts.Lock() // for good
	for _, name := range parts.names {
		_ = os.Remove(name) // it has got its name, unless something failed
	}
}

// openVerdicts begins the file of --verdicts, if it is wanted.
func (r *Replay) openVerdicts() (err error) {
	if r.Verdicts == "" {
		return nil
	}
	if err := r.Spares("verdicts", r.Verdicts); err != nil {
		return err
	}
	v := new(verdictFile)
	if v.partFile, err = beginPart("verdicts", r.Verdicts); err != nil {
		return err
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

// CheckTraceName reports what is wrong with the name of a trace.
func CheckTraceName(name string) error {
	if filepath.Ext(name) != parquet {
		return errors.New("want a file that ends in .parquet")
	}
	return nil
}

// A traceFile is one that requests are written to without their people.
type traceFile struct {
	partFile
	names *report.Anonymizer // nil: the caller has them
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
	names, err := r.traceNames()
	if err != nil {
		return err
	}
	f, err := beginPart("trace", r.Trace)
	if err == nil {
		r.trace, r.severalPasses = &traceFile{f, names}, true
	}
	return err
}

// traceNames returns the names that clients have in traces.
func (r *Replay) traceNames() (*report.Anonymizer, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	return report.NewAnonymizer("hash", key)
}

// writeTrace writes the requests that are kept as a trace. It comes once all is read, since who a client is shows only
// then.
func (r *Replay) writeTrace(ctx context.Context) error {
	if r.trace == nil {
		return nil
	}
	w := r.newTraces(r.trace.names)
	err := each(ctx, r.requests.Pass(), w.See)
	if err == nil {
		err = r.trace.write(ctx, w, r.requests.Pass())
	}
	return err
}

// newTraces returns what writes traces of clients that are known.
func (r *Replay) newTraces(names *report.Anonymizer) *traces.Writer {
	names.Know(r.Read.Tables.Clients)
	return traces.New(r.Read.Tables, r.who(), names)
}

// write writes the requests of a source, after w has seen all that come.
func (f *traceFile) write(ctx context.Context, w *traces.Writer, src replay.Source) error {
	lines, to, err := os.Pipe()
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		err := w.Begin(to)
		if err == nil {
			err = errors.Join(each(ctx, src, w.Take), w.Finish())
		}
		written <- errors.Join(err, to.Close())
	}()
	err = store.WriteParquet(ctx, fmt.Sprintf("/dev/fd/%d", lines.Fd()), f.part.Name(), traces.Columns)
	lines.Close() //nolint:errcheck // it ends who still writes
	if err = errors.Join(<-written, err); err == nil {
		err = os.Rename(f.part.Name(), f.name)
	}
	return f.explain(err)
}

// WriteTraces writes requests that were judged elsewhere as traces, once there is a Result: each file gets those of its
// source, which is asked for twice.
func (r *Replay) WriteTraces(ctx context.Context, files []string, of func(file int) (replay.Source, error)) error {
	names, err := r.traceNames()
	if err != nil {
		return err
	}
	w := r.newTraces(names)
	for i := range files {
		src, err := of(i)
		if err == nil {
			err = each(ctx, src, w.See)
		}
		if err != nil {
			return err
		}
	}
	for i, name := range files {
		src, err := of(i)
		if err != nil {
			return err
		}
		part, err := beginPart("trace", name)
		if err != nil {
			return err
		}
		f := traceFile{partFile: part}
		err = f.write(ctx, w, src)
		if f.abandon(); err != nil {
			return err
		}
	}
	return nil
}
