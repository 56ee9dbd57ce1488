package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"shadow/internal/mapped"
	"shadow/internal/store/duck"
	"shadow/limit"
)

// Databases are put together run by run. A run is the same wherever it lies when it was started and finished at the
// same microsecond by the same command: it is taken in once, however often a database is merged. The run of a tail
// may have grown since it was taken in: then the pieces come that it has more.

// Merged says what became of the runs of another database.
type Merged struct {
	Runs  map[int32]int32 // taken in: their numbers there and here
	Known map[int32]int32 // that were here already
	Rows  int64           // taken in, of all tables
}

// A fact is what a run is known by.
type fact struct {
	Run               int32
	Started, Finished limit.Time
	Lines             int64
	Command, Tail     string
}

func (r *Reader) facts() ([]fact, error) {
	return duck.List[fact](r.duck, "SELECT run, started, finished, lines, command, tail FROM runs ORDER BY run")
}

// same reports whether two facts are of one run, and whether there is more of it in the second.
func (a *fact) same(b *fact) (same, grown bool) {
	if a.Started != b.Started || a.Command != b.Command || a.Tail != b.Tail {
		return false, false
	}
	alike := a.Finished == b.Finished && a.Lines == b.Lines
	return alike || a.Tail != "", b.Finished > a.Finished || b.Lines > a.Lines
}

// Merge takes in the runs of the databases at paths that are not here yet, in the order of their numbers, with new
// numbers: those of all databases, or none.
func (s *Store) Merge(ctx context.Context, paths ...string) (all []*Merged, err error) {
	m := merging{Store: s, ctx: ctx}
	defer func() { err = errors.Join(err, m.leave()) }()
	if m.known, err = s.knownRuns(ctx); err != nil {
		return nil, err
	}
	for _, path := range paths {
		one := &Merged{Runs: map[int32]int32{}, Known: map[int32]int32{}}
		all = append(all, one)
		if isSame(string(s.folder), path) {
			return nil, fmt.Errorf("database %s: is the one that the runs are to go into", path)
		}
		if err := m.take(path, one); err != nil {
			return nil, err
		}
	}
	return all, s.wrap(full(m.land()))
}

// knownRuns returns the runs that are here.
func (s *Store) knownRuns(ctx context.Context) ([]fact, error) {
	r, err := OpenReader(ctx, string(s.folder))
	if errors.Is(err, errNoRuns) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.facts()
}

// isSame reports whether two paths lead to one folder.
func isSame(path, other string) bool {
	x, errX := os.Stat(path)
	y, errY := os.Stat(other)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// A merging is a Merge under way.
type merging struct {
	*Store
	ctx    context.Context
	known  []fact // here, those that are to land among them: less than 0 is the place in copies of one, less 1
	copies []*copied
}

// A copied run is on its way.
type copied struct {
	*workplace
	into   int32    // a run that has less of it; 0: none
	pieces []string // by name
	there  int32
	of     *Merged
}

func (m *merging) leave() error {
	errs := mapped.Of(m.copies, func(c *copied) error { return c.leave() })
	return errors.Join(errs...)
}

// take copies what another database has more.
func (m *merging) take(path string, one *Merged) error {
	r, err := OpenReader(m.ctx, path)
	if err != nil {
		return err
	}
	defer r.Close()
	there, err := r.facts()
	if err != nil {
		return err
	}
	var taken []int32
	for i := range there {
		into := int32(0)
		at := slices.IndexFunc(m.known, func(k fact) bool { same, _ := k.same(&there[i]); return same })
		if at >= 0 {
			k := &m.known[at]
			if _, grown := k.same(&there[i]); !grown || k.Run < 0 {
				one.Known[there[i].Run] = k.Run
				continue
			}
			into = k.Run
		}
		taken = append(taken, there[i].Run)
		if err := m.copy(r, there[i].Run, into, one); err != nil {
			return fmt.Errorf("database %s: %w", path, full(plain(err)))
		}
		if at < 0 {
			f := there[i]
			f.Run = int32(-len(m.copies))
			m.known = append(m.known, f)
		}
	}
	if len(taken) > 0 {
		one.Rows, err = r.rowsOf(taken)
	}
	return err
}

// copy copies a run, or of one that has grown the pieces that are not here.
func (m *merging) copy(r *Reader, run, into int32, of *Merged) error {
	w, err := m.work(m.ctx)
	if err != nil {
		return err
	}
	c := &copied{workplace: w, into: into, there: run, of: of}
	m.copies = append(m.copies, c)
	here := runFolder{run: into}
	if err := m.listRun(&here, nil); err != nil {
		return err
	}
	from := r.all[slices.IndexFunc(r.all, func(f runFolder) bool { return f.run == run })]
	for _, p := range from.pieces {
		if slices.ContainsFunc(here.pieces, func(q piece) bool { return q.first <= p.first && p.last <= q.last }) {
			continue
		}
		dir, err := w.dir(p.name)
		if err != nil {
			return err
		}
		for _, files := range p.files {
			for _, file := range files {
				if err := copyFile(m.ctx, file, filepath.Join(dir, filepath.Base(file))); err != nil {
					return err
				}
			}
		}
		c.pieces = append(c.pieces, p.name)
	}
	return w.finish(m.ctx)
}

// copyFile copies a file. Files never change, so a second name for it does as well, where that is possible.
func copyFile(ctx context.Context, from, to string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	return copyBytes(from, to)
}

// copyBytes makes a file of its own.
func copyBytes(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// land lands all copies in one step.
func (m *merging) land() error {
	if len(m.copies) == 0 {
		return nil
	}
	d, err := duck.Open(":memory:", duck.NoExtensions)
	if err != nil {
		return err
	}
	defer d.Close()
	unlock, err := m.lock(m.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	numbers, err := m.numbers()
	if err != nil {
		return err
	}
	var pieces []string
	for i, c := range m.copies {
		for _, name := range c.pieces {
			pieces = append(pieces, filepath.Join(filepath.Base(m.run(numbers[i])), name))
		}
	}
	by, err := m.hide(pieces)
	if err != nil {
		return err
	}
	for i, c := range m.copies {
		err = errors.Join(err, c.moveInto(numbers[i]))
	}
	if err == nil {
		err = errors.Join(syncPath(m.runs()), os.Remove(by))
	}
	m.tidy(d) // removes what is still hidden
	if err == nil {
		err = syncPath(m.runs())
	}
	return err
}

// numbers gives the copies numbers, and tells what became of all runs. The folder must be locked.
func (m *merging) numbers() (numbers []int32, err error) {
	next, err := m.nextRun()
	if err != nil {
		return nil, err
	}
	for _, c := range m.copies {
		run := c.into
		if run == 0 {
			if next < 1 {
				return nil, errNoNumbers
			}
			run = next
			next++
		}
		numbers = append(numbers, run)
		c.of.Runs[c.there] = run
	}
	for _, c := range m.copies { // of several databases with the same run
		for there, here := range c.of.Known {
			if here < 0 {
				c.of.Known[there] = numbers[-here-1]
			}
		}
	}
	return numbers, nil
}

// moveInto moves the pieces to their place, where they are hidden.
func (c *copied) moveInto(run int32) error {
	err := os.MkdirAll(c.run(run), 0o777)
	for i := 0; i < len(c.pieces) && err == nil; i++ {
		err = os.Rename(filepath.Join(c.path, c.pieces[i]), filepath.Join(c.run(run), c.pieces[i]))
	}
	if err == nil {
		err = syncPath(c.run(run))
	}
	return err
}
