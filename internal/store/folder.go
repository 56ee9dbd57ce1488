package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

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

// lockWait is for how long a process waits for one that lands something, which takes a moment.
const lockWait, lockPoll = 30 * time.Second, 5 * time.Millisecond

// lock keeps others from landing or removing anything, until unlock is called.
func (f folder) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(string(f), "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, f.wrap(full(plain(err)))
	}
	for begun := time.Now(); ; time.Sleep(lockPoll) {
		err := lockFile(file)
		if err == nil {
			return func() { file.Close() }, nil //nolint:errcheck // that gives the lock up
		}
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if time.Since(begun) < lockWait {
			continue
		} else {
			err = fmt.Errorf("another process has been writing to it for %v: wait until it has ended, "+
				"or choose another folder with --db", lockWait)
		}
		return nil, errors.Join(f.wrap(err), file.Close())
	}
}

// begun are the paths of the workplaces of this process.
var begun sync.Map

// A workplace is a folder in which something is made that is to land.
type workplace struct {
	folder
	path string
	held *os.File // locked: the process is alive
}

// work makes a workplace.
func (f folder) work(ctx context.Context) (*workplace, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f.clean()
	path := filepath.Join(f.runs(), unfinished+rand.Text())
	if err := os.Mkdir(path, 0o777); err != nil {
		return nil, f.wrap(full(plain(err)))
	}
	begun.Store(path, true)
	w := &workplace{folder: f, path: path}
	if w.held, err = os.Open(path); err == nil {
		err = lockFile(w.held)
	}
	if err != nil {
		return nil, errors.Join(f.wrap(err), w.leave())
	}
	return w, nil
}

// dir makes a folder for a piece.
func (w *workplace) dir(name string) (string, error) {
	dir := filepath.Join(w.path, name)
	return dir, os.MkdirAll(dir, 0o777)
}

// leave removes what has not landed.
func (w *workplace) leave() error {
	begun.Delete(w.path)
	err := os.RemoveAll(w.path)
	if w.held != nil {
		w.held.Close() //nolint:errcheck // it was only opened for its lock
	}
	return err
}

// sync makes all that is in the workplace durable.
func (w *workplace) sync() error {
	return filepath.WalkDir(w.path, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = syncPath(path)
		}
		return err
	})
}

// landRun makes a run of the workplace, which is synced, and returns its number. When the folder is locked, may says
// whether it still may; nil: it may.
func (w *workplace) landRun(ctx context.Context, d *duck.Conn, may func() error) (run int32, err error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if may != nil {
		if err := may(); err != nil {
			return 0, err
		}
	}
	if run, err = w.nextRun(); err != nil {
		return 0, err
	}
	if run < 1 {
		return 0, errNoNumbers
	}
	return run, w.move(d, w.path, w.run(run))
}

// nextRun returns the number after the last run, less than 1 if there is none left. The folder must be locked.
func (f folder) nextRun() (run int32, err error) {
	all, err := f.list()
	if len(all) > 0 {
		run = all[len(all)-1].run
	}
	return run + 1, err
}

// landPiece brings a piece of the workplace, which is synced, into a run.
func (w *workplace) landPiece(ctx context.Context, d *duck.Conn, run int32, name string) error {
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return w.move(d, filepath.Join(w.path, name), filepath.Join(w.run(run), name))
}

// move renames something, so that it is there for good or, after an error, not at all. d is a database in memory. The
// folder must be locked.
func (f folder) move(d *duck.Conn, from, to string) error {
	err := os.Rename(from, to)
	if err == nil {
		if err = errors.Join(syncPath(filepath.Dir(to)), syncPath(f.runs())); err != nil {
			return errors.Join(err, os.Rename(to, from))
		}
		f.tidy(d)
	}
	return err
}

// Several pieces come or go in one step by a file that names those that do not count. What is to come is hidden before
// it is moved to its place, and shows when the file is removed; what is to go does so when the file is there. A process
// that has the lock and finds such a file removes what it names: its writer was killed, or asks for it.

// hide makes pieces count no more, in one step, and returns the file that does. The folder must be locked.
func (f folder) hide(pieces []string) (by string, err error) {
	by = filepath.Join(f.runs(), hidden+rand.Text())
	fresh := filepath.Join(f.runs(), unfinished+rand.Text())
	err = os.WriteFile(fresh, []byte(strings.Join(pieces, "\n")+"\n"), 0o666)
	if err == nil {
		err = errors.Join(syncPath(fresh), os.Rename(fresh, by), syncPath(f.runs()))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(fresh), os.RemoveAll(by))
	}
	return by, nil
}

// hides returns the pieces that do not count.
func (f folder) hides(entries []fs.DirEntry) map[string]bool {
	all := map[string]bool{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), hidden) {
			text, _ := os.ReadFile(filepath.Join(f.runs(), e.Name())) // it may have gone since
			for name := range strings.FieldsSeq(string(text)) {
				all[filepath.Join(f.runs(), name)] = true
			}
		}
	}
	return all
}

// grace is for how long pieces stay that were put together: a question that has begun may be reading them.
const grace = time.Minute

// tidy makes the catalog again, and removes what does not count any more. If it cannot, the next one who writes will. d
// is a database in memory. The folder must be locked.
func (f folder) tidy(d *duck.Conn) {
	if all, err := f.list(); err == nil {
		f.writeCatalog(d, all) //nolint:errcheck // see above
	}
	f.clean()
}

// clean removes what does not count any more, as far as that can be done. The folder must be locked.
func (f folder) clean() {
	entries, _ := os.ReadDir(f.runs())
	for path := range f.hides(entries) {
		if os.RemoveAll(path) != nil {
			return // the file stays that hides it
		}
		os.Remove(filepath.Dir(path)) // unless it has something else
	}
	for _, e := range entries {
		path := filepath.Join(f.runs(), e.Name())
		if strings.HasPrefix(e.Name(), hidden) || strings.HasPrefix(e.Name(), unfinished) && abandoned(path) {
			os.RemoveAll(path) //nolint:errcheck // the next time
		}
	}
	all, _ := f.list()
	for _, r := range all {
		for _, s := range r.stale {
			if info, err := os.Stat(s.by); err == nil && time.Since(info.ModTime()) > grace {
				os.RemoveAll(s.path) //nolint:errcheck // the next time
			}
		}
	}
}

// abandoned reports whether the process is gone that had a workplace.
func abandoned(path string) bool {
	held, err := os.Open(path)
	if err != nil {
		return false
	}
	defer held.Close()
	return lockFile(held) == nil
}

// syncPath makes a file or a folder durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// full says in place of what the system says that the disk is full.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return duck.ErrDiskFull
	}
	return err
}
