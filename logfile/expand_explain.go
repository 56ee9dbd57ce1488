package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"shadow/limit"
)

// Errors about files say what is wrong and what to do about it.

// explain turns the error that a file gave into one for people.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notThere(name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("logfile: %s: %w; run shadow as a user who may read it, or pipe the log in: sudo cat … | shadow replay -",
			name, fs.ErrPermission)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("logfile: %s: %w", name, err)
}

// notThere names the file that was meant, or the part of the path that is missing.
func notThere(name string) error {
	near, err := Near(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("logfile: %s: %w: there is no directory %s", name, fs.ErrNotExist, filepath.Dir(name))
	case near != "":
		return fmt.Errorf("logfile: %s: %w; did you mean %s?", name, fs.ErrNotExist, near)
	}
	return fmt.Errorf("logfile: %s: %w", name, fs.ErrNotExist)
}

// Near is the file beside one that is not there whose name is closest to its, or "" when none is close. err is that of looking
// into the directory.
func Near(name string) (near string, err error) {
	entries, err := os.ReadDir(filepath.Dir(name))
	near = nearest(filepath.Base(name), entries)
	if near == "" || near == filepath.Base(name) { // a link that leads nowhere
		return "", err
	}
	return filepath.Join(filepath.Dir(name), near), err
}

// noMatch says why a pattern matches nothing.
func noMatch(pattern string) error {
	switch dir := filepath.Dir(pattern); {
	case strings.Contains(pattern, "**"):
		return fmt.Errorf(`logfile: %s: no file matches; "**" is no more than "*": name a directory to read all below it`, pattern)
	case isPattern(dir):
		return fmt.Errorf("logfile: %s: no file matches", pattern)
	default:
		entries, err := os.ReadDir(dir)
		if err != nil {
			return explain(dir, err)
		}
		return fmt.Errorf("logfile: %s: none of the %d names in %s matches", pattern, len(entries), dir)
	}
}

// nearest is the entry whose name is closest to base, but for case, or "" when none is close.
func nearest(base string, entries []os.DirEntry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.ToLower(e.Name())
	}
	if i := slices.Index(names, limit.Nearest(strings.ToLower(base), names)); i >= 0 {
		return entries[i].Name()
	}
	return ""
}
