package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"shadow/store/duck"
)

// Every change goes the same way: it is made in one transaction, COMMIT makes it durable, and checkpoint brings it
// into the file (see journal.go). DuckDB itself never writes a checkpoint: not while it runs, as its threshold is out
// of reach, and not when the file is closed.

// commit ends the running transaction. Without an error its changes are durable, whatever becomes of the checkpoint:
// what is not in the file yet stays in the log of changes, from which the next checkpoint takes it.
func (s *Store) commit() error {
	if err := s.duck.Exec("COMMIT"); err != nil {
		return err
	}
	s.checkpoint() //nolint:errcheck // see above
	return nil
}

// checkpoint brings the log of changes into the file. After an error the log is still there.
func (s *Store) checkpoint() error {
	if s.journal != nil {
		return errors.New("the checkpoint before has failed")
	}
	if info, err := os.Stat(s.path + ".wal"); err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // no log, nothing to do
	}
	size, blocks, err := metadataBlocks(s.duck)
	if err != nil {
		return err
	}
	saved, err := saveBlocks(s.path, s.file, size, blocks)
	if err != nil {
		return fmt.Errorf("cannot save blocks: %w", err)
	}
	if err := s.duck.Exec("CHECKPOINT"); err != nil {
		s.journal = saved // Close mends the file
		return err
	}
	return saved.remove()
}

// metadataBlocks returns the size of blocks and which of them hold metadata. A checkpoint writes into no others that
// are in use.
func metadataBlocks(d *duck.Conn) (size int64, blocks []int64, err error) {
	size, err = duck.One[int64](d, "SELECT block_size::BIGINT FROM pragma_database_size() WHERE database_name = current_database()")
	if err == nil {
		blocks, err = duck.List[int64](d, "SELECT block_id FROM pragma_metadata_info()")
	}
	return size, blocks, err
}

// openWhole opens a database, once it is mended, and waits for a process that holds it.
func openWhole[T any](ctx context.Context, path string, wait Wait, open func() (T, error), closing func(T)) (T, error) {
	return waiting(ctx, wait, func() (opened T, err error) {
		if err = mend(path); err == nil {
			err = cutLog(path)
		}
		if err != nil {
			return opened, err
		}
		before, errBefore := os.Stat(path)
		if opened, err = open(); err != nil {
			return opened, err
		}
		after, err := os.Stat(path)
		replaced := errBefore == nil && (err != nil || !os.SameFile(before, after)) // by Shrink
		if _, left := os.Lstat(journalOf(path)); left == nil || replaced {          // by a process that has ended since mend looked
			closing(opened)
			return opened, busy(path, nil)
		}
		return opened, nil
	})
}

// realPath follows the last part of a path if it is a link, which may lead nowhere yet: DuckDB's log of changes and
// our journal belong beside the file, by whatever name it is opened.
func realPath(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // no link, or nothing that can be opened
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
		if err := checkPath(path); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("database %s: too many symbolic links", path)
}

// create makes a database with our schema where there is no file. It is made under another name and renamed: a file
// under its own name is whole. The folder is locked meanwhile, so that two processes do not make the same one.
func create(path string, with duck.Settings) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		defer folder.Close()
		if err := lockFile(folder); err != nil {
			return busy(path, err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fresh := path + ".new"
	if err := RemoveFile(fresh); err != nil { // of a create that was killed
		return fmt.Errorf("database %s: %w", path, err)
	}
	d, err := duck.Open(fresh, with)
	if err == nil {
		err = d.Exec("BEGIN;" + schemaSQL + viewsSQL + "COMMIT; CHECKPOINT;")
		d.Close()
	}
	if err == nil {
		err = RemoveFile(path) // a log of changes without its file
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(explainOpen(path, err), RemoveFile(fresh))
	}
	return syncFolder(path)
}
