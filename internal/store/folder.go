package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"shadow/internal/lazy"
	"shadow/internal/store/duck"
)

// A folder is the place of a database.
type folder string

func (f folder) runs() string    { return filepath.Join(string(f), "runs") }
func (f folder) catalog() string { return filepath.Join(string(f), "shadow.duckdb") }
func (f folder) version() string { return filepath.Join(string(f), "version") }

func (f folder) run(run int32) string { return filepath.Join(f.runs(), fmt.Sprintf("run=%d", run)) }

// wrap says which database an error is about.
func (f folder) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("database %s: %w", string(f), err)
}

// A runFolder is one run in the folder.
type runFolder struct {
	run    int32
	notes  []string // names of files beside the pieces: see state.go
	pieces []piece  // that count, in their order; none of a run that was deleted and from which nights go on
	stale  []stale  // pieces that were put together since
}

// A stale piece does not count any more.
type stale struct{ path, by string }

// A piece is a folder of files: a whole run, or one or several batches of a tail's.
type piece struct {
	name        string
	first, last int64               // numbers of batches; 1 and 1 of a whole run
	files       map[string][]string // by table: the paths
}

// files returns all files of a table.
func (r *runFolder) files(table string) (all []string) {
	for _, p := range r.pieces {
		all = append(all, p.files[table]...)
	}
	return all
}

const hidden, unfinished = ".hidden-", ".tmp-"

var (
	pieceName = lazy.Regexp(`^(\d+)(?:-(\d+))?$`)
	tableFile = lazy.Regexp(`^(\w+?)(?:-\d+)?\.parquet$`)
)

// nameOfPiece returns a name that sorts as the numbers do.
func nameOfPiece(first, last int64) string {
	if first == last {
		return fmt.Sprintf("%010d", first)
	}
	return fmt.Sprintf("%010d-%010d", first, last)
}

// list returns what is in the folder, by number of the run.
func (f folder) list() (all []runFolder, err error) {
	entries, err := os.ReadDir(f.runs())
	hides := f.hides(entries)
	for i := 0; i < len(entries) && err == nil; i++ {
		digits, found := strings.CutPrefix(entries[i].Name(), "run=")
		run, bad := strconv.ParseInt(digits, 10, 32)
		if !found || bad != nil || run < 1 {
			continue
		}
		r := runFolder{run: int32(run)}
		if err = f.listRun(&r, hides); err == nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b runFolder) int { return cmp.Compare(a.run, b.run) })
	return all, err
}

// listRun finds the pieces of a run, but for those that are hidden. One that has gone since has none.
func (f folder) listRun(r *runFolder, hides map[string]bool) error {
	entries, err := os.ReadDir(f.run(r.run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for i := 0; i < len(entries) && err == nil; i++ {
		name := entries[i].Name()
		m := pieceName().FindStringSubmatch(name)
		if m == nil {
			r.notes = append(r.notes, name)
			continue
		}
		if hides[filepath.Join(f.run(r.run), name)] {
			continue
		}
		p := piece{name: name}
		p.first, _ = strconv.ParseInt(m[1], 10, 64)
		p.last, _ = strconv.ParseInt(cmp.Or(m[2], m[1]), 10, 64)
		if p.files, err = filesOf(filepath.Join(f.run(r.run), name)); err == nil {
			r.pieces = append(r.pieces, p)
		}
	}
	all := slices.Clone(r.pieces)
	r.pieces = slices.DeleteFunc(r.pieces, func(p piece) bool {
		by := slices.IndexFunc(all, func(q piece) bool {
			return q.first <= p.first && p.last <= q.last && q.last-q.first > p.last-p.first
		})
		if by >= 0 {
			r.stale = append(r.stale, stale{filepath.Join(f.run(r.run), p.name), filepath.Join(f.run(r.run), all[by].name)})
		}
		return by >= 0
	})
	slices.SortFunc(r.pieces, func(a, b piece) int { return cmp.Compare(a.first, b.first) })
	return err
}

// filesOf returns the absolute paths of the files of a piece, by table. One that has gone since has none.
func filesOf(dir string) (map[string][]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	files := map[string][]string{}
	for _, e := range entries {
		if m := tableFile().FindStringSubmatch(e.Name()); m != nil {
			files[m[1]] = append(files[m[1]], filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// errNotOurs refuses a folder that holds something else.
var errNotOurs = errors.New("is a folder of something else: choose another with --db")

// check reports an error unless the folder is a database of this version.
func (f folder) check() error {
	if !duck.Built {
		return duck.ErrNotBuilt
	}
	info, err := os.Stat(string(f))
	path, _ := filepath.Abs(string(f))
	switch {
	case f == "":
		return errors.New(`database "": want the name of a folder`)
	case strings.Contains(path, "?"), strings.Contains(path+"/", "/run="):
		return f.wrap(fmt.Errorf("the path %s has a ?, or a folder called run=…, which mean something else to DuckDB: "+
			"choose another with --db", path))
	case errors.Is(err, fs.ErrNotExist):
		return f.wrap(fmt.Errorf("%w: shadow replay makes one, --db names another", errNone))
	case err != nil:
		return f.wrap(plain(err))
	case !info.IsDir():
		return f.wrap(errors.New("is a file, but runs are kept in a folder: choose another name with --db"))
	}
	text, err := os.ReadFile(f.version())
	if errors.Is(err, fs.ErrNotExist) {
		if entries, err := os.ReadDir(string(f)); err == nil && !slices.ContainsFunc(entries, foreign) {
			return f.wrap(errNoRuns)
		}
		return f.wrap(errNotOurs)
	}
	if version := strings.TrimSpace(string(text)); err == nil && version != fmt.Sprint(SchemaVersion) {
		err = fmt.Errorf("was written by another version of shadow (schema %s, this one has %d): use that version, "+
			"or choose another folder with --db",
			version, SchemaVersion)
	}
	return f.wrap(plain(err))
}

var (
	errNone   = errors.New("no such folder")
	errNoRuns = errors.New("holds no runs yet: shadow replay makes one") // a first run that was killed leaves such a folder
)

// foreign reports whether an entry of a folder is none that create makes before it writes the version.
func foreign(e fs.DirEntry) bool {
	return e.Name() != "runs" && e.Name() != "lock" && e.Name() != "version.new"
}

// plain is an error of the system without the path, which is said already.
func plain(err error) error {
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// create makes the folder where there is none, and checks it where there is one.
func (f folder) create() error {
	err := f.check()
	if !errors.Is(err, errNone) && !errors.Is(err, errNoRuns) {
		return err
	}
	if _, err := os.Stat(filepath.Dir(filepath.Clean(string(f)))); errors.Is(err, fs.ErrNotExist) {
		above := filepath.Dir(filepath.Clean(string(f)))
		return f.wrap(fmt.Errorf("there is no folder %s: make it, or choose another with --db", above))
	}
	err = os.MkdirAll(f.runs(), 0o777)
	if err != nil {
		return f.wrap(full(plain(err)))
	}
	unlock, err := f.lock(context.Background()) // another process may be about to make it
	if err != nil {
		return err
	}
	defer unlock()
	if f.check() == nil {
		return nil
	}
	fresh := f.version() + ".new"
	err = os.WriteFile(fresh, fmt.Appendln(nil, SchemaVersion), 0o666)
	if err == nil {
		err = errors.Join(syncPath(fresh), os.Rename(fresh, f.version()), syncPath(string(f)))
	}
	return f.wrap(full(plain(err)))
}

// Remove removes a database at path that has no runs, and what this process was making there. Where another process is
// at work, the database stays.
func Remove(path string) error {
	f := folder(path)
	if f.check() != nil {
		return nil // it is not there, or something else
	}
	unlock, err := f.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	begun.Range(func(place, _ any) bool {
		if filepath.Dir(place.(string)) == f.runs() {
			err = errors.Join(err, os.RemoveAll(place.(string)))
		}
		return true
	})
	f.clean()
	if os.Remove(f.runs()) != nil {
		return err // it has something
	}
	for _, name := range []string{f.catalog(), f.version(), filepath.Join(path, "lock")} {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return errors.Join(err, os.Remove(path))
}

// full says in place of what the system says that the disk is full.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return duck.ErrDiskFull
	}
	return err
}
