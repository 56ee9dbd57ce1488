package parse

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Errors about files say what is wrong and what to do about it.

// explain turns the error that a file gave into one for people.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notThere(name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("parse: %s: %w; run shadow as a user who may read it, or pipe the log in: sudo cat … | shadow replay -",
			name, fs.ErrPermission)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("parse: %s: %w", name, err)
}

// notThere names the file that was meant, or the part of the path that is missing.
func notThere(name string) error {
	dir := filepath.Dir(name)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("parse: %s: %w: there is no directory %s", name, fs.ErrNotExist, dir)
	}
	if near := nearest(filepath.Base(name), entries); near != "" {
		return fmt.Errorf("parse: %s: %w; did you mean %s?", name, fs.ErrNotExist, filepath.Join(dir, near))
	}
	return fmt.Errorf("parse: %s: %w", name, fs.ErrNotExist)
}

// noMatch says why a pattern matches nothing.
func noMatch(pattern string) error {
	switch dir := filepath.Dir(pattern); {
	case strings.Contains(pattern, "**"):
		return fmt.Errorf(`parse: %s: no file matches; "**" is no more than "*": name a directory to read all below it`, pattern)
	case isPattern(dir):
		return fmt.Errorf("parse: %s: no file matches", pattern)
	default:
		entries, err := os.ReadDir(dir)
		if err != nil {
			return explain(dir, err)
		}
		return fmt.Errorf("parse: %s: none of the %d names in %s matches", pattern, len(entries), dir)
	}
}

// nearest is the entry whose name is closest to base, but for case, or "" when none is close: about a third may differ.
func nearest(base string, entries []os.DirEntry) string {
	best, bestDistance := "", (len(base)+2)/3+1
	for _, e := range entries {
		if d := editDistance(strings.ToLower(base), strings.ToLower(e.Name())); d < bestDistance {
			best, bestDistance = e.Name(), d
		}
	}
	return best
}

// editDistance is how many characters must be put in, taken out or changed to make b of a (V. I. Levenshtein, 1966).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // of the table: distance between a[:i] and each b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
