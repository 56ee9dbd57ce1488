package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"shadow/internal/store/duck"
)

// Runs and pieces come and go:
//
//	work ──▶ .tmp-…/ ──▶ finish: synced ──▶ lock ──▶ rename ──▶ synced ──▶ the catalog again, and what is stale goes

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
	if err := w.move(d, w.path, w.run(run)); err != nil {
		return 0, err
	}
	return run, nil
}

// nextRun returns the number after the last run, less than 1 if there is none left. The folder must be locked.
func (f folder) nextRun() (run int32, err error) {
	all, err := f.list()
	if len(all) > 0 {
		run = all[len(all)-1].run
	}
	return run + 1, err
}

// landPiece brings a piece of the workplace, which is synced, into a run that still has the pieces that it was made from
// or behind.
func (w *workplace) landPiece(ctx context.Context, d *duck.Conn, run int32, name string, from []piece) error {
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := w.list()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(r runFolder) bool { return r.run == run })
	for _, p := range from {
		if i < 0 || !slices.ContainsFunc(all[i].pieces, func(q piece) bool { return q.first <= p.first && p.last <= q.last }) {
			return fmt.Errorf("run %d was deleted meanwhile", run)
		}
	}
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
