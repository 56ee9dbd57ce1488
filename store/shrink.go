package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// A file that lost runs is as large as before, with free blocks in it that the next runs use. To give them back it is
// copied, with whatever else people keep in it, and the copy takes its place in one step: whoever opens the path finds
// the one or the other, whole. The old file stays locked until it is gone.

// Free tells which share of the file is free, from 0 to 1.
func (s *Store) Free() (share float64, err error) {
	err = s.duck.scan("SELECT total_blocks::BIGINT, free_blocks::BIGINT FROM pragma_database_size() WHERE database_name = current_database()",
		func(b *block) error {
			if total := values[int64](b, 0)[0]; total > 0 {
				share = float64(values[int64](b, 1)[0]) / float64(total)
			}
			return nil
		})
	if err != nil {
		return 0, s.wrap(err)
	}
	return share, nil
}

// Shrink writes the file again without what is free in it, and closes the store. It returns the size before and after, in
// bytes. After an error the file is as it was, and the store is closed as well.
func (s *Store) Shrink(ctx context.Context) (before, after int64, err error) {
	before, err = s.shrink(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return before, before, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return before, before, err
	}
	return before, info.Size(), nil
}

func (s *Store) shrink(ctx context.Context) (before int64, err error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0, err
	}
	fresh := s.path + ".shrunk"
	if err := removeDatabase(fresh); err != nil { // of a Shrink that was killed
		return info.Size(), err
	}
	err = s.checkpoint() // a log of changes must not outlive its file
	if err == nil {
		err = s.copyTo(ctx, fresh)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.Join(os.Chmod(fresh, info.Mode().Perm()), sameOwner(fresh, info), syncFile(fresh))
	}
	if err == nil {
		err = os.Rename(fresh, s.path)
	}
	if err != nil {
		return info.Size(), errors.Join(s.wrap(fmt.Errorf("cannot be written anew: %w", err)), removeDatabase(fresh))
	}
	return info.Size(), nil
}

// copyTo copies all that is in the database into a new file.
func (s *Store) copyTo(ctx context.Context, path string) error {
	defer s.duck.interruptWith(ctx)()
	var name string
	err := s.duck.scan("SELECT current_database()", func(b *block) error { name = b.text(0, 0); return nil })
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"ATTACH " + quoted(path, '\'') + " AS shrunk",
		"COPY FROM DATABASE " + quoted(name, '"') + " TO shrunk",
		"CHECKPOINT shrunk",
		"DETACH shrunk",
	} {
		if err := s.duck.exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a text in SQL: a string in ', a name in ".
func quoted(text string, mark byte) string {
	m := string(mark)
	return m + strings.ReplaceAll(text, m, m+m) + m
}

// Remove removes the file, as when nothing of it is to stay. The store is still to be closed, and until then the file is its own.
func (s *Store) Remove() error { return removeDatabase(s.path) }

// removeDatabase removes a file and what lies beside it, as far as it is there.
func removeDatabase(path string) error {
	for _, name := range []string{path, path + ".wal", journalOf(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
